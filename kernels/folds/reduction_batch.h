// Many reductions in one launch: small arrays cost a launch each, which takes longer than reducing
// them. A batch concatenates the arrays and reduces them as segments of one.
//
// The values are those of RunReduction for each reduction by itself, bit for bit: a segment is
// reduced along the same trees as a whole array, counted from its own start.
#ifndef GRIDFOLD_KERNELS_FOLDS_REDUCTION_BATCH_H_
#define GRIDFOLD_KERNELS_FOLDS_REDUCTION_BATCH_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/contract/array.h"
#include "kernels/contract/engine.h"
#include "kernels/contract/reduction.h"
#include "kernels/types/statistic_set.h"

namespace gridfold::kernels {

// Reductions with equal keys may share a launch. The launch computes the statistics of all of them
// for every array, so statistics that could fail, or take a pass of their own, are asked for by all
// reductions of a key or by none: one reduction is no other's error, nor its extra pass.
struct ReductionBatchKey {
  ElementType element_type;
  NanPolicy nan_policy;
  OverflowPolicy overflow_policy;
  bool is_empty;                      // Of no elements some statistics are errors.
  uint32_t delta_degrees_of_freedom;  // 0 where no statistic uses them.
  StatisticSet statistics_apart;      // The statistics that are.

  auto operator<=>(const ReductionBatchKey&) const = default;
};

// An array larger than this takes longer than a launch, and is better left where it is.
inline constexpr uint64_t kBatchedArrayBytesMax = uint64_t{1} << 20;

// Nothing for a reduction that shares no launch: of several groups, one that returns
// states, or one whose strategy is named.
std::optional<ReductionBatchKey> BatchKeyOf(const ReductionPlan& plan);

struct BatchedReduction {
  const ReductionPlan* plan;
  InputSpan input;  // In host memory; exactly plan->array.size_bytes() bytes.
};

// Runs reductions of one key, and answers in their order. Each has its own result or error, which
// are those of RunReduction: where a launch fails for what is in the data, or does not fit the
// lane, its halves are launched by themselves, and so on down to the reduction at fault. CANCELLED
// and INTERNAL are the whole batch's. `statistics` are the sums over the launches.
absl::StatusOr<std::vector<absl::StatusOr<ReductionResult>>> RunReductionBatch(
    std::span<const BatchedReduction> reductions, Lane& lane, std::stop_token stop,
    RunStatistics& statistics);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_REDUCTION_BATCH_H_
