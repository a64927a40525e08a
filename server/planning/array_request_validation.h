// Validates the requests of ArrayService. Thread-safe.
//
// Errors: INVALID_ARGUMENT that names the field at fault by its path in the request; those of
// ArrayStore.
#ifndef GRIDFOLD_SERVER_PLANNING_ARRAY_REQUEST_VALIDATION_H_
#define GRIDFOLD_SERVER_PLANNING_ARRAY_REQUEST_VALIDATION_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/duration.pb.h"
#include "gridfold/v1/array_service.pb.h"
#include "kernels/contract/resident_memory.h"
#include "kernels/contract/shape.h"
#include "server/arrays/array_store.h"
#include "server/base/limits.h"
#include "server/planning/array_validation.h"
#include "server/planning/request_validation.h"

namespace gridfold::server {

struct PlannedCreation {
  std::string name;  // Empty: chosen by the store.
  kernels::ShapedArray description;
  std::chrono::nanoseconds idle_expiry{0};
  uint32_t engine = 0;      // Where it will be,
  bool is_sharded = false;  // unless it is to be on all.
  TenantArrays arrays;
};

struct PlannedRead {
  ResidentSlice slice;
  uint64_t chunk_element_count = 1;
};

struct PlannedPage {
  std::string after;
  uint64_t count_max = 0;
};

// INVALID_ARGUMENT, field named, unless it is above 0 and at most kArrayIdleExpiryCeiling.
absl::StatusOr<std::chrono::nanoseconds> ValidateIdleExpiry(
    const google::protobuf::Duration& duration, absl::string_view field);

// Checks the name, which may be empty, and whether it is free; returns the array's idle expiry,
// which has a default where it is null. `prefix` comes before "name" and "idle_expiry" in the paths
// of the fields.
absl::StatusOr<std::chrono::nanoseconds> ValidateNewArray(
    const std::string& name, const google::protobuf::Duration* idle_expiry,
    absl::string_view prefix, const TenantArrays& arrays);

absl::StatusOr<PlannedCreation> PlanRequest(const v1::CreateArrayRequest& request,
                                            const PlanningContext& context);
absl::StatusOr<PlannedRead> PlanRequest(const v1::ReadArrayRequest& request,
                                        const PlanningContext& context);
// A page of names; the page token, if any, must be a valid name.
absl::StatusOr<PlannedPage> PlanPage(uint32_t page_size, const std::string& page_token,
                                     const Limits& limits);
absl::StatusOr<PlannedPage> PlanRequest(const v1::ListArraysRequest& request, const Limits& limits);

// The array that a stream of WriteArray is for.
absl::StatusOr<ArrayLease> PlanWrite(const v1::WriteArrayHeader& header,
                                     const TenantArrays& arrays);

// Where the data of a message of WriteArray belongs, in the array of its stream: on one device or
// several. The data's first element is 0.
absl::StatusOr<std::vector<ArrayShard>> PlacesOfChunk(const v1::WriteArrayRequest& chunk,
                                                      const StoredArray& array,
                                                      const Limits& limits);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PLANNING_ARRAY_REQUEST_VALIDATION_H_
