// From a request of BatchCompute to the plans of its operations. Thread-safe. Plans point into the
// request, which must outlive them, as those of request_validation.h do.
#ifndef GRIDFOLD_SERVER_PLANNING_BATCH_VALIDATION_H_
#define GRIDFOLD_SERVER_PLANNING_BATCH_VALIDATION_H_

#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gridfold/v1/compute_service.pb.h"
#include "server/planning/keyed_validation.h"
#include "server/planning/request_validation.h"

namespace gridfold::server {

// An operation, or why there is no plan for it.
using PlannedOperation = std::variant<absl::Status, PlannedReduction, PlannedScan, PlannedHistogram,
                                      PlannedKeyedReduction>;

struct PlannedBatch {
  std::vector<PlannedOperation> operations;  // In the request's order.
  // Where those run whose arrays any engine can read, and what they make goes, if they need one.
  std::optional<uint32_t> engine = std::nullopt;
};

// Errors (INVALID_ARGUMENT that names "operations") concern the whole batch: too many operations,
// or answers that do not fit in a message together. An operation's own error takes the place of its
// plan, with paths from its own request.
absl::StatusOr<PlannedBatch> PlanRequest(const v1::BatchComputeRequest& request,
                                         const PlanningContext& context);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PLANNING_BATCH_VALIDATION_H_
