#include "client/library/open_stream.h"

#include <utility>

#include "client/library/status_conversion.h"

namespace gridfold::client {

grpc::Status OpenStream::Reactor::WaitUntilDone() {
  const absl::MutexLock lock(&mutex_);
  Await(absl::Condition(
      +[](std::optional<grpc::Status>* status) { return status->has_value(); }, &status_));
  return *status_;
}

void OpenStream::Reactor::Close() {
  const absl::MutexLock lock(&mutex_);
  is_closed_ = true;
  WaitFor(write_);
  WaitFor(read_);
}

void OpenStream::Reactor::WaitFor(const Operation& operation) {
  const auto is_over = +[](const Operation* waited) { return !waited->is_under_way; };
  Await(absl::Condition(is_over, &operation));
}

void OpenStream::Reactor::Await(const absl::Condition& condition) {
  if (!cancellation_.IsPossible()) return mutex_.Await(condition);
  while (!mutex_.AwaitWithTimeout(condition, kCancellationInterval)) {
    if (cancellation_.IsCancelled()) context_.TryCancel();
  }
}

void OpenStream::Reactor::OnDone(const grpc::Status& status) {
  const absl::MutexLock lock(&mutex_);
  status_ = status;
}

void OpenStream::Reactor::End(Operation& operation, bool ok) {
  const absl::MutexLock lock(&mutex_);
  operation = {.is_under_way = false, .ok = ok};
}

OpenStream::OpenStream(const std::shared_ptr<grpc::Channel>& channel, std::string method,
                       const CallHead& head)
    : method_(std::move(method)), stub_(channel), reactor_(context_, head.is_cancelled) {
  head.ApplyTo(context_);
  stub_.PrepareBidiStreamingCall(&context_, method_, grpc::StubOptions(), &reactor_);
  // Operations are started by the callers' threads, so the call must not end by itself.
  reactor_.AddHold();
  reactor_.StartCall();
}

OpenStream::~OpenStream() {
  {
    const absl::MutexLock lock(&reading_);
    if (is_finished_) return;
  }
  context_.TryCancel();
  (void)Finish();
}

bool OpenStream::Write(const grpc::ByteBuffer& message) {
  return reactor_.RunWrite([&] { reactor_.StartWrite(&message); });
}

void OpenStream::WritesDone() {
  (void)reactor_.RunWrite([&] { reactor_.StartWritesDone(); });
}

std::optional<grpc::ByteBuffer> OpenStream::Read() {
  const absl::MutexLock lock(&reading_);
  if (kept_.empty()) return Receive();
  std::optional<grpc::ByteBuffer> message(std::move(kept_.front()));
  kept_.pop_front();
  return message;
}

absl::Status OpenStream::Finish() {
  const absl::MutexLock lock(&reading_);
  return WaitForEnd();
}

absl::Status OpenStream::StatusOfEnded() {
  const absl::MutexLock lock(&reading_);
  while (std::optional<grpc::ByteBuffer> message = Receive()) kept_.push_back(*std::move(message));
  return WaitForEnd();
}

std::optional<grpc::ByteBuffer> OpenStream::Receive() {
  grpc::ByteBuffer message;
  if (!reactor_.RunRead([&] { reactor_.StartRead(&message); })) return std::nullopt;
  return message;
}

absl::Status OpenStream::WaitForEnd() {
  if (!is_finished_) {
    is_finished_ = true;
    // The server has ended the call, or it is cancelled: nothing takes long now.
    reactor_.Close();
    reactor_.RemoveHold();
  }
  return ToAbslStatus(reactor_.WaitUntilDone());
}

}  // namespace gridfold::client
