// One call at a time over a completion queue, unary or a stream. Where a scan has put its results
// into an array on the server, that is read, if the answer is verified, and deleted after the
// call.
#ifndef GRIDFOLD_CLIENT_LOAD_RUN_CALL_H_
#define GRIDFOLD_CLIENT_LOAD_RUN_CALL_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "absl/strings/string_view.h"
#include "client/load/measure/outcome.h"
#include "client/load/work/answer_reader.h"
#include "client/load/work/prepared_request.h"
#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/generic_stub.h"

namespace gridfold::load {

// May be started again when it has ended. One thread starts it, and one, perhaps another, takes
// its events from the queue; whoever hands the call from one to the other orders them.
class Call {
 public:
  // What a queue's tags point at.
  enum class Event { kUnaryEnd, kStarted, kWritten, kRead, kWritesDone, kEnd };
  struct Tag {
    Call* call;
    Event event;
  };

  // `place` is what its owner knows it by.
  Call(grpc::CompletionQueue& queue, size_t place);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // What takes time and is not to be measured. `request` must outlive the call.
  void Prepare(const PreparedRequest& request, bool verify);

  struct Start {
    grpc::GenericStub* stub = nullptr;
    absl::string_view token = {};  // Empty: none.
    absl::Duration timeout;
    int64_t intended_ns = 0;
    int64_t sent_ns = 0;
  };
  // Sends what has been prepared.
  void Begin(const Start& start);

  // Of the thread that takes events, at `now_ns`: whether the call, and what follows it, has ended
  // with this one.
  bool OnEvent(Event event, bool ok, int64_t now_ns);

  // Of a call that has ended: what became of it.
  Outcome TakeOutcome();

  size_t place() const { return place_; }
  // How often the call has ended. Changes with the event that ends it.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  bool is_under_way() const { return is_under_way_.load(std::memory_order_acquire); }

  // Of the thread that takes events, of a call that has begun and not ended.
  void Cancel(Outcome::Ending ending);

 private:
  // What the call is at. Only its computation is measured.
  enum class Phase { kCompute, kReadResults, kDeleteResults };

  void* TagOf(Event event) { return &tags_[static_cast<size_t>(event)]; }
  void BeginPhase(Phase phase, const std::string& method, bool is_stream);
  bool BeginFollowUp();
  void OnStreamEvent(Event event, bool ok);
  void OnMessage();
  void WriteNext();
  void ReadNext();

  grpc::CompletionQueue& queue_;
  const size_t place_;
  std::array<Tag, 6> tags_;
  std::atomic<bool> is_under_way_ = false;
  std::atomic<uint64_t> generation_ = 0;
  const PreparedRequest* request_ = nullptr;
  bool verify_ = false;
  Start start_;
  std::optional<grpc::ClientContext> context_;
  ResultPlace* result_place_ = nullptr;
  std::optional<AnswerReader> reader_;
  Phase phase_ = Phase::kCompute;
  grpc::ByteBuffer own_message_;                // One that is not the request's.
  std::span<const grpc::ByteBuffer> messages_;  // To send.
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> unary_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  int pending_events_ = 0;
  size_t written_messages_ = 0;
  grpc::ByteBuffer received_;
  grpc::Status status_;
  int64_t ended_ns_ = 0;
  std::optional<Outcome::Ending> cancelled_as_;
};

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_RUN_CALL_H_
