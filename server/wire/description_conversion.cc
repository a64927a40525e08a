#include "server/wire/description_conversion.h"

#include <cstdint>

#include "server/wire/proto_conversion.h"

namespace gridfold::server {

google::protobuf::Duration ToWire(std::chrono::nanoseconds duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  google::protobuf::Duration wire;
  wire.set_seconds(seconds.count());
  wire.set_nanos(static_cast<int32_t>((duration - seconds).count()));
  return wire;
}

v1::Device ToWire(const kernels::DeviceDescription& device) {
  v1::Device wire;
  wire.set_name(device.name);
  wire.set_memory_bytes(device.memory_bytes);
  wire.set_compute_units(device.compute_units);
  wire.set_compute_capability(device.compute_capability);
  wire.set_uuid(device.uuid);
  return wire;
}

v1::ServerLimits ToWire(const Limits& limits) {
  v1::ServerLimits wire;
  wire.set_message_bytes_max(limits.message_bytes_max);
  wire.set_bin_count_max(limits.bin_count_max);
  wire.set_group_count_max(limits.group_count_max);
  wire.set_lane_count(limits.lane_count_of_all());
  wire.set_queued_jobs_max(limits.queued_jobs_max);
  wire.set_queued_bytes_max(limits.queued_bytes_max);
  wire.set_resident_bytes_max(limits.resident_bytes_of_all());
  wire.set_tenant_resident_bytes_max(limits.tenant_bytes_max());
  wire.set_array_count_max(limits.array_count_max);
  wire.set_array_chunk_bytes_max(limits.array_chunk_bytes_max());
  if (limits.regions_allowed) {
    wire.set_region_count_max(limits.region_count_max);
    wire.set_region_bytes_max(limits.region_bytes_max);
  }
  wire.set_stream_count_max(limits.stream_count_max);
  wire.set_stream_pending_bytes_max(kStreamPendingBytes);
  wire.set_batch_operations_max(limits.batch_operations_max);
  wire.set_dealt_bytes_min(limits.engine_count > 1 ? limits.dealt_bytes_min : 0);
  return wire;
}

v1::ArrayDescription ToWire(const ArrayInfo& array) {
  const kernels::ShapedArray& description = array.description;
  v1::ArrayDescription wire;
  wire.set_name(array.name);
  wire.set_element_type(ToWire(description.element_type, description.is_bool));
  AddShape(description.shape, *wire.mutable_shape());
  wire.set_size_bytes(description.size_bytes());
  *wire.mutable_idle_expiry() = ToWire(array.idle_expiry);
  *wire.mutable_idle_time() = ToWire(array.idle_time);
  wire.set_device(array.engine);
  for (const ArrayShard& shard : array.shards) {
    v1::ArrayShard& described = *wire.add_shards();
    described.set_device(shard.engine);
    described.set_first_element(shard.first_element);
    described.set_element_count(shard.element_count);
  }
  return wire;
}

v1::RegionDescription ToWire(const RegionInfo& region) {
  v1::RegionDescription wire;
  wire.set_name(region.name);
  wire.set_size_bytes(region.size_bytes);
  *wire.mutable_idle_expiry() = ToWire(region.idle_expiry);
  *wire.mutable_idle_time() = ToWire(region.idle_time);
  wire.set_owner_process_id(region.owner_process_id);
  return wire;
}

void AddShape(const kernels::Shape& shape, google::protobuf::RepeatedField<uint64_t>& extents) {
  extents.Add(shape.extents().begin(), shape.extents().end());
}

}  // namespace gridfold::server
