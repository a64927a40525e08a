// Any number of calls at once, served by one thread.
#ifndef GRIDFOLD_CLIENT_LIBRARY_ASYNC_CALLS_H_
#define GRIDFOLD_CLIENT_LIBRARY_ASYNC_CALLS_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "client/library/async_call.h"
#include "client/library/channel_pool.h"
#include "client/library/retry.h"
#include "client/library/unary_call.h"
#include "gridfold/pending_call.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/support/byte_buffer.h"

namespace gridfold::client {

// The thread runs from construction to destruction. Thread-safe.
class AsyncCalls {
 public:
  // `channels` must outlive the calls.
  explicit AsyncCalls(ChannelPool& channels);
  // Cancels the calls, and waits until their callers have been told.
  ~AsyncCalls();
  AsyncCalls(const AsyncCalls&) = delete;
  AsyncCalls& operator=(const AsyncCalls&) = delete;

  // Begins a call. `done` is told its end by the thread.
  PendingCall Start(std::string method, grpc::ByteBuffer request, CallHead head,
                    const RetrySchedule& schedule, std::function<void(AsyncCall::Answer)> done);

 private:
  void Serve();
  // False where the calls are being cancelled: one that a caller starts when he is told.
  bool Remember(const std::shared_ptr<AsyncCall>& call);
  void Forget(AsyncCall* call);
  void CancelAll();
  bool HaveEnded() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return calls_.empty(); }

  ChannelPool& channels_;
  grpc::CompletionQueue queue_;
  absl::Mutex mutex_;
  // Those that the queue will bring, by their tags.
  std::unordered_map<void*, std::shared_ptr<AsyncCall>> calls_ ABSL_GUARDED_BY(mutex_);
  bool is_closing_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_ASYNC_CALLS_H_
