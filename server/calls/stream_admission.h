// Bounds on all streams that compute, together: their number, and the memory of data that has
// arrived and waits; both are shared by tenants as server/base/shared_room.h says. Counts what is
// in use, and what was refused. Thread-safe.
#ifndef GRIDFOLD_SERVER_CALLS_STREAM_ADMISSION_H_
#define GRIDFOLD_SERVER_CALLS_STREAM_ADMISSION_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "server/base/limits.h"
#include "server/base/shared_room.h"

namespace gridfold::server {

struct StreamStatistics {
  uint64_t open = 0;
  uint64_t held_bytes = 0;
  // Streams that were refused: as many as may be were open, the places left were for other tenants,
  // or the others' bytes left no room.
  uint64_t refused_by_count = 0;
  uint64_t refused_by_share = 0;
  uint64_t refused_by_bytes = 0;
};

class StreamAdmission {
 public:
  StreamAdmission(uint64_t stream_count_max, uint64_t bytes_max, const TenantWeights& weights)
      : places_(stream_count_max, weights), bytes_(bytes_max, weights) {}

  // Takes a place for one more stream of the tenant, which must Leave. Why not, where there is none
  // for it.
  std::optional<RoomRefusal> Enter(std::string_view tenant) {
    const std::optional<RoomRefusal> refusal = places_.Take(tenant, 1);
    if (refusal) ++(*refusal == RoomRefusal::kFull ? refused_by_count_ : refused_by_share_);
    return refusal;
  }
  void Leave(std::string_view tenant) { places_.GiveBack(tenant, 1); }

  // Bytes that have arrived. A message is there before anybody knows how long it is, so it counts
  // even where there is no room for it.
  void Hold(std::string_view tenant, uint64_t bytes) { bytes_.TakeAnyway(tenant, bytes); }
  void Release(std::string_view tenant, uint64_t bytes) { bytes_.GiveBack(tenant, bytes); }

  // Whether a stream that already holds bytes may read on. One that could do nothing else may
  // always read one more message, so that no stream waits for another.
  bool HasRoom(std::string_view tenant) const { return !bytes_.Check(tenant, 1); }
  // Reserves so many bytes if there is room for them, and returns whether there was. If not, the
  // stream is refused.
  bool HoldWhereThereIsRoom(std::string_view tenant, uint64_t bytes) {
    const bool has_room = !bytes_.Take(tenant, bytes);
    if (!has_room) ++refused_by_bytes_;
    return has_room;
  }

  StreamStatistics GetStatistics() const {
    return {.open = places_.taken(),
            .held_bytes = bytes_.taken(),
            .refused_by_count = refused_by_count_.load(),
            .refused_by_share = refused_by_share_.load(),
            .refused_by_bytes = refused_by_bytes_.load()};
  }

 private:
  SharedRoom places_;
  SharedRoom bytes_;
  std::atomic<uint64_t> refused_by_count_ = 0;
  std::atomic<uint64_t> refused_by_share_ = 0;
  std::atomic<uint64_t> refused_by_bytes_ = 0;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_CALLS_STREAM_ADMISSION_H_
