// Tells when the figures of a run have settled.
#ifndef GRIDFOLD_CLIENT_LOAD_RUN_STABILITY_H_
#define GRIDFOLD_CLIENT_LOAD_RUN_STABILITY_H_

#include <cstddef>
#include <deque>

namespace gridfold::load {

// Compares the means of the last five seconds with those of the five before. Not thread-safe.
class StabilityDetector {
 public:
  // Figures may differ by the part `tolerance`.
  explicit StabilityDetector(double tolerance) : tolerance_(tolerance) {}

  struct Second {
    double rate = 0;
    double p50 = 0;
    double p99 = 0;
  };
  // Whether the seconds so far are stable with this one.
  bool Add(const Second& second);

 private:
  static constexpr size_t kSpan = 5;

  bool AreAlike(double Second::*figure) const;

  const double tolerance_;
  std::deque<Second> seconds_;  // The last 2 * kSpan.
};

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_RUN_STABILITY_H_
