#include "client/load/run/call.h"

#include <utility>

#include "absl/time/clock.h"
#include "client/library/status_conversion.h"
#include "client/library/unary_call.h"

namespace gridfold::load {

Call::Call(grpc::CompletionQueue& queue, size_t place) : queue_(queue), place_(place) {
  for (size_t i = 0; i < tags_.size(); ++i) tags_[i] = {this, static_cast<Event>(i)};
}

void Call::Begin(const Start& start) {
  start_ = start;
  cancelled_as_.reset();
  // What belongs to the last call goes before its context.
  unary_.reset();
  stream_.reset();
  received_.Clear();
  status_ = grpc::Status::OK;
  context_.emplace();
  const RequestKind& kind = start.request->kind;
  const absl::Duration timeout = kind.timeout.value_or(start.timeout);
  client::CallHead{.deadline = absl::Now() + timeout,
                   .tenant = kind.tenant,
                   .priority = kind.priority,
                   .token = std::string(start.token)}
      .ApplyTo(*context_);
  reader_.emplace(*start.request, start.verify);
  is_under_way_.store(true, std::memory_order_release);
  if (start.request->is_stream()) {
    BeginStream();
  } else {
    BeginUnary();
  }
}

void Call::BeginUnary() {
  pending_events_ = 1;
  unary_ = start_.stub->PrepareUnaryCall(&*context_, start_.request->method,
                                         start_.request->messages.front(), &queue_);
  unary_->StartCall();
  unary_->Finish(&received_, &status_, TagOf(Event::kUnaryEnd));
}

void Call::BeginStream() {
  pending_events_ = 1;
  written_messages_ = 0;
  stream_ = start_.stub->PrepareCall(&*context_, start_.request->method, &queue_);
  stream_->StartCall(TagOf(Event::kStarted));
}

bool Call::OnEvent(Event event, bool ok) {
  --pending_events_;
  if (event == Event::kUnaryEnd) {
    if (status_.ok()) reader_->Add(received_);
  } else {
    OnStreamEvent(event, ok);
  }
  if (pending_events_ > 0) return false;
  is_under_way_.store(false, std::memory_order_release);
  generation_.fetch_add(1, std::memory_order_release);
  return true;
}

void Call::OnStreamEvent(Event event, bool ok) {
  switch (event) {
    case Event::kStarted:
      // A call that did not start says why when it is read.
      if (ok) WriteNext();
      ReadNext();
      break;
    case Event::kWritten:
      if (ok) WriteNext();
      break;
    case Event::kRead:
      if (ok) {
        reader_->Add(received_);
        received_.Clear();
        ReadNext();
      } else {
        ++pending_events_;
        stream_->Finish(&status_, TagOf(Event::kEnd));
      }
      break;
    case Event::kWritesDone:
    case Event::kEnd:
    case Event::kUnaryEnd: break;
  }
}

void Call::WriteNext() {
  ++pending_events_;
  if (written_messages_ == start_.request->messages.size()) {
    stream_->WritesDone(TagOf(Event::kWritesDone));
  } else {
    stream_->Write(start_.request->messages[written_messages_++], TagOf(Event::kWritten));
  }
}

void Call::ReadNext() {
  ++pending_events_;
  stream_->Read(&received_, TagOf(Event::kRead));
}

void Call::Cancel(Outcome::Ending ending) {
  if (!cancelled_as_) cancelled_as_ = ending;
  context_->TryCancel();
}

Outcome Call::TakeOutcome() {
  Outcome outcome{.ending = Outcome::Ending::kAnswered,
                  .kind_index = start_.request->kind_index,
                  .array_bytes = start_.request->array_bytes,
                  .intended_ns = start_.intended_ns,
                  .sent_ns = start_.sent_ns,
                  .ended_ns = 0,
                  .error = {},
                  .answer = {}};
  if (cancelled_as_ && status_.error_code() == grpc::StatusCode::CANCELLED) {
    outcome.ending = *cancelled_as_;
    return outcome;
  }
  absl::StatusOr<Answer> answer = status_.ok() ? reader_->Finish() : client::ToAbslStatus(status_);
  if (answer.ok()) {
    outcome.answer = *std::move(answer);
  } else {
    outcome.ending = Outcome::Ending::kFailed;
    outcome.error = answer.status();
  }
  return outcome;
}

}  // namespace gridfold::load
