// Answers that were handed to the transport and have yet to be taken by their callers: ends calls
// whose callers take too long, and knows what each connection leaves behind.
//
//   UnsentAnswer unsent(watch, context);   // A part of the call.
//   unsent.Begin(bytes);                   // Before the answer, or a part of it, is sent.
//   unsent.End();                          // It was taken; the destructor does so too.
//
// Thread-safe.
#ifndef GRIDFOLD_SERVER_TRANSPORT_SEND_WATCH_H_
#define GRIDFOLD_SERVER_TRANSPORT_SEND_WATCH_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
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
  struct Answer {
    grpc::CallbackServerContext* context;
    uint64_t bytes;
    Clock::time_point end;
  };

  uint64_t Add(const Answer& answer);
  void Remove(uint64_t number);
  void EndLate();

  const std::chrono::milliseconds timeout_;
  std::atomic<uint64_t> ended_calls_ = 0;
  // Recursive: to cancel a call may run the ends of others, or its own, in the same thread.
  std::recursive_mutex mutex_;
  uint64_t next_number_ = 1;            // Guarded by mutex_.
  std::map<uint64_t, Answer> answers_;  // Guarded by mutex_.
  Sweeper sweeper_;                     // Last: it ends before what it uses.
};

// The answer of one call. Not thread-safe.
class UnsentAnswer {
 public:
  // Both must outlive it.
  UnsentAnswer(SendWatch& watch, grpc::CallbackServerContext& context)
      : watch_(watch), context_(context) {}
  UnsentAnswer(const UnsentAnswer&) = delete;
  UnsentAnswer& operator=(const UnsentAnswer&) = delete;
  ~UnsentAnswer() { End(); }

  void Begin(uint64_t bytes);
  void End();

 private:
  SendWatch& watch_;
  grpc::CallbackServerContext& context_;
  uint64_t number_ = 0;  // 0 where nothing is on its way.
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TRANSPORT_SEND_WATCH_H_
