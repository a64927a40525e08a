// Calls that their callers give up.
#ifndef GRIDFOLD_CLIENT_LIBRARY_CANCELLATION_H_
#define GRIDFOLD_CLIENT_LIBRARY_CANCELLATION_H_

#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"

namespace gridfold::client {

// How often a waiting thread asks whether its call is given up.
inline constexpr absl::Duration kCancellationInterval = absl::Milliseconds(50);

// Asks CallOptions::is_cancelled. As thread-safe as that is.
class Cancellation {
 public:
  explicit Cancellation(std::function<bool()> is_cancelled)
      : is_cancelled_(std::move(is_cancelled)) {}

  bool IsPossible() const { return is_cancelled_ != nullptr; }
  bool IsCancelled() const { return IsPossible() && is_cancelled_(); }

  // Waits for the one operation under way on `queue`, of the call of `context`, which is cancelled
  // where it is to be given up. Whether the operation succeeded.
  bool WaitFor(grpc::CompletionQueue& queue, grpc::ClientContext& context) const;

  // What a call ends with that was given up.
  static absl::Status Error() { return absl::CancelledError("the caller has given up the call"); }

 private:
  const std::function<bool()> is_cancelled_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_CANCELLATION_H_
