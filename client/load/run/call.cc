#include "client/load/run/call.h"

#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "client/library/status_conversion.h"
#include "client/library/unary_call.h"
#include "gridfold/v1/array_service.pb.h"

namespace gridfold::load {
namespace {

constexpr char kReadArray[] = "/gridfold.v1.ArrayService/ReadArray";
constexpr char kDeleteArray[] = "/gridfold.v1.ArrayService/DeleteArray";

// The message and after it the field. Nothing is copied: slices are counted.
grpc::ByteBuffer WithField(const grpc::ByteBuffer& message, const grpc::Slice& field) {
  std::vector<grpc::Slice> slices;
  // Fails of compressed messages only.
  (void)message.Dump(&slices);
  slices.push_back(field);
  return grpc::ByteBuffer(slices.data(), slices.size());
}

grpc::ByteBuffer ToByteBuffer(const google::protobuf::MessageLite& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace

Call::Call(grpc::CompletionQueue& queue, size_t place) : queue_(queue), place_(place) {
  for (size_t i = 0; i < tags_.size(); ++i) tags_[i] = {this, static_cast<Event>(i)};
}

void Call::Prepare(const PreparedRequest& request, bool verify) {
  request_ = &request;
  verify_ = verify;
  messages_ = request.messages;
  if (request.result_places != nullptr) {
    result_place_ = &request.result_places->Take();
    own_message_ = WithField(request.messages.front(), result_place_->wire_field);
    messages_ = {&own_message_, 1};
  }
  reader_.emplace(request, verify, result_place_);
}

void Call::Begin(const Start& start) {
  start_ = start;
  cancelled_as_.reset();
  is_under_way_.store(true, std::memory_order_release);
  BeginPhase(Phase::kCompute, request_->method, request_->is_stream());
}

void Call::BeginPhase(Phase phase, const std::string& method, bool is_stream) {
  phase_ = phase;
  // What belongs to the phase before goes before its context.
  unary_.reset();
  stream_.reset();
  received_.Clear();
  status_ = grpc::Status::OK;
  context_.emplace();
  const RequestKind& kind = request_->kind;
  const absl::Duration timeout = kind.timeout.value_or(start_.timeout);
  client::CallHead{.deadline = absl::Now() + timeout,
                   .tenant = kind.tenant,
                   .priority = kind.priority,
                   .token = std::string(start_.token)}
      .ApplyTo(*context_);
  pending_events_ = 1;
  written_messages_ = 0;
  if (is_stream) {
    stream_ = start_.stub->PrepareCall(&*context_, method, &queue_);
    stream_->StartCall(TagOf(Event::kStarted));
  } else {
    unary_ = start_.stub->PrepareUnaryCall(&*context_, method, messages_.front(), &queue_);
    unary_->StartCall();
    unary_->Finish(&received_, &status_, TagOf(Event::kUnaryEnd));
  }
}

bool Call::OnEvent(Event event, bool ok, int64_t now_ns) {
  --pending_events_;
  if (event == Event::kUnaryEnd) {
    if (status_.ok()) OnMessage();
  } else {
    OnStreamEvent(event, ok);
  }
  if (pending_events_ > 0) return false;
  if (phase_ == Phase::kCompute) ended_ns_ = now_ns;
  if (status_.ok() && BeginFollowUp()) return false;
  is_under_way_.store(false, std::memory_order_release);
  generation_.fetch_add(1, std::memory_order_release);
  return true;
}

// Whether there is something to do after what has ended.
bool Call::BeginFollowUp() {
  const std::string& array = reader_->result_array();
  if (array.empty() || phase_ == Phase::kDeleteResults) return false;
  messages_ = {&own_message_, 1};
  if (phase_ == Phase::kCompute && verify_) {
    v1::ReadArrayRequest request;
    request.mutable_array()->set_name(array);
    own_message_ = ToByteBuffer(request);
    BeginPhase(Phase::kReadResults, kReadArray, /*is_stream=*/true);
  } else {
    v1::DeleteArrayRequest request;
    request.set_name(array);
    own_message_ = ToByteBuffer(request);
    BeginPhase(Phase::kDeleteResults, kDeleteArray, /*is_stream=*/false);
  }
  return true;
}

void Call::OnMessage() {
  switch (phase_) {
    case Phase::kCompute: reader_->Add(received_); break;
    case Phase::kReadResults: reader_->AddArrayContent(received_); break;
    case Phase::kDeleteResults: break;
  }
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
        OnMessage();
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
  if (written_messages_ == messages_.size()) {
    stream_->WritesDone(TagOf(Event::kWritesDone));
  } else {
    stream_->Write(messages_[written_messages_++], TagOf(Event::kWritten));
  }
}

void Call::ReadNext() {
  ++pending_events_;
  stream_->Read(&received_, TagOf(Event::kRead));
}

void Call::Cancel(Outcome::Ending ending) {
  // A computation that has ended can be given up no more.
  if (ending == Outcome::Ending::kCancelled && phase_ != Phase::kCompute) return;
  if (!cancelled_as_) cancelled_as_ = ending;
  context_->TryCancel();
}

Outcome Call::TakeOutcome() {
  Outcome outcome{.ending = Outcome::Ending::kAnswered,
                  .kind_index = request_->kind_index,
                  .array_bytes = request_->array_bytes,
                  .intended_ns = start_.intended_ns,
                  .sent_ns = start_.sent_ns,
                  .ended_ns = ended_ns_,
                  .error = {},
                  .answer = {}};
  if (result_place_ != nullptr) {
    request_->result_places->GiveBack(*std::exchange(result_place_, nullptr), status_.ok());
  }
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
