// Calls that are under way while no thread waits for them.
//
//   gridfold::client::PendingCall call = client->StartReduceArray(
//       samples, {.statistics = {Statistic::kSum}}, {},
//       [&](absl::StatusOr<gridfold::client::ReductionResult> result) { Keep(std::move(result));
//       });
//   ...
//   call.Cancel();
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_PENDING_CALL_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_PENDING_CALL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"

namespace gridfold::client {

class AsyncCall;

// The most bytes of the caller's arrays that a call carries which nobody waits for. They are
// copied.
inline constexpr uint64_t kStartedBytesMax = uint64_t{48} << 10;

// Told how a call has ended: once, by a thread of the client that serves all such calls, or, where
// the call cannot be made, before the function that starts it returns. No lock is held. It must not
// wait for long, as other calls' answers wait for it, nor destroy the client; it may start calls.
template <typename Result>
using Done = std::function<void(absl::StatusOr<Result> result)>;

// One call that has been started. Copies are of the same call, which goes on without them. May
// outlive the client. Thread-safe.
class PendingCall {
 public:
  // Of a call that has ended.
  PendingCall() = default;
  explicit PendingCall(std::weak_ptr<AsyncCall> call) : call_(std::move(call)) {}

  // Gives the call up, on the server too: it ends at once with CANCELLED, unless it has just ended.
  void Cancel() const;

 private:
  std::weak_ptr<AsyncCall> call_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_PENDING_CALL_H_
