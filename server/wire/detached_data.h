// A request's array data that is not in the decoded message: it stays in the transport's buffers
// until a lane copies it to where kernels read it. Not thread-safe while it is filled; after that
// const, and thread-safe.
#ifndef GRIDFOLD_SERVER_WIRE_DETACHED_DATA_H_
#define GRIDFOLD_SERVER_WIRE_DETACHED_DATA_H_

#include <grpcpp/support/slice.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "google/protobuf/io/zero_copy_stream.h"
#include "kernels/contract/array.h"
#include "kernels/contract/resident_memory.h"
#include "server/wire/message_survey.h"
#include "server/wire/piece_queue.h"

namespace gridfold::server {

// The least data of a request's arrays that is left in the transport's buffers: below it a copy
// takes no longer (server/BENCHMARKS.md), and holds no buffer that other messages share.
inline constexpr size_t kDetachedBytesMin = size_t{64} << 10;

class DetachedData {
 public:
  DetachedData() = default;
  DetachedData(const DetachedData&) = delete;
  DetachedData& operator=(const DetachedData&) = delete;

  // Adds what is next in order.
  void Add(PieceQueue data);

  // The data that has been detached from `field` of the decoded message; valid until something is
  // added. Nothing where the field has its data itself.
  std::optional<kernels::HostSlices> Find(const std::string& field) const;

  // Releases all of it.
  void Clear() { arrays_.clear(); }

 private:
  struct Array {
    PieceQueue data;
    std::vector<kernels::HostSpan> pieces;
  };

  std::vector<Array> arrays_;
};

// What is left of a message in `slices`, whose survey has found `edits`, for Protobuf to parse; the
// bulk data goes to `detached`. The slices must stay where they are until it is parsed.
std::unique_ptr<google::protobuf::io::ZeroCopyInputStream> Detach(
    const std::vector<grpc::Slice>& slices, const std::vector<WireEdit>& edits,
    DetachedData& detached);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_WIRE_DETACHED_DATA_H_
