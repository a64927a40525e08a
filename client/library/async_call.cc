#include "client/library/async_call.h"

#include <utility>

#include "absl/time/clock.h"
#include "gridfold/pending_call.h"

namespace gridfold::client {

AsyncCall::AsyncCall(ChannelPool& channels, grpc::CompletionQueue& queue,
                     const RetrySchedule& schedule, std::string method, grpc::ByteBuffer request,
                     CallHead head, std::function<void(Answer)> done)
    : channels_(channels),
      queue_(queue),
      method_(std::move(method)),
      request_(std::move(request)),
      head_(std::move(head)),
      done_(std::move(done)),
      schedule_(schedule) {}

void AsyncCall::Begin() {
  const absl::MutexLock lock(&mutex_);
  Try();
}

void AsyncCall::Try() {
  attempt_ = std::make_unique<Attempt>();
  head_.ApplyTo(attempt_->context);
  grpc::GenericStub stub(channels_.NextAtOnce());
  attempt_->reader = stub.PrepareUnaryCall(&attempt_->context, method_, request_, &queue_);
  attempt_->reader->StartCall();
  attempt_->reader->Finish(&attempt_->answer, &attempt_->status, this);
  if (is_cancelled_) attempt_->context.TryCancel();
}

AsyncCall::Answer AsyncCall::Take() {
  const std::unique_ptr<Attempt> ended = std::move(attempt_);
  if (ended->status.ok()) return std::move(ended->answer);
  return ErrorOf(ended->status, is_cancelled_);
}

bool AsyncCall::Continue() {
  const absl::MutexLock lock(&mutex_);
  if (attempt_ == nullptr) {
    if (is_cancelled_) {
      answer_ = Cancellation::Error();
      return false;
    }
    Try();
    return true;
  }
  answer_ = Take();
  if (answer_.ok() || is_cancelled_) return false;
  const absl::Time now = absl::Now();
  const std::optional<absl::Duration> wait =
      schedule_.WaitAfter(answer_.status(), now, SystemRandomFraction());
  if (!wait) return false;
  alarm_.emplace();
  alarm_->Set(&queue_, absl::ToChronoTime(now + *wait), this);
  return true;
}

void AsyncCall::Finish() {
  Answer answer;
  {
    const absl::MutexLock lock(&mutex_);
    answer = std::move(answer_);
  }
  done_(std::move(answer));
}

void AsyncCall::Cancel() {
  const absl::MutexLock lock(&mutex_);
  is_cancelled_ = true;
  if (attempt_ != nullptr) {
    attempt_->context.TryCancel();
  } else if (alarm_) {
    alarm_->Cancel();
  }
}

void PendingCall::Cancel() const {
  if (const std::shared_ptr<AsyncCall> call = call_.lock()) call->Cancel();
}

}  // namespace gridfold::client
