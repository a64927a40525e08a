// A call with its retries on a completion queue, for which no thread waits.
#ifndef GRIDFOLD_CLIENT_LIBRARY_ASYNC_CALL_H_
#define GRIDFOLD_CLIENT_LIBRARY_ASYNC_CALL_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/library/cancellation.h"
#include "client/library/channel_pool.h"
#include "client/library/retry.h"
#include "client/library/unary_call.h"
#include "grpcpp/alarm.h"
#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/support/byte_buffer.h"

namespace gridfold::client {

// Either an attempt is under way or a wait for the next one: the queue brings the call, as its tag,
// when that has ended. Begin and Cancel may be called by any thread; the thread of the queue calls
// the rest.
class AsyncCall {
 public:
  using Answer = absl::StatusOr<grpc::ByteBuffer>;

  // `channels` and `queue` must outlive the call.
  AsyncCall(ChannelPool& channels, grpc::CompletionQueue& queue, const RetrySchedule& schedule,
            std::string method, grpc::ByteBuffer request, CallHead head,
            std::function<void(Answer)> done);

  // Starts the first attempt.
  void Begin();

  // Goes on from where the queue has brought the call. False at its end: then comes Finish.
  bool Continue();

  // Tells how the call has ended; of one that has not begun, that it is given up.
  void Finish();

  // Ends the call soon, with CANCELLED if it has not ended by itself.
  void Cancel();

 private:
  struct Attempt {
    grpc::ClientContext context;
    std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
    grpc::ByteBuffer answer;
    grpc::Status status;
  };

  void Try() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends the attempt: its answer or error.
  Answer Take() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  ChannelPool& channels_;
  grpc::CompletionQueue& queue_;
  const std::string method_;
  const grpc::ByteBuffer request_;
  const CallHead head_;
  const std::function<void(Answer)> done_;

  absl::Mutex mutex_;
  RetrySchedule schedule_ ABSL_GUARDED_BY(mutex_);
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<Attempt> attempt_ ABSL_GUARDED_BY(mutex_);  // Null during a wait.
  std::optional<grpc::Alarm> alarm_ ABSL_GUARDED_BY(mutex_);
  Answer answer_ ABSL_GUARDED_BY(mutex_) = Cancellation::Error();
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_ASYNC_CALL_H_
