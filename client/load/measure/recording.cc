#include "client/load/measure/recording.h"

#include <utility>

#include "absl/time/time.h"

namespace gridfold::load {

const char* StageName(Stage stage) {
  switch (stage) {
    case Stage::kQueue: return "queue";
    case Stage::kStageIn: return "stage in";
    case Stage::kKernel: return "kernel";
    case Stage::kStageOut: return "stage out";
    case Stage::kTotal: return "server total";
  }
  return "unknown";
}

void Recording::Add(const Outcome& outcome) {
  KindTally& kind = kinds[outcome.kind_index];
  lateness.Record(outcome.sent_ns - outcome.intended_ns);
  switch (outcome.ending) {
    case Outcome::Ending::kCancelled: ++cancelled; return;
    case Outcome::Ending::kUnanswered: ++unanswered; return;
    case Outcome::Ending::kFailed: {
      ++failed;
      ++kind.failed;
      ErrorTally& tally = errors[outcome.error.code()];
      if (tally.count++ == 0) tally.first_message = std::string(outcome.error.message());
      return;
    }
    case Outcome::Ending::kAnswered: break;
  }
  ++answered;
  ++kind.answered;
  latency.Record(outcome.ended_ns - outcome.intended_ns);
  latency_from_send.Record(outcome.ended_ns - outcome.sent_ns);
  kind.latency.Record(outcome.ended_ns - outcome.intended_ns);
  const client::ExecutionStatistics& execution = outcome.answer.execution;
  const std::array<absl::Duration, kStageCount> times = {
      execution.queue_time, execution.stage_in_time, execution.kernel_time,
      execution.stage_out_time, execution.total_time};
  for (size_t i = 0; i < kStageCount; ++i) stages[i].Record(absl::ToInt64Nanoseconds(times[i]));
  verified += outcome.answer.is_verified;
  if (!outcome.answer.difference.empty()) {
    ++kind.wrong;
    if (wrong++ == 0) first_difference = outcome.answer.difference;
  }
}

void Recording::Merge(const Recording& other) {
  answered += other.answered;
  failed += other.failed;
  cancelled += other.cancelled;
  unanswered += other.unanswered;
  unsent += other.unsent;
  verified += other.verified;
  wrong += other.wrong;
  if (first_difference.empty()) first_difference = other.first_difference;
  for (const auto& [code, tally] : other.errors) {
    ErrorTally& mine = errors[code];
    if (mine.count == 0) mine.first_message = tally.first_message;
    mine.count += tally.count;
  }
  latency.Merge(other.latency);
  latency_from_send.Merge(other.latency_from_send);
  lateness.Merge(other.lateness);
  for (size_t i = 0; i < kStageCount; ++i) stages[i].Merge(other.stages[i]);
  for (size_t i = 0; i < kinds.size(); ++i) {
    kinds[i].answered += other.kinds[i].answered;
    kinds[i].failed += other.kinds[i].failed;
    kinds[i].wrong += other.kinds[i].wrong;
    kinds[i].latency.Merge(other.kinds[i].latency);
  }
  completed += other.completed;
  completed_bytes += other.completed_bytes;
}

double Recording::error_fraction() const {
  const uint64_t without_answer = failed + unanswered + unsent;
  if (without_answer == 0) return 0;
  return static_cast<double>(without_answer) / static_cast<double>(answered + without_answer);
}

void Recorder::Record(const Outcome& outcome, bool is_of_window, bool ended_in_window) {
  const absl::MutexLock lock(&mutex_);
  if (is_of_window) recording_.Add(outcome);
  if (ended_in_window && outcome.ending == Outcome::Ending::kAnswered) {
    ++recording_.completed;
    recording_.completed_bytes += outcome.array_bytes;
  }
}

void Recorder::AddUnsent(uint64_t count) {
  const absl::MutexLock lock(&mutex_);
  recording_.unsent += count;
}

Recording Recorder::Take() {
  Recording taken(kind_count_);
  const absl::MutexLock lock(&mutex_);
  std::swap(taken, recording_);
  return taken;
}

}  // namespace gridfold::load
