#include "client/library/cancellation.h"

#include "absl/time/clock.h"

namespace gridfold::client {

bool Cancellation::WaitFor(grpc::CompletionQueue& queue, grpc::ClientContext& context) const {
  void* tag = nullptr;
  bool ok = false;
  if (!IsPossible()) return queue.Next(&tag, &ok) && ok;
  while (true) {
    const auto next =
        queue.AsyncNext(&tag, &ok, absl::ToChronoTime(absl::Now() + kCancellationInterval));
    if (next != grpc::CompletionQueue::TIMEOUT)
      return next == grpc::CompletionQueue::GOT_EVENT && ok;
    if (IsCancelled()) context.TryCancel();
  }
}

}  // namespace gridfold::client
