#include "client/load/run/stability.h"

#include <cmath>

namespace gridfold::load {

bool StabilityDetector::Add(const Second& second) {
  seconds_.push_back(second);
  if (seconds_.size() > 2 * kSpan) seconds_.pop_front();
  return seconds_.size() == 2 * kSpan && AreAlike(&Second::rate) && AreAlike(&Second::p50) &&
         AreAlike(&Second::p99);
}

bool StabilityDetector::AreAlike(double Second::*figure) const {
  double before = 0;
  double after = 0;
  for (size_t i = 0; i < kSpan; ++i) {
    before += seconds_[i].*figure;
    after += seconds_[i + kSpan].*figure;
  }
  // Seconds without answers are no figures.
  return before > 0 && after > 0 && std::abs(after - before) <= tolerance_ * before;
}

}  // namespace gridfold::load
