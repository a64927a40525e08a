// Rules for how many bins of equal width samples are counted in: those of
// numpy.histogram_bin_edges in NumPy 1. Pure functions; thread-safe.
#ifndef GRIDFOLD_KERNELS_CONTRACT_BIN_RULE_H_
#define GRIDFOLD_KERNELS_CONTRACT_BIN_RULE_H_

#include <cstdint>

namespace gridfold::kernels {

// The wire contract says what each comes to (histogram_rule.proto).
enum class BinRule : uint8_t { kAuto, kFreedmanDiaconis, kScott, kRice, kSturges, kSqrt };

constexpr bool NeedsQuartiles(BinRule rule) {
  return rule == BinRule::kAuto || rule == BinRule::kFreedmanDiaconis;
}
constexpr bool NeedsStandardDeviation(BinRule rule) { return rule == BinRule::kScott; }

// What rules look at, of the samples that count.
struct SampleSummary {
  uint64_t count = 0;
  double smallest = 0;
  double largest = 0;
  double standard_deviation = 0;  // Where NeedsStandardDeviation.
  double lower_quartile = 0;      // Where NeedsQuartiles.
  double upper_quartile = 0;
};

// How many bins a rule makes between two bounds, of which the upper one is no smaller: a whole
// number of 1 or more, or infinity.
double BinCountByRule(BinRule rule, const SampleSummary& samples, double lower, double upper);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_BIN_RULE_H_
