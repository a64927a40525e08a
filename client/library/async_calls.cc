#include "client/library/async_calls.h"

#include <utility>
#include <vector>

namespace gridfold::client {

AsyncCalls::AsyncCalls(ChannelPool& channels) : channels_(channels), thread_([this] { Serve(); }) {}

AsyncCalls::~AsyncCalls() {
  CancelAll();
  {
    const absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &AsyncCalls::HaveEnded));
  }
  queue_.Shutdown();
  thread_.join();
}

PendingCall AsyncCalls::Start(std::string method, grpc::ByteBuffer request, CallHead head,
                              const RetrySchedule& schedule,
                              std::function<void(AsyncCall::Answer)> done) {
  const auto call =
      std::make_shared<AsyncCall>(channels_, queue_, schedule, std::move(method),
                                  std::move(request), std::move(head), std::move(done));
  if (!Remember(call)) {
    call->Finish();
    return PendingCall();
  }
  call->Begin();
  return PendingCall(call);
}

bool AsyncCalls::Remember(const std::shared_ptr<AsyncCall>& call) {
  const absl::MutexLock lock(&mutex_);
  if (!is_closing_) calls_.emplace(call.get(), call);
  return !is_closing_;
}

void AsyncCalls::Forget(AsyncCall* call) {
  // What the call's function holds goes without the lock.
  std::shared_ptr<AsyncCall> last;
  const absl::MutexLock lock(&mutex_);
  const auto place = calls_.find(call);
  last = std::move(place->second);
  calls_.erase(place);
}

void AsyncCalls::Serve() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
    auto* const call = static_cast<AsyncCall*>(tag);
    if (call->Continue()) continue;
    call->Finish();
    Forget(call);
  }
}

void AsyncCalls::CancelAll() {
  std::vector<std::shared_ptr<AsyncCall>> calls;
  {
    const absl::MutexLock lock(&mutex_);
    is_closing_ = true;
    for (const auto& [tag, call] : calls_) calls.push_back(call);
  }
  for (const std::shared_ptr<AsyncCall>& call : calls) call->Cancel();
}

}  // namespace gridfold::client
