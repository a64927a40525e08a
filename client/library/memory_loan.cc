#include "client/library/memory_loan.h"

#include <span>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "grpcpp/support/slice.h"

namespace gridfold::client {
namespace {

// Below this a copy is cheaper than keeping account of a loan.
constexpr size_t kCopiedBytesMax = size_t{64} << 10;

}  // namespace

grpc::ByteBuffer MemoryLoan::Lend(const WireMessage& message) {
  std::vector<grpc::Slice> slices;
  for (const WireMessage::Piece& piece : message.pieces()) {
    const std::span<const std::byte> bytes = piece.bytes();
    if (piece.borrowed.size() <= kCopiedBytesMax) {
      slices.emplace_back(bytes.data(), bytes.size());
      continue;
    }
    lent_slices_.fetch_add(1, std::memory_order_relaxed);
    // gRPC's type for a slice is not const, but it only reads what it sends.
    slices.emplace_back(const_cast<std::byte*>(bytes.data()), bytes.size(), &MemoryLoan::Return,
                        this);
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

void MemoryLoan::WaitUntilReturned(grpc::CompletionQueue& queue) const {
  while (!IsReturned()) {
    void* tag = nullptr;
    bool ok = false;
    queue.AsyncNext(&tag, &ok, absl::ToChronoTime(absl::Now() + absl::Milliseconds(1)));
  }
}

void MemoryLoan::Return(void* loan) {
  static_cast<MemoryLoan*>(loan)->lent_slices_.fetch_sub(1, std::memory_order_release);
}

}  // namespace gridfold::client
