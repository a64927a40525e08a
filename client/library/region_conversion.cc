#include "client/library/region_conversion.h"

#include "absl/strings/str_cat.h"
#include "client/library/proto_time.h"
#include "client/library/shared_conversion.h"

namespace gridfold::client {

WireMessage ToWire(const NewRegion& region) {
  v1::RegisterRegionRequest request;
  request.set_name(region.name);
  request.set_size_bytes(region.size_bytes);
  if (region.cuda_ipc) {
    request.mutable_cuda_ipc()->set_handle(region.cuda_ipc->handle);
    request.mutable_cuda_ipc()->set_device(region.cuda_ipc->device);
  } else {
    request.mutable_posix_shared_memory()->set_object_name(region.object_name);
  }
  if (region.idle_expiry) *request.mutable_idle_expiry() = ToProto(*region.idle_expiry);
  request.set_owner_process_id(region.owner_process_id.value_or(0));
  return WireMessage::Of(request);
}

RegionDescription FromProto(const v1::RegionDescription& description) {
  RegionDescription region{.name = description.name(),
                           .size_bytes = description.size_bytes(),
                           .idle_expiry = FromProto(description.idle_expiry()),
                           .idle_time = FromProto(description.idle_time())};
  if (description.owner_process_id() != 0) {
    region.owner_process_id = description.owner_process_id();
  }
  return region;
}

v1::RegionSlice ToProto(const RegionSlice& slice) {
  v1::RegionSlice proto;
  proto.set_name(slice.name);
  proto.set_offset_bytes(slice.offset_bytes);
  proto.set_element_type(static_cast<v1::ElementType>(slice.element_type));
  proto.mutable_shape()->Add(slice.shape.begin(), slice.shape.end());
  proto.set_zero_dimensional(slice.shape.empty());
  return proto;
}

absl::StatusOr<RegionSlice> FromProto(const v1::RegionSlice& slice) {
  RegionSlice result{.name = slice.name(),
                     .offset_bytes = slice.offset_bytes(),
                     .element_type = static_cast<ElementType>(slice.element_type()),
                     .shape = ToVector<uint64_t>(slice.shape())};
  if (ElementSizeBytes(result.element_type) == 0) {
    return absl::InternalError(
        absl::StrCat("the server's answer has an array of element type ", slice.element_type()));
  }
  return result;
}

}  // namespace gridfold::client
