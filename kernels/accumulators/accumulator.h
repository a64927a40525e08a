// Accumulators: mergeable partial results, as bytes. Made by reduction_accumulator.h,
// histogram_accumulator.h and keyed_accumulator.h; bytes.h has the format. Here any of one kind are
// merged, and taken out of one that they were merged into.
//
// No bytes do harm: what does not follow the format is an error, and none make a merge take more
// memory than in proportion to them and to the limits. Thread-safe.
#ifndef GRIDFOLD_KERNELS_ACCUMULATORS_ACCUMULATOR_H_
#define GRIDFOLD_KERNELS_ACCUMULATORS_ACCUMULATOR_H_

#include <cstdint>
#include <span>
#include <stop_token>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/accumulators/histogram_accumulator.h"
#include "kernels/accumulators/keyed_merge.h"
#include "kernels/accumulators/reduction_accumulator.h"

namespace gridfold::kernels {

struct AccumulatorLimits {
  uint64_t group_count_max = 0;
  uint64_t bin_count_max = 0;
  uint32_t channel_count_max = 0;
};

// What an accumulator answers.
using AccumulatedOperation = std::variant<ReductionPlan, HistogramPlan, KeyedMergePlan>;

// Accumulators that agree, and what is made of them.
struct MergePlan {
  Combination combination = Combination::kMerge;
  // What the accumulators answer, with return_states; a histogram's has the samples of all parts,
  // or of what remains.
  AccumulatedOperation operation;
  std::vector<absl::string_view> bodies;  // Point into the accumulators.
};

// Checks the accumulators but for their states. Errors: INVALID_ARGUMENT that names `accumulators`
// where there are none, else accumulators[i]: not an accumulator, an unknown version, a wrong
// checksum, bytes that do not follow the format, beyond the limits, or of another operation or
// another header than the first. CANCELLED.
absl::StatusOr<MergePlan> PlanMerge(std::span<const absl::string_view> accumulators,
                                    const AccumulatorLimits& limits, const std::stop_token& stop);

// The plan of what remains of `minuend` where all of `subtrahends` are taken out of it: the
// accumulator that they were merged into it with, to the bit. Errors: as PlanMerge, which name
// `subtrahends` where there are none, `minuend` or subtrahends[i]; INVALID_ARGUMENT that names
// `minuend`, where one of its statistics cannot be taken out: smallest and largest elements, their
// indices and range, products, bitwise and, or, exclusive or.
absl::StatusOr<MergePlan> PlanSubtraction(absl::string_view minuend,
                                          std::span<const absl::string_view> subtrahends,
                                          const AccumulatorLimits& limits,
                                          const std::stop_token& stop);

// The operation that an accumulator, and those which agree with it, answer, with return_states; a
// histogram's has the samples of this part only. Errors: as PlanMerge, without the index.
absl::StatusOr<AccumulatedOperation> MergedOperation(absl::string_view accumulator,
                                                     const AccumulatorLimits& limits);

using MergedAnswer = std::variant<ReductionMerge, HistogramMerge, KeyedMerge>;

// Folds them. `partial` concerns reductions only. Errors: those of FoldReductions, FoldHistograms
// and MergeKeyed.
absl::StatusOr<MergedAnswer> RunMerge(const MergePlan& plan, bool partial,
                                      const std::stop_token& stop);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_ACCUMULATOR_H_
