// From a request of ComputeService to a plan and views of its input. Thread-safe. Views point into
// the request and its detached data, which must outlive them, and into resident arrays and regions,
// which the leases keep.
//
// Errors: INVALID_ARGUMENT that names the field at fault by its path in the request, for example
// "array.inline_array.data" (kernels/contract/invalid_field.h); those of ArrayStore and
// RegionStore. Takes time and memory in proportion to the request, whatever sizes and counts it
// claims: threads of gRPC plan, which nobody is to hold. What takes longer, as edges of bins do, is
// left to lanes.
#ifndef GRIDFOLD_SERVER_PLANNING_REQUEST_VALIDATION_H_
#define GRIDFOLD_SERVER_PLANNING_REQUEST_VALIDATION_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gridfold/v1/compute_service.pb.h"
#include "kernels/contract/axes.h"
#include "kernels/contract/bin_rule.h"
#include "kernels/contract/engine.h"
#include "kernels/contract/rearrangement.h"
#include "kernels/contract/shape.h"
#include "kernels/contract/tolerant_reduction.h"
#include "kernels/folds/reduction_fold.h"
#include "server/arrays/array_store.h"
#include "server/base/limits.h"
#include "server/planning/array_validation.h"
#include "server/planning/gathering.h"
#include "server/planning/planning_context.h"
#include "server/planning/selection_validation.h"
#include "server/regions/region_store.h"

namespace gridfold::server {

// An input that is brought into another order first: its copy takes room beside resident arrays.
struct PlannedRearrangement {
  kernels::Rearrangement order;
  TenantArrays arrays;
  uint32_t engine = 0;  // Where the copy will be: the input's, where that needs one.
};

// How groups without values, and degrees of freedom, are taken.
struct Tolerance {
  kernels::EmptyGroupRule rule;
  double ddof = 0;
};

struct PlannedReduction {
  kernels::ReductionPlan plan;  // Of the rearranged input, if it is.
  // What is run in place of the plan, where groups may lack values or ddof is no whole number.
  std::optional<kernels::TolerantReduction> tolerant;
  // The elements that count, of which the plan's groups have yet to be made: the groups that it has
  // are those of the array in the selection's order.
  std::optional<PlannedSelection> selection;
  Tolerance tolerance;  // Where there is a selection.
  InputArray input;
  kernels::Shape result_shape;
  std::optional<PlannedGather> gather;  // Before all else.
  std::optional<PlannedRearrangement> rearrangement;
  std::optional<kernels::GroupsInPlace> in_place;  // Instead of it, where that can be.
  uint64_t first_index = 0;
  std::optional<TenantArrays> state_arrays;  // In whose room devices may keep states of shards.
};

// Where the result of a scan goes: into the answer, into a resident array that is new or the
// input's own, or into a region.
struct InlineResult {};
struct NewArrayResult {
  std::string name;  // Empty: chosen by the store.
  std::chrono::nanoseconds idle_expiry{0};
  uint32_t engine = 0;  // Where it will be: the input's, where that is resident.
};
struct InPlaceResult {};
struct RegionResult {
  std::string name;
  uint64_t offset_bytes = 0;
  kernels::MutableResidentSpan place;
  RegionLease region;
};

struct PlannedScan {
  kernels::ScanPlan plan;               // Of the rearranged input, if it is.
  InputArray input;                     // Resident where the result is InPlaceResult.
  std::optional<PlannedGather> gather;  // Before all else.
  std::optional<PlannedRearrangement> rearrangement;
  std::optional<PlannedSelection> selection;  // Before the rearrangement.
  std::variant<InlineResult, NewArrayResult, InPlaceResult, RegionResult> result;
  TenantArrays arrays;
};

// Where the arrays of a histogram lie that several devices have; the others have none.
struct HistogramShards {
  std::vector<ArrayShard> array;
  std::vector<ArrayShard> y_array;
  std::vector<ArrayShard> weights;

  // Of one array or several, which are cut alike; empty where none is sharded.
  const std::vector<ArrayShard>& any() const {
    return !array.empty() ? array : !y_array.empty() ? y_array : weights;
  }
};

// How a histogram's only bins get their number on a lane.
struct PlannedBinRule {
  kernels::BinRule rule;
  uint32_t engine = 0;  // Where the lane has room beside resident arrays, if it needs some.
};

struct PlannedHistogram {
  // An outline: a lane completes it. With a rule its bins are as many as there may be.
  kernels::HistogramPlan plan;
  kernels::HistogramInput input = {};
  HistogramShards shards = {};
  std::vector<ArrayLease> leases = {};
  std::vector<RegionLease> regions = {};
  std::optional<uint32_t> engine = std::nullopt;  // Which must run it, where any will not do.
  std::optional<PlannedSelection> selection = std::nullopt;
  std::vector<InputArray> truths = {};  // Those of its arrays that are bool.
  TenantArrays arrays;                  // Whose room rules take, and counters on devices.
  std::optional<PlannedBinRule> rule = std::nullopt;
  bool is_compact = false;  // The answer, which is dense then.
  // Of samples, the second axis', weights and mask.
  std::optional<PlannedGather> gather = std::nullopt;
};

struct PlannedQuantiles {
  kernels::QuantilePlan plan;  // Of the rearranged input, if it is.
  InputArray input;
  kernels::Shape result_shape;
  std::optional<PlannedGather> gather;  // Before all else.
  // Of the input and of its weights.
  std::optional<PlannedRearrangement> rearrangement;
  std::optional<InputArray> weights;  // Of the input's elements.
};

struct PlannedTop {
  kernels::TopPlan plan;  // Of the rearranged input, if it is.
  InputArray input;
  kernels::Shape group_shape;           // Of the groups: each has the plan's count of results.
  std::optional<PlannedGather> gather;  // Before all else.
  std::optional<PlannedRearrangement> rearrangement;
};

// Whether the devices that have the array each work on their own shard.
inline bool IsSharded(const PlannedReduction& planned) { return planned.input.is_sharded(); }
inline bool IsSharded(const PlannedScan& planned) { return planned.input.is_sharded(); }
inline bool IsSharded(const PlannedHistogram& planned) { return !planned.shards.any().empty(); }

// The contents of the accumulators are checked where they are merged, not here, since that takes
// time in proportion to them.
struct PlannedMerge {
  std::vector<absl::string_view> accumulators;
  bool partial = false;
  std::optional<kernels::ElementType> output_type;
  Limits limits;
};
struct PlannedSubtraction {
  absl::string_view minuend;
  std::vector<absl::string_view> subtrahends;
  bool partial = false;
  std::optional<kernels::ElementType> output_type;
  Limits limits;
};

absl::StatusOr<PlannedReduction> PlanRequest(const v1::ReduceArrayRequest& request,
                                             const PlanningContext& context);
absl::StatusOr<PlannedScan> PlanRequest(const v1::ScanArrayRequest& request,
                                        const PlanningContext& context);
absl::StatusOr<PlannedHistogram> PlanRequest(const v1::ComputeHistogramRequest& request,
                                             const PlanningContext& context);
absl::StatusOr<PlannedQuantiles> PlanRequest(const v1::ComputeQuantilesRequest& request,
                                             const PlanningContext& context);
absl::StatusOr<PlannedTop> PlanRequest(const v1::SelectTopRequest& request,
                                       const PlanningContext& context);
absl::StatusOr<PlannedMerge> PlanRequest(const v1::MergeAccumulatorsRequest& request,
                                         const PlanningContext& context);
absl::StatusOr<PlannedSubtraction> PlanRequest(const v1::SubtractAccumulatorsRequest& request,
                                               const PlanningContext& context);

// Room for the copies of a rearrangement, of so many bytes together, on the engine that the input
// needs, if it needs one. Errors: RESOURCE_EXHAUSTED, as of a job larger than a lane, where a
// tenant may not have so much.
absl::StatusOr<PlannedRearrangement> PlanRearrangement(const kernels::Rearrangement& order,
                                                       uint64_t room_bytes,
                                                       std::optional<uint32_t> engine,
                                                       const PlanningContext& context);

struct PlannedReductionStream {
  kernels::ReductionFoldSpec fold;
  kernels::Shape result_shape;
  // The first extent of the array, which is known at the end, is that of the result too.
  bool keeps_first_extent = false;
  bool is_bool = false;       // The elements are truth values.
  bool has_mask = false;      // Only those count that a mask, which arrives beside them, selects.
  uint64_t row_elements = 1;  // Of the array's rows, of which a stream brings a whole number.
};

struct PlannedHistogramStream {
  kernels::HistogramPlan outline;
  bool has_mask = false;
};

struct PlannedScanStream {
  kernels::ScanPlan plan;
  bool has_mask = false;
};

// The requests of streams, whose arrays have yet to arrive. Plans do not point into the request.
// Further errors: an array that is not streamed; axes that need the whole array.
absl::StatusOr<PlannedReductionStream> PlanStream(const v1::ReduceArrayRequest& request,
                                                  const Limits& limits);
absl::StatusOr<PlannedHistogramStream> PlanStream(const v1::ComputeHistogramRequest& request,
                                                  const Limits& limits);
absl::StatusOr<PlannedScanStream> PlanStream(const v1::ScanArrayRequest& request,
                                             const Limits& limits);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PLANNING_REQUEST_VALIDATION_H_
