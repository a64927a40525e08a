// What the server tells of itself, as messages of gridfold.v1: times, devices, limits, arrays and
// regions. Pure functions; thread-safe.
#ifndef GRIDFOLD_SERVER_WIRE_DESCRIPTION_CONVERSION_H_
#define GRIDFOLD_SERVER_WIRE_DESCRIPTION_CONVERSION_H_

#include <chrono>
#include <cstdint>

#include "google/protobuf/duration.pb.h"
#include "google/protobuf/repeated_field.h"
#include "gridfold/v1/array.pb.h"
#include "gridfold/v1/region_service.pb.h"
#include "gridfold/v1/server_service.pb.h"
#include "kernels/contract/engine.h"
#include "kernels/contract/shape.h"
#include "server/arrays/array_info.h"
#include "server/base/limits.h"
#include "server/regions/region_info.h"

namespace gridfold::server {

google::protobuf::Duration ToWire(std::chrono::nanoseconds duration);
v1::Device ToWire(const kernels::DeviceDescription& device);
v1::ServerLimits ToWire(const Limits& limits);
v1::ArrayDescription ToWire(const ArrayInfo& array);
v1::RegionDescription ToWire(const RegionInfo& region);

// Adds the shape's extents.
void AddShape(const kernels::Shape& shape, google::protobuf::RepeatedField<uint64_t>& extents);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_WIRE_DESCRIPTION_CONVERSION_H_
