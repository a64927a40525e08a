// Shared memory into which the server writes the results of scans.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_RESULT_PLACES_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_RESULT_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "gridfold/scan.h"
#include "gridfold/shared_region.h"
#include "grpcpp/support/slice.h"

namespace gridfold::load {

struct ResultPlace {
  client::RegionDestination destination;
  std::span<std::byte> bytes;
  // The field that asks for the results there. Where a message has a destination already, the one
  // that stands last counts.
  grpc::Slice wire_field;
  // False from a call that failed on: the server may still be writing its results.
  bool is_settled = true;
};

// A region in equal parts, one for each call that is under way. Thread-safe.
class ResultPlaces {
 public:
  // Where something begins in a region: as far apart as any device wants for its widest accesses.
  static constexpr uint64_t kAlignmentBytes = 256;

  // As many places as fit, of `place_bytes`, a multiple of the alignment. The region's memory must
  // outlive them.
  ResultPlaces(const client::SharedRegion& region, uint64_t place_bytes);

  // One of which nobody else knows. There must not be more calls than places.
  ResultPlace& Take();
  // After the call.
  void GiveBack(ResultPlace& place, bool has_succeeded);

 private:
  std::vector<ResultPlace> places_;
  absl::Mutex mutex_;
  std::vector<ResultPlace*> free_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_RESULT_PLACES_H_
