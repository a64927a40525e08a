// Answers that were handed to the transport and have yet to be taken by their callers: ends calls
// whose callers take too long, and knows what each connection leaves behind.
//
//   UnsentAnswer unsent(watch, context);   // A part of the call.
//   unsent.Begin(bytes);                   // Before the answer, or a part of it, is sent.
//   unsent.End();                          // It was taken; the destructor does so too.
//
// Answers are spread over several lists with a lock each, so that calls do not wait for each other.
// Thread-safe.
#ifndef GRIDFOLD_SERVER_TRANSPORT_SEND_WATCH_H_
#define GRIDFOLD_SERVER_TRANSPORT_SEND_WATCH_H_

#include <grpcpp/grpcpp.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "server/base/sweeper.h"

namespace gridfold::server {

class SendWatch {
 public:
  // A caller may take `timeout`, and as long as the answer takes at kAnswerBytesPerSecondMin; 0
  // sets no bound.
  explicit SendWatch(std::chrono::milliseconds timeout);

  // Bytes of answers that have yet to be taken, by ServerContext::peer().
  std::unordered_map<std::string, uint64_t> BytesByPeer();

  uint64_t ended_calls() const { return ended_calls_; }

 private:
  friend class UnsentAnswer;
  using Clock = std::chrono::steady_clock;

  // A place in a ring, which it leaves without looking for it.
  struct Link {
    Link* next = this;
    Link* previous = this;

    void InsertBefore(Link& other);
    void Leave();
  };

  struct Answer : Link {
    grpc::CallbackServerContext* context = nullptr;
    uint64_t bytes = 0;
    Clock::time_point end;
  };

  static constexpr size_t kListCount = 16;
  struct alignas(64) List {
    // Recursive: to cancel a call may run the ends of others, or its own, in the same thread.
    std::recursive_mutex mutex;
    Link ring;  // Guarded by mutex, with the answers in it.
  };

  List& ListOf(const Answer& answer);
  void EndLate();
  void EndLateOf(List& list, uint64_t& calls, uint64_t& bytes);

  const std::chrono::milliseconds timeout_;
  std::atomic<uint64_t> ended_calls_ = 0;
  std::array<List, kListCount> lists_;
  Sweeper sweeper_;  // Last: it ends before what it uses.
};

// The answer of one call. Not thread-safe.
class UnsentAnswer {
 public:
  // Both must outlive it.
  UnsentAnswer(SendWatch& watch, grpc::CallbackServerContext& context) : watch_(watch) {
    answer_.context = &context;
  }
  UnsentAnswer(const UnsentAnswer&) = delete;
  UnsentAnswer& operator=(const UnsentAnswer&) = delete;
  ~UnsentAnswer() { End(); }

  void Begin(uint64_t bytes);
  void End();

 private:
  SendWatch& watch_;
  SendWatch::Answer answer_;
  bool is_on_its_way_ = false;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TRANSPORT_SEND_WATCH_H_
