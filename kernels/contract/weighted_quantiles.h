// Exact quantiles of elements that have weights, by the inverse of their distribution.
//
// The quantile q of a group is its smallest element x for which the weights of all elements up to x
// are a part of at least q of all its weights, and more than 0. Both sums are exact, and the part
// is their quotient, rounded once to float64; so the answer does not depend on the order of the
// elements, and has the bits of NumPy 2 (`quantile(x, q, weights=w, method="inverted_cdf")`) where
// NumPy's running sums are exact, as those of integers below 2^53 are.
//
//   const auto plan = PlanWeightedQuantiles(array, weights, {.quantiles = {0.5}});
//   // Run by folds/weighted_quantiles.h, on any lane.
#ifndef GRIDFOLD_KERNELS_CONTRACT_WEIGHTED_QUANTILES_H_
#define GRIDFOLD_KERNELS_CONTRACT_WEIGHTED_QUANTILES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/array.h"
#include "kernels/contract/quantiles.h"
#include "kernels/types/policies.h"

namespace gridfold::kernels {

struct WeightedQuantileSpec {
  std::vector<double> quantiles = {};  // Each from 0 to 1.
  GroupingSpec grouping = {};
  // As QuantileSpec has it; ignored NaNs are left out with their weights.
  NanPolicy nan_policy = NanPolicy::kPropagate;
};

struct WeightedQuantilePlan {
  QuantilePlan elements;                            // Its method is not used: values are elements.
  ElementType weight_type = ElementType::kFloat64;  // Of the weights, as many as elements.
};

// Errors: those of PlanQuantiles; INVALID_ARGUMENT that names "weights" where there are not as many
// as elements.
absl::StatusOr<WeightedQuantilePlan> PlanWeightedQuantiles(const ArrayDescription& array,
                                                           const ArrayDescription& weights,
                                                           WeightedQuantileSpec spec);

// INVALID_ARGUMENT of weights: one that is negative or not finite, and of a group without any above
// 0.
absl::Status FaultyWeight(uint64_t index, const char* fault);
absl::Status WeightsAreZero(uint64_t group);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_WEIGHTED_QUANTILES_H_
