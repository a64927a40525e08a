#include "server/planning/array_request_validation.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/types/element_type.h"
#include "server/base/identifier.h"
#include "server/planning/shape_validation.h"
#include "server/wire/proto_conversion.h"

namespace gridfold::server {

using kernels::InvalidField;

absl::StatusOr<std::chrono::nanoseconds> ValidateIdleExpiry(
    const google::protobuf::Duration& duration, absl::string_view field) {
  if (duration.nanos() < 0 || duration.nanos() > 999'999'999) {
    return InvalidField(field, "the nanoseconds are not between 0 and 999,999,999");
  }
  const int64_t ceiling_s = kArrayIdleExpiryCeiling.count();
  const bool is_zero = duration.seconds() == 0 && duration.nanos() == 0;
  const bool is_past_ceiling =
      duration.seconds() > ceiling_s || (duration.seconds() == ceiling_s && duration.nanos() > 0);
  if (duration.seconds() < 0 || is_zero || is_past_ceiling) {
    return InvalidField(field,
                        absl::StrCat("must be more than 0 and at most ", ceiling_s, " seconds"));
  }
  return std::chrono::seconds(duration.seconds()) + std::chrono::nanoseconds(duration.nanos());
}

absl::StatusOr<std::chrono::nanoseconds> ValidateNewArray(
    const std::string& name, const google::protobuf::Duration* idle_expiry,
    absl::string_view prefix, const TenantArrays& arrays) {
  if (!name.empty()) {
    absl::Status status = ValidateArrayName(name, absl::StrCat(prefix, "name"));
    if (!status.ok()) return status;
  }
  if (absl::Status status = arrays.CheckVacant(name); !status.ok()) return status;
  if (idle_expiry == nullptr) return kArrayIdleExpiry;
  return ValidateIdleExpiry(*idle_expiry, absl::StrCat(prefix, "idle_expiry"));
}

namespace {

// Whether the array is to be on all devices: where the caller says so, and where none is named and
// one has no room for it.
absl::StatusOr<bool> ValidatePlacement(const v1::CreateArrayRequest& request,
                                       const kernels::ShapedArray& array, const Limits& limits) {
  switch (request.placement()) {
    case v1::ARRAY_PLACEMENT_UNSPECIFIED:
      return !request.has_device() &&
             kernels::ResidentBytesTaken(array.size_bytes()) > limits.resident_bytes_max;
    case v1::ARRAY_PLACEMENT_ONE_DEVICE: return false;
    case v1::ARRAY_PLACEMENT_SHARDED:
      if (!request.has_device()) return true;
      return InvalidField("device", "a sharded array is on all devices");
    default: break;
  }
  return InvalidField("placement", absl::StrCat("unknown value ", request.placement()));
}

}  // namespace

absl::StatusOr<PlannedCreation> PlanRequest(const v1::CreateArrayRequest& request,
                                            const PlanningContext& context) {
  const absl::StatusOr<kernels::ElementType> type =
      FromWire(request.element_type(), "element_type");
  if (!type.ok()) return type.status();
  absl::StatusOr<kernels::ShapedArray> description =
      ValidateShape(*type, request.shape(), request.zero_dimensional(), "");
  if (!description.ok()) return description.status();
  description->is_bool = IsBool(request.element_type());
  const absl::StatusOr<std::chrono::nanoseconds> idle_expiry =
      ValidateNewArray(request.name(), request.has_idle_expiry() ? &request.idle_expiry() : nullptr,
                       "", context.arrays);
  if (!idle_expiry.ok()) return idle_expiry.status();
  if (request.has_device() && request.device() >= context.limits.engine_count) {
    return InvalidField("device", absl::StrCat("there is no device ", request.device(),
                                               "; this server has ", context.limits.engine_count));
  }
  const absl::StatusOr<bool> is_sharded = ValidatePlacement(request, *description, context.limits);
  if (!is_sharded.ok()) return is_sharded.status();
  if (*is_sharded && description->is_bool) {
    return InvalidField("element_type", "a sharded array has no bool: use uint8");
  }
  const uint32_t engine =
      request.has_device() ? request.device() : context.arrays.EngineWithMostRoom();
  return PlannedCreation{request.name(), *description, *idle_expiry,
                         engine,         *is_sharded,  context.arrays};
}

absl::StatusOr<PlannedRead> PlanRequest(const v1::ReadArrayRequest& request,
                                        const PlanningContext& context) {
  absl::StatusOr<ResidentSlice> slice =
      ValidateResidentArray(request.array(), "array", context.arrays);
  if (!slice.ok()) return slice.status();
  if (slice->view && slice->is_sharded()) {
    return InvalidField("array.view",
                        "lies on several devices, of which elements are read that follow one "
                        "another");
  }
  const uint64_t element_bytes = kernels::ElementSize(slice->description.element_type);
  const uint64_t bytes_max = context.limits.array_chunk_bytes_max();
  const uint64_t chunk_bytes = request.chunk_bytes_max() == 0
                                   ? std::min(kArrayChunkBytesDefault, bytes_max)
                                   : request.chunk_bytes_max();
  if (chunk_bytes < element_bytes || chunk_bytes > bytes_max) {
    return InvalidField("chunk_bytes_max",
                        absl::StrCat(chunk_bytes, " is not between the ", element_bytes,
                                     " bytes of one element and ", bytes_max));
  }
  return PlannedRead{*std::move(slice), chunk_bytes / element_bytes};
}

absl::StatusOr<PlannedPage> PlanPage(uint32_t page_size, const std::string& page_token,
                                     const Limits& limits) {
  if (!page_token.empty()) {
    absl::Status status = ValidateArrayName(page_token, "page_token");
    if (!status.ok()) return status;
  }
  const uint64_t count_max = page_size == 0 ? kArrayPageSizeDefault : page_size;
  return PlannedPage{page_token, std::min(count_max, limits.array_page_size_max())};
}

absl::StatusOr<PlannedPage> PlanRequest(const v1::ListArraysRequest& request,
                                        const Limits& limits) {
  return PlanPage(request.page_size(), request.page_token(), limits);
}

absl::StatusOr<ArrayLease> PlanWrite(const v1::WriteArrayHeader& header,
                                     const TenantArrays& arrays) {
  if (absl::Status status = ValidateArrayName(header.name(), "header.name"); !status.ok()) {
    return status;
  }
  absl::StatusOr<FoundArray> found = arrays.Find(header.name());
  if (!found.ok()) return found.status();
  return std::move(found->lease);
}

absl::StatusOr<std::vector<ArrayShard>> PlacesOfChunk(const v1::WriteArrayRequest& chunk,
                                                      const StoredArray& array,
                                                      const Limits& limits) {
  const kernels::ShapedArray& description = array.description();
  const uint64_t element_bytes = kernels::ElementSize(description.element_type);
  const uint64_t size_bytes = chunk.data().size();
  if (size_bytes > limits.array_chunk_bytes_max()) {
    return InvalidField("data", absl::StrCat(size_bytes, " bytes are more than the ",
                                             limits.array_chunk_bytes_max(), " of a chunk"));
  }
  if (size_bytes % element_bytes != 0) {
    return InvalidField(
        "data", absl::StrCat(size_bytes, " bytes are not a multiple of the ", element_bytes,
                             " bytes of one ", kernels::ElementTypeName(description.element_type)));
  }
  if (chunk.first_element() > description.element_count() ||
      size_bytes / element_bytes > description.element_count() - chunk.first_element()) {
    return InvalidField(
        "first_element",
        absl::StrCat(size_bytes / element_bytes, " elements from ", chunk.first_element(),
                     " on are not all among the array's ", description.element_count()));
  }
  return CutShards(array.shards(), chunk.first_element(), size_bytes / element_bytes);
}

}  // namespace gridfold::server
