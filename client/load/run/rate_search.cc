#include "client/load/run/rate_search.h"

#include <algorithm>
#include <cmath>

namespace gridfold::load {
namespace {

constexpr double kPrecision = 1.05;
// Beyond these nothing is searched for.
constexpr double kRateMin = 0.1;
constexpr double kRateMax = 1e7;

}  // namespace

std::optional<double> RateSearch::NextRate() const {
  if (kept_rate_ && broken_rate_ && *broken_rate_ <= *kept_rate_ * kPrecision) return std::nullopt;
  if (next_rate_ < kRateMin || next_rate_ > kRateMax) return std::nullopt;
  return next_rate_;
}

void RateSearch::Report(bool is_kept) {
  if (is_kept) {
    kept_rate_ = std::max(kept_rate_.value_or(0), next_rate_);
  } else {
    broken_rate_ = std::min(broken_rate_.value_or(HUGE_VAL), next_rate_);
  }
  next_rate_ = !broken_rate_ ? *kept_rate_ * 2
               : !kept_rate_ ? *broken_rate_ / 2
                             : std::sqrt(*kept_rate_ * *broken_rate_);
}

}  // namespace gridfold::load
