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
#include "server/planning/gathering.h"
#include "server/planning/planning_context.h"
#include "server/regions/region_store.h"

namespace gridfold::server {

struct PlannedKeyedReduction {
  kernels::KeyedReductionPlan plan;  // An outline: a lane completes it.
  kernels::KeyedInput input;
  std::vector<ArrayLease> leases;
  std::vector<RegionLease> regions;
  std::optional<uint32_t> engine;  // That of its arrays, where any will not do.
  TenantArrays arrays;             // Where it takes room for the while,
  uint32_t room_engine = 0;        // on the engine that runs it.
  uint64_t first_index = 0;
  uint64_t key_count_max = 0;  // That the request allows of found keys; 0 where it does not say.
  std::optional<PlannedGather> gather = std::nullopt;  // Of keys, further keys and values.
};

absl::StatusOr<PlannedKeyedReduction> PlanRequest(const v1::ReduceByKeyRequest& request,
                                                  const PlanningContext& context);

// A request of a stream, whose arrays have yet to arrive.
struct PlannedKeyedStream {
  kernels::KeyedReductionPlan plan;  // An outline, of no keys, whose states can be merged.
  uint64_t first_index = 0;
  uint64_t key_count_max = 0;
};

// Further errors: an array that is not streamed; what cannot be merged; bins with an automatic
// range.
absl::StatusOr<PlannedKeyedStream> PlanStream(const v1::ReduceByKeyRequest& request,
                                              const Limits& limits);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PLANNING_KEYED_VALIDATION_H_
