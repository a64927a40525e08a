// Reductions by key: statistics and quantiles of the values of each key, which are brought in the
// order of their groups once for all of them.
//
// Groups are the integers of a range, the keys that occur, or bins of a histogram in which the keys
// fall as samples. Elements of a group keep their order, so that every statistic has the bits that
// a reduction of the group by itself has, wherever its elements lie.
//
//   absl::StatusOr<KeyedReductionPlan> plan = OutlineKeyedReduction(keys, values, spec, 1 << 24);
//   absl::Status status = CompletePlan(stop, *plan);  // Of bins; on a lane.
//   absl::StatusOr<KeyedReductionResult> result =
//       lane.RunKeyedReduction(*plan, input, stop, statistics);
//   KeyedAnswer answer = SpreadGroups(*plan, *std::move(result));
#ifndef GRIDFOLD_KERNELS_CONTRACT_KEYED_REDUCTION_H_
#define GRIDFOLD_KERNELS_CONTRACT_KEYED_REDUCTION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/array.h"
#include "kernels/contract/histogram.h"
#include "kernels/contract/quantiles.h"
#include "kernels/contract/reduction.h"
#include "kernels/contract/resident_memory.h"

namespace gridfold::kernels {

// Every integer of a range; a key outside of it is an error.
struct KeyRangeSpec {
  int64_t first_key = 0;
  uint64_t key_count = 0;
  uint64_t first_unsigned_key = 0;  // Instead of first_key, for unsigned keys; 0: not used.
};
// The keys that occur, no more than so many; 0: as many as the caller of the planner allows.
struct FoundKeysSpec {
  uint64_t key_count_max = 0;
};
// The bins in which keys fall, of up to kBinAxesMax dimensions; those outside are dropped or
// clamped.
struct KeyBinsSpec {
  std::vector<BinSpec> bins;  // One for all dimensions, or one for each.
  // Of coordinates of further dimensions, beside the keys and as many as these.
  std::vector<ElementType> further_types = {};
  OutOfRangePolicy out_of_range_policy = OutOfRangePolicy::kDrop;
};
using KeyGroupsSpec = std::variant<KeyRangeSpec, FoundKeysSpec, KeyBinsSpec>;

struct KeyedReductionSpec {
  KeyGroupsSpec groups;
  // Its grouping is not used; its statistics may be none where there are quantiles, which share its
  // NaN policy.
  ReductionSpec reduction;
  std::vector<double> quantiles = {};  // Each from 0 to 1; none with states.
  QuantileMethod quantile_method = QuantileMethod::kLinear;
};

struct KeyedReductionPlan {
  ArrayDescription keys;
  // Of the values, as one group; an engine groups them.
  ReductionPlan reduction;
  // Of the same; without targets where no quantiles are asked for.
  QuantilePlan quantiles;
  // The bins of the keys, and of further coordinates: of each dimension an outline
  // (histogram_outline.h) of a plain histogram of as many samples. Of a range, integer bins. None
  // where keys are found.
  std::vector<HistogramPlan> axes;
  bool refuses_outside = false;  // A range: keys outside of its bins are an error.
  uint64_t group_count_max = 0;  // Groups of the answer; of bins, their number.

  bool has_bins() const { return !axes.empty(); }
  std::vector<PlannedBins> bins() const;  // Of all axes, as they are so far.
  uint64_t bytes_per_element() const;     // A value, its key and further coordinates.
};

// Makes a plan one of so many keys.
void SetKeyCount(uint64_t count, KeyedReductionPlan& plan);

// An error of planning an axis' bins as one of the whole spec: the field's "bins[0]" becomes
// "bins.bins[axis]".
absl::Status OfKeyAxis(size_t axis, const absl::Status& status);

// Errors (INVALID_ARGUMENT, field in the payload): keys that are floating-point, but for bins; as
// many keys as values are needed; neither statistics nor quantiles; quantiles that PlanQuantiles
// refuses, or with states; a range of no keys, of more than `group_count_max`, or past the
// keys' 64 bits; those of PlanReduction but for groups that are too small; of bins those of
// OutlineHistogram, with "bins." before the field, more than kBinAxesMax dimensions, and more bins
// together than `group_count_max` or kAxesBinsMax.
absl::StatusOr<KeyedReductionPlan> OutlineKeyedReduction(const ArrayDescription& keys,
                                                         const ArrayDescription& values,
                                                         KeyedReductionSpec spec,
                                                         uint64_t group_count_max);

// Completes the bins of an outline, in time in proportion to them. Errors: those of CompletePlan of
// histograms.
absl::Status CompletePlan(const std::stop_token& stop, KeyedReductionPlan& plan);

struct KeyedInput {
  InputSpan keys;
  std::vector<InputSpan> further_keys = {};  // Of the bins' further axes.
  InputSpan values;
  // Memory of the engine that nobody else uses meanwhile, of Lane::KeyedRoomBytes at least.
  MutableResidentSpan room = {};
};

// Of the groups that have elements, in increasing order.
struct KeyedReductionResult {
  // Their bins or, where keys are found, their keys: the bits of an int64 or uint64.
  std::vector<uint64_t> groups;
  std::vector<uint64_t> offsets;  // One more than groups: differences are the groups' elements.
  ReductionResult reduction;      // Indices are those of the input.
  QuantileResult quantiles;       // Of the groups.
  std::vector<PlannedBins> bins;  // The plan's, with automatic ranges resolved.
  uint64_t underflow_count = 0;   // Elements outside the bins, as a histogram counts them.
  uint64_t overflow_count = 0;
  uint64_t nan_count = 0;
};

// The coordinates of a plan's axis.
inline const InputSpan& KeysOfAxis(const KeyedInput& input, size_t axis) {
  return axis == 0 ? input.keys : input.further_keys[axis - 1];
}

// What is asked for: dense where there are bins.
struct KeyedAnswer {
  std::vector<uint64_t> keys;  // Where they are found.
  std::vector<uint64_t> counts;
  std::vector<StatisticColumn> columns;  // As MakeReductionResult's; those without slots have none.
  std::vector<std::vector<uint64_t>> quantiles;  // Of each quantile the groups' slots.
};

// Makes every index of a group's statistics and states that of an element of the input:
// place_of(group, index in the group).
void MapIndices(const std::function<uint64_t(uint64_t, uint64_t)>& place_of,
                ReductionResult& result);

// A plan of the reduction of values in the order of their groups, which lie at `offsets`.
ReductionPlan PlanOfGroups(const KeyedReductionPlan& plan, std::vector<uint64_t> offsets);

// A plan of their quantiles.
QuantilePlan PlanQuantilesOfGroups(const KeyedReductionPlan& plan, std::vector<uint64_t> offsets);

// The answer; groups without elements have SlotOfNothing, of quantiles NaN or, of integers, 0.
KeyedAnswer SpreadGroups(const KeyedReductionPlan& plan, KeyedReductionResult result);

// The slot of a statistic of no elements: its value where it has one, else 0 for integers, 2^64 - 1
// for indices and NaN for floating-point values.
uint64_t SlotOfNothing(Statistic statistic, ElementType type);

// The error of a key outside a plan's range.
absl::Status KeyOutsideRange(const KeyedReductionPlan& plan, uint64_t index, uint64_t key_bits);

// The error of more keys than plan.group_count_max.
absl::Status TooManyKeys(const KeyedReductionPlan& plan);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_KEYED_REDUCTION_H_
