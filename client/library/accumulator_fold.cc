#include "client/library/accumulator_fold.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace gridfold::client {
namespace {

// What may wait to be merged, where a message has room for it, and where it is of some parts.
constexpr uint64_t kPendingBytesMax = uint64_t{4} << 20;
constexpr uint64_t kPendingPartsMin = 8;

std::string TakeAccumulator(MergeResult merged) {
  if (auto* const reduction = std::get_if<ReductionResult>(&merged.answer)) {
    return std::move(reduction->accumulator);
  }
  return std::move(std::get<MergedHistogram>(merged.answer).result.accumulator);
}

}  // namespace

absl::Status AccumulatorFold::Add(std::string accumulator) {
  std::vector<std::string> merged;
  {
    const absl::MutexLock lock(&mutex_);
    const uint64_t limit =
        std::min(std::max(kPendingBytesMax, kPendingPartsMin * uint64_t{accumulator.size()}),
                 message_bytes_max_ / 4);
    pending_bytes_ += accumulator.size();
    pending_.push_back(std::move(accumulator));
    if (pending_bytes_ <= limit || pending_.size() < 2) return absl::OkStatus();
    merged = std::exchange(pending_, {});
    pending_bytes_ = 0;
  }
  absl::StatusOr<MergeResult> result = Merge(merged, {.partial = true});
  if (!result.ok()) {
    // Its caller may come again with this accumulator, which is the last one; the others wait on.
    merged.pop_back();
    const absl::MutexLock lock(&mutex_);
    for (std::string& waiting : merged) {
      pending_bytes_ += waiting.size();
      pending_.push_back(std::move(waiting));
    }
    return result.status();
  }
  std::string folded = TakeAccumulator(*std::move(result));
  const absl::MutexLock lock(&mutex_);
  pending_bytes_ += folded.size();
  pending_.push_back(std::move(folded));
  return absl::OkStatus();
}

absl::StatusOr<MergeResult> AccumulatorFold::Finish(const MergeOptions& options) {
  std::vector<std::string> all;
  {
    const absl::MutexLock lock(&mutex_);
    all = std::exchange(pending_, {});
  }
  return Merge(all, options);
}

absl::StatusOr<MergeResult> AccumulatorFold::Merge(const std::vector<std::string>& accumulators,
                                                   const MergeOptions& options) {
  absl::StatusOr<MergeResult> result;
  const absl::Status status = budget_.RetryWhileRefused([&] {
    result = client_.MergeAccumulators(accumulators, options, budget_.Rest());
    return result.status();
  });
  if (!status.ok()) return status;
  return result;
}

}  // namespace gridfold::client
