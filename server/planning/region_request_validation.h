// Validates the requests of RegionService. Thread-safe.
//
// Errors: INVALID_ARGUMENT that names the field at fault by its path in the request;
// FAILED_PRECONDITION where regions are off; ALREADY_EXISTS.
#ifndef GRIDFOLD_SERVER_PLANNING_REGION_REQUEST_VALIDATION_H_
#define GRIDFOLD_SERVER_PLANNING_REGION_REQUEST_VALIDATION_H_

#include "absl/status/statusor.h"
#include "gridfold/v1/region_service.pb.h"
#include "server/planning/array_request_validation.h"
#include "server/planning/request_validation.h"
#include "server/regions/region_store.h"

namespace gridfold::server {

struct PlannedRegistration {
  NewRegion region;
  TenantRegions regions;
};

absl::StatusOr<PlannedRegistration> PlanRequest(const v1::RegisterRegionRequest& request,
                                                const PlanningContext& context);
absl::StatusOr<PlannedPage> PlanRequest(const v1::ListRegionsRequest& request,
                                        const Limits& limits);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PLANNING_REGION_REQUEST_VALIDATION_H_
