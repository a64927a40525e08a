// From a request that relates arrays to a plan and views of its arrays; see request_validation.h.
#ifndef GRIDFOLD_SERVER_PLANNING_PAIRED_VALIDATION_H_
#define GRIDFOLD_SERVER_PLANNING_PAIRED_VALIDATION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "gridfold/v1/compute_service.pb.h"
#include "kernels/contract/paired.h"
#include "server/arrays/array_store.h"
#include "server/planning/gathering.h"
#include "server/planning/planning_context.h"
#include "server/regions/region_store.h"

namespace gridfold::server {

struct PlannedPaired {
  kernels::PairedPlan plan;
  kernels::PairedInput input;
  std::vector<ArrayLease> leases;
  std::vector<RegionLease> regions;
  std::optional<uint32_t> engine;                      // That of its arrays, where any will not do.
  std::optional<PlannedGather> gather = std::nullopt;  // Of x, y and weights.
};

absl::StatusOr<PlannedPaired> PlanRequest(const v1::RelateArraysRequest& request,
                                          const PlanningContext& context);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PLANNING_PAIRED_VALIDATION_H_
