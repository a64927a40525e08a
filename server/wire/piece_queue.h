// Bytes of an array that have arrived and wait to be computed on, in the pieces in which they came.
// Not thread-safe.
#ifndef GRIDFOLD_SERVER_WIRE_PIECE_QUEUE_H_
#define GRIDFOLD_SERVER_WIRE_PIECE_QUEUE_H_

#include <grpcpp/support/slice.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "kernels/contract/array.h"

namespace gridfold::server {

// First in, first out. Pieces stay where they are, except for small ones, which are copied
// together: however an array is cut, it takes at most twice its size in memory.
class PieceQueue {
 public:
  PieceQueue() = default;
  PieceQueue(PieceQueue&&) = default;
  PieceQueue& operator=(PieceQueue&&) = default;

  uint64_t size_bytes() const { return size_bytes_; }

  void Append(const grpc::Slice& bytes);
  // Takes all that is in `other`.
  void Append(PieceQueue& other);

  // Views of the first bytes, valid until the queue changes. `size_bytes` is at most that of the
  // queue.
  std::vector<kernels::HostSpan> First(uint64_t size_bytes) const;

  void RemoveFirst(uint64_t size_bytes);

 private:
  struct Piece {
    grpc::Slice slice;
    std::string copied;       // In place of the slice, where it is not empty.
    size_t offset_bytes = 0;  // What of it is gone.

    size_t size_bytes() const {
      return (copied.empty() ? slice.size() : copied.size()) - offset_bytes;
    }
    const std::byte* data() const {
      return (copied.empty() ? reinterpret_cast<const std::byte*>(slice.begin())
                             : reinterpret_cast<const std::byte*>(copied.data())) +
             offset_bytes;
    }
  };

  std::deque<Piece> pieces_;
  uint64_t size_bytes_ = 0;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_WIRE_PIECE_QUEUE_H_
