// From a request for groups by key to a plan and views of its arrays; see request_validation.h.
#ifndef GRIDFOLD_SERVER_PLANNING_KEYED_VALIDATION_H_
#define GRIDFOLD_SERVER_PLANNING_KEYED_VALIDATION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "gridfold/v1/compute_service.pb.h"
#include "kernels/contract/engine.h"
#include "server/arrays/array_store.h"
#include "server/planning/planning_context.h"
#include "server/regions/region_store.h"

namespace gridfold::server {

struct PlannedKeyedReduction {
  kernels::KeyedReductionPlan plan;  // An outline: a lane completes it.
  kernels::KeyedInput input;
  std::vector<ArrayLease> leases;
  std::vector<RegionLease> regions;
  std::optional<uint32_t> engine;  // Which runs it: that of its arrays, or with most room.
  TenantArrays arrays;             // Where it takes room for the while.
  uint64_t first_index = 0;
};

absl::StatusOr<PlannedKeyedReduction> PlanRequest(const v1::ReduceByKeyRequest& request,
                                                  const PlanningContext& context);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PLANNING_KEYED_VALIDATION_H_
