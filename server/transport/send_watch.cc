#include "server/transport/send_watch.h"

#include "server/base/fixed_limits.h"
#include "server/process/event_log.h"

namespace gridfold::server {

void SendWatch::Link::InsertBefore(Link& other) {
  next = &other;
  previous = other.previous;
  previous->next = this;
  other.previous = this;
}

void SendWatch::Link::Leave() {
  previous->next = next;
  next->previous = previous;
  next = previous = this;
}

SendWatch::SendWatch(std::chrono::milliseconds timeout)
    : timeout_(timeout), sweeper_([this] { EndLate(); }, kSendCheckInterval) {}

// Calls are at multiples of the same power of 2, so their addresses are mixed by a multiplication.
SendWatch::List& SendWatch::ListOf(const Answer& answer) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;  // 2^64 by the golden ratio.
  static_assert(kListCount == 1 << 4);
  return lists_[reinterpret_cast<uintptr_t>(&answer) * kMultiplier >> 60];
}

std::unordered_map<std::string, uint64_t> SendWatch::BytesByPeer() {
  std::unordered_map<std::string, uint64_t> bytes;
  for (List& list : lists_) {
    const std::lock_guard lock(list.mutex);
    for (const Link* link = list.ring.next; link != &list.ring; link = link->next) {
      const auto& answer = static_cast<const Answer&>(*link);
      bytes[answer.context->peer()] += answer.bytes;
    }
  }
  return bytes;
}

void SendWatch::EndLate() {
  if (timeout_ == std::chrono::milliseconds(0)) return;
  uint64_t calls = 0;
  uint64_t bytes = 0;
  for (List& list : lists_) EndLateOf(list, calls, bytes);
  if (calls == 0) return;
  ended_calls_ += calls;
  LogEvent(LogLevel::kWarning, "answers_not_taken",
           {{"calls", calls}, {"bytes", bytes}, {"note", "ended after --send-timeout"}});
}

// A call is not gone while the list's mutex is held: its answer would leave the list first.
void SendWatch::EndLateOf(List& list, uint64_t& calls, uint64_t& bytes) {
  const std::lock_guard lock(list.mutex);
  const Clock::time_point now = Clock::now();
  // Apart from the others, since to cancel one may end any of them.
  Link late;
  for (Link* link = list.ring.next; link != &list.ring;) {
    auto& answer = static_cast<Answer&>(*link);
    link = link->next;
    if (answer.end > now) continue;
    answer.Leave();
    answer.InsertBefore(late);
  }
  while (late.next != &late) {
    auto& answer = static_cast<Answer&>(*late.next);
    answer.Leave();
    answer.InsertBefore(list.ring);
    answer.end = Clock::time_point::max();
    ++calls;
    bytes += answer.bytes;
    answer.context->TryCancel();
  }
}

void UnsentAnswer::Begin(uint64_t bytes) {
  End();
  const auto at_least = std::chrono::milliseconds(bytes * 1000 / kAnswerBytesPerSecondMin);
  answer_.bytes = bytes;
  answer_.end = SendWatch::Clock::now() + watch_.timeout_ + at_least;
  SendWatch::List& list = watch_.ListOf(answer_);
  is_on_its_way_ = true;
  const std::lock_guard lock(list.mutex);
  answer_.InsertBefore(list.ring);
}

void UnsentAnswer::End() {
  if (!is_on_its_way_) return;
  is_on_its_way_ = false;
  const std::lock_guard lock(watch_.ListOf(answer_).mutex);
  answer_.Leave();
}

}  // namespace gridfold::server
