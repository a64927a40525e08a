// Arrays that are copied before a request runs: those of which no device has all, where one runs
// the request and has copies of what lies elsewhere for the time; and views whose elements do not
// follow one another, which are copied together there. Thread-safe.
//
// Errors: INVALID_ARGUMENT that names an array in memory that another process shares from one
// device, where a further one is on another; RESOURCE_EXHAUSTED, as of a job larger than a lane,
// where a tenant may not have so much on one device.
#ifndef GRIDFOLD_SERVER_PLANNING_GATHERING_H_
#define GRIDFOLD_SERVER_PLANNING_GATHERING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kernels/contract/array.h"
#include "kernels/contract/rearrangement.h"
#include "kernels/contract/resident_memory.h"
#include "server/planning/array_validation.h"
#include "server/planning/planning_context.h"

namespace gridfold::server {

// An array, or a slice of one, that is copied before the operation runs.
struct GatheredArray {
  size_t place = 0;                 // Of the array among those that were gathered together.
  std::string field;                // InputArray::field.
  kernels::ArrayDescription array;  // Of one dimension.
  std::vector<ArrayShard> shards;   // Where its elements are.
};

// A view that is copied together, from where its array is or has been gathered.
struct PackedView {
  size_t place = 0;  // As above.
  std::string field;
  kernels::ArrayDescription array;  // Of one dimension, without the gaps.
  kernels::Rearrangement order;
  kernels::ResidentSpan from;  // Without a place where the array is gathered.
};

// The copies take room beside resident arrays.
struct PlannedGather {
  TenantArrays arrays;
  uint32_t engine = 0;  // Where the copies will be, and the operation runs.
  std::vector<GatheredArray> gathered;
  std::vector<PackedView> packed;

  uint64_t copied_bytes() const;
};

// Plans copies of those of `inputs` that are views, or do not lie on the engine that runs the
// request, if there are any: `required`, where it is set; else that of device memory in regions, or
// that of the largest array which one device has, or the one with the most room. From then on these
// inputs look as if they were there, but that nobody knows at what address. Null pointers stand for
// arrays that the request has not; they count as places.
absl::Status Gather(absl::Span<InputArray* const> inputs, std::optional<uint32_t> required,
                    const PlanningContext& context, std::optional<PlannedGather>& gather);

// Sets `engine` to the one that memory needs, if it needs one. INVALID_ARGUMENT, field named, where
// it is another one already.
absl::Status RequireEngine(absl::string_view field, std::optional<uint32_t> needed,
                           std::optional<uint32_t>& engine);

// The engine that inputs which were gathered need, if they need one.
std::optional<uint32_t> EngineOf(absl::Span<InputArray* const> inputs);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PLANNING_GATHERING_H_
