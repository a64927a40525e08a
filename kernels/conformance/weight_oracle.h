// What the sums of weights of a histogram must be: exact numbers, rounded once.
#ifndef GRIDFOLD_KERNELS_CONFORMANCE_WEIGHT_ORACLE_H_
#define GRIDFOLD_KERNELS_CONFORMANCE_WEIGHT_ORACLE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/conformance/dyadic.h"
#include "kernels/contract/histogram.h"

namespace gridfold::kernels::conformance {

struct WeightInBin {
  uint64_t bin;
  long double weight;  // Exact, whatever the weights' type.
};

// The exact sum of a bin's weights.
struct ExpectedWeightSum {
  Dyadic number;  // Of the finite weights.
  bool saw_positive_infinity = false;
  bool saw_negative_infinity = false;
  bool saw_nan = false;
  bool saw_other_than_negative_zero = false;

  bool IsFinite() const { return !saw_positive_infinity && !saw_negative_infinity && !saw_nan; }
  // Rounded to the nearest, ties to even; a zero is +0.0.
  double Rounded() const;
};

// Calls visit(bin, sum) for every bin in which there is a weight, in increasing order.
void ForEachWeightSum(std::vector<WeightInBin> weights,
                      const std::function<void(uint64_t, const ExpectedWeightSum&)>& visit);

// Expects the same bits; any NaN stands for any other.
void ExpectSameBits(double actual, double expected, uint64_t bin);

// Expects state `i` of `states`, which must be those of weights of `type`, to stand for `expected`.
void CheckWeightState(const HistogramWeightStates& states, uint64_t i, ElementType type,
                      const ExpectedWeightSum& expected);

}  // namespace gridfold::kernels::conformance

#endif  // GRIDFOLD_KERNELS_CONFORMANCE_WEIGHT_ORACLE_H_
