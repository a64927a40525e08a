#include "client/load/work/result_places.h"

#include <cassert>

#include "gridfold/v1/compute_service.pb.h"

namespace gridfold::load {
namespace {

grpc::Slice WireFieldOf(const client::RegionDestination& destination) {
  v1::ScanArrayRequest request;
  v1::RegionDestination& region = *request.mutable_destination()->mutable_region();
  region.set_name(destination.name);
  region.set_offset_bytes(destination.offset_bytes);
  return grpc::Slice(request.SerializeAsString());
}

}  // namespace

ResultPlaces::ResultPlaces(const client::SharedRegion& region, uint64_t place_bytes) {
  const std::span<std::byte> bytes = region.bytes();
  for (uint64_t offset = 0; offset + place_bytes <= bytes.size(); offset += place_bytes) {
    const client::RegionDestination destination = region.Destination(offset);
    places_.push_back({.destination = destination,
                       .bytes = bytes.subspan(offset, place_bytes),
                       .wire_field = WireFieldOf(destination)});
  }
  for (ResultPlace& place : places_) free_.push_back(&place);
}

ResultPlace& ResultPlaces::Take() {
  const absl::MutexLock lock(&mutex_);
  assert(!free_.empty());
  ResultPlace& place = *free_.back();
  free_.pop_back();
  return place;
}

void ResultPlaces::GiveBack(ResultPlace& place, bool has_succeeded) {
  place.is_settled = place.is_settled && has_succeeded;
  const absl::MutexLock lock(&mutex_);
  free_.push_back(&place);
}

}  // namespace gridfold::load
