// From a request of ComputeService to a plan and views of its input. Pure functions; thread-safe.
// Views point into the request, which must outlive them.
//
// Errors: INVALID_ARGUMENT that names the field at fault by its path in the request, for example
// "array.inline_array.data" (kernels/invalid_field.h). Takes time and memory in proportion to the
// request and to the limits, whatever sizes and counts the request claims.
#ifndef GRIDFOLD_SERVER_REQUEST_VALIDATION_H_
#define GRIDFOLD_SERVER_REQUEST_VALIDATION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gridfold/v1/compute_service.pb.h"
#include "kernels/engine.h"
#include "server/limits.h"

namespace gridfold::server {

struct PlannedReduction {
  kernels::ReductionPlan plan;
  kernels::HostSpan input;
  uint64_t first_index = 0;
};

struct PlannedScan {
  kernels::ScanPlan plan;
  kernels::HostSpan input;
};

struct PlannedHistogram {
  kernels::HistogramPlan plan;
  kernels::HistogramInput input;
};

// What the accumulators hold is looked at where they are merged, not here: that takes time in
// proportion to them.
struct PlannedMerge {
  std::vector<absl::string_view> accumulators;
  bool partial = false;
  Limits limits;
};

absl::StatusOr<PlannedReduction> PlanRequest(const v1::ReduceArrayRequest& request,
                                             const Limits& limits);
absl::StatusOr<PlannedScan> PlanRequest(const v1::ScanArrayRequest& request, const Limits& limits);
absl::StatusOr<PlannedHistogram> PlanRequest(const v1::ComputeHistogramRequest& request,
                                             const Limits& limits);
absl::StatusOr<PlannedMerge> PlanRequest(const v1::MergeAccumulatorsRequest& request,
                                         const Limits& limits);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_REQUEST_VALIDATION_H_
