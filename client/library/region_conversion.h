// Shared-memory regions to and from the wire.
#ifndef GRIDFOLD_CLIENT_LIBRARY_REGION_CONVERSION_H_
#define GRIDFOLD_CLIENT_LIBRARY_REGION_CONVERSION_H_

#include "absl/status/statusor.h"
#include "client/library/wire_message.h"
#include "gridfold/region.h"
#include "gridfold/v1/array.pb.h"
#include "gridfold/v1/region_service.pb.h"

namespace gridfold::client {

WireMessage ToWire(const NewRegion& region);

RegionDescription FromProto(const v1::RegionDescription& description);

v1::RegionSlice ToProto(const RegionSlice& slice);

// INTERNAL where the type is none of the element types.
absl::StatusOr<RegionSlice> FromProto(const v1::RegionSlice& slice);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_REGION_CONVERSION_H_
