// One call at a time over a completion queue, unary or a stream.
#ifndef GRIDFOLD_CLIENT_LOAD_RUN_CALL_H_
#define GRIDFOLD_CLIENT_LOAD_RUN_CALL_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

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

  struct Start {
    const PreparedRequest* request = nullptr;
    grpc::GenericStub* stub = nullptr;
    absl::string_view token = {};  // Empty: none.
    absl::Duration timeout;
    bool verify = false;
    int64_t intended_ns = 0;
    int64_t sent_ns = 0;
  };
  void Begin(const Start& start);

  // Of the thread that takes events: whether the call has ended with this one.
  bool OnEvent(Event event, bool ok);

  // Of a call that has ended: what became of it. `ended_ns` is left to the caller.
  Outcome TakeOutcome();

  size_t place() const { return place_; }
  // How often the call has ended. Changes with the event that ends it.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  bool is_under_way() const { return is_under_way_.load(std::memory_order_acquire); }

  // Of the thread that takes events, of a call that has begun and not ended.
  void Cancel(Outcome::Ending ending);

 private:
  void* TagOf(Event event) { return &tags_[static_cast<size_t>(event)]; }
  void BeginUnary();
  void BeginStream();
  void OnStreamEvent(Event event, bool ok);
  void WriteNext();
  void ReadNext();

  grpc::CompletionQueue& queue_;
  const size_t place_;
  std::array<Tag, 6> tags_;
  std::atomic<bool> is_under_way_ = false;
  std::atomic<uint64_t> generation_ = 0;
  Start start_;
  std::optional<grpc::ClientContext> context_;
  std::optional<AnswerReader> reader_;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> unary_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  int pending_events_ = 0;
  size_t written_messages_ = 0;
  grpc::ByteBuffer received_;
  grpc::Status status_;
  std::optional<Outcome::Ending> cancelled_as_;
};

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_RUN_CALL_H_
