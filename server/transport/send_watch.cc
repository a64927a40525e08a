#include "server/transport/send_watch.h"

#include <utility>
#include <vector>

#include "server/base/limits.h"
#include "server/process/event_log.h"

namespace gridfold::server {

SendWatch::SendWatch(std::chrono::milliseconds timeout)
    : timeout_(timeout), sweeper_([this] { EndLate(); }, kSendCheckInterval) {}

std::unordered_map<std::string, uint64_t> SendWatch::BytesByPeer() {
  std::unordered_map<std::string, uint64_t> bytes;
  const std::lock_guard lock(mutex_);
  for (const auto& [number, answer] : answers_) bytes[answer.context->peer()] += answer.bytes;
  return bytes;
}

uint64_t SendWatch::Add(const Answer& answer) {
  const std::lock_guard lock(mutex_);
  answers_.emplace_hint(answers_.end(), next_number_, answer);
  return next_number_++;
}

void SendWatch::Remove(uint64_t number) {
  const std::lock_guard lock(mutex_);
  answers_.erase(number);
}

// A call is not gone while the mutex is held: its answer would be removed first.
void SendWatch::EndLate() {
  if (timeout_ == std::chrono::milliseconds(0)) return;
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  std::vector<uint64_t> late;
  for (auto& [number, answer] : answers_) {
    if (answer.end <= now) late.push_back(number);
  }
  uint64_t bytes = 0;
  for (const uint64_t number : late) {
    const auto found = answers_.find(number);
    if (found == answers_.end()) continue;
    bytes += found->second.bytes;
    found->second.end = Clock::time_point::max();
    found->second.context->TryCancel();
  }
  if (late.empty()) return;
  ended_calls_ += late.size();
  LogEvent(LogLevel::kWarning, "answers_not_taken",
           {{"calls", late.size()}, {"bytes", bytes}, {"note", "ended after --send-timeout"}});
}

void UnsentAnswer::Begin(uint64_t bytes) {
  End();
  const auto at_least = std::chrono::milliseconds(bytes * 1000 / kAnswerBytesPerSecondMin);
  number_ = watch_.Add({.context = &context_,
                        .bytes = bytes,
                        .end = SendWatch::Clock::now() + watch_.timeout_ + at_least});
}

void UnsentAnswer::End() {
  if (number_ != 0) watch_.Remove(std::exchange(number_, 0));
}

}  // namespace gridfold::server
