// The caller's memory, lent to gRPC for one attempt of a call.
#ifndef GRIDFOLD_CLIENT_LIBRARY_MEMORY_LOAN_H_
#define GRIDFOLD_CLIENT_LIBRARY_MEMORY_LOAN_H_

#include <atomic>
#include <cstddef>

#include "client/library/wire_message.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/support/byte_buffer.h"

namespace gridfold::client {

// Turns a WireMessage into slices that point at the caller's memory, and knows when gRPC has let go
// of them. That is not when the call ends: its bytes may still wait for the connection.
//
// Thread-safe. Must outlive every slice: destroy it only after IsReturned().
class MemoryLoan {
 public:
  MemoryLoan() = default;
  MemoryLoan(const MemoryLoan&) = delete;
  MemoryLoan& operator=(const MemoryLoan&) = delete;

  // The bytes of `message`, whose arrays must outlive the loan.
  grpc::ByteBuffer Lend(const WireMessage& message);

  // Whether no slice points at the caller's memory any more.
  bool IsReturned() const { return lent_slices_.load(std::memory_order_acquire) == 0; }

  // Lets gRPC work until that is so. `queue` was the call's, and delivers nothing any more, but
  // whoever waits on it lends his thread to the connections.
  void WaitUntilReturned(grpc::CompletionQueue& queue) const;

 private:
  static void Return(void* loan);

  std::atomic<size_t> lent_slices_ = 0;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_MEMORY_LOAN_H_
