// A reduction or a histogram of an array of the caller's memory.
#ifndef GRIDFOLD_CLIENT_LIBRARY_LARGE_CALL_H_
#define GRIDFOLD_CLIENT_LIBRARY_LARGE_CALL_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "client/library/accumulator_fold.h"
#include "client/library/array_calls.h"
#include "client/library/array_parts.h"
#include "client/library/array_route.h"
#include "client/library/call_budget.h"
#include "client/library/part_run.h"
#include "client/library/resident_upload.h"

namespace gridfold::client {

// What parts have done, added up; the first one says how.
ExecutionStatistics SumOf(const std::vector<ExecutionStatistics>& parts);

// Whether the error is the server's judgement of what it was asked. That of a part may not be that
// of the whole: the sum of a part may overflow where that of the whole does not.
bool IsJudgement(const absl::Status& status);

// One call. Operation says what the calls differ in:
//
//   using Result = ...;  using Options = ...;
//   using Parts = ...;                                      // As ReductionParts.
//   uint64_t SizeBytes(array, options);                     // Of all arrays.
//   uint64_t OtherBytes(options);                           // Of a request beside these.
//   bool CanStream(array, options, limits, client_options);
//   Parts Split(array, options, part_bytes);
//   absl::StatusOr<Result> Once(transport, array_input, options, call_options);
//   absl::StatusOr<Result> StreamOnce(channel, head, array, options, message_bytes, on_sent);
//   absl::StatusOr<std::pair<ArrayInput, Options>> Moved(array, options, move);  // All arrays.
//   MergeOptions Merging(options);                          // Of parts that are merged,
//   Result Merged(merge_result, options);                   // and their whole.
//   void Append(part_result, result);                       // Of parts that are not.
template <typename Operation>
class LargeCall {
 public:
  using Result = typename Operation::Result;
  using Options = typename Operation::Options;
  using Parts = typename Operation::Parts;

  LargeCall(ArrayCalls& calls, const ArrayView& array, const Options& options,
            const CallOptions& call_options)
      : calls_(calls),
        array_(array),
        options_(options),
        budget_(call_options, calls.transport().options().default_timeout),
        wanted_(call_options.transport.value_or(calls.transport().options().transport)),
        size_bytes_(Operation::SizeBytes(array, options)),
        progress_(call_options, size_bytes_) {}

  absl::StatusOr<Result> Run() {
    if (wanted_ == ArrayTransport::kInline || size_bytes_ == 0 ||
        (wanted_ == ArrayTransport::kAuto && size_bytes_ <= kInlineBytesMax)) {
      return Inline();
    }
    absl::StatusOr<ServerLimits> limits = calls_.Limits(budget_.Rest());
    if (!limits.ok()) return limits.status();
    limits_ = *std::move(limits);
    const RouteQuestion question = Question();
    absl::StatusOr<Result> result = By(ChooseRoute(question));
    if (result.ok()) return result;
    // Shared memory that is not to be had is no reason to fail, unless it was asked for.
    if (is_unshared_ && wanted_ == ArrayTransport::kRegion) return result;
    if (!is_unshared_ && !(is_split_ && IsJudgement(result.status()))) return result;
    RouteQuestion whole = question;
    whole.wanted = is_unshared_ ? ArrayTransport::kStreams : ArrayTransport::kStream;
    return By(ChooseRoute(whole));
  }

 private:
  RouteQuestion Question() {
    const ClientOptions& client_options = calls_.transport().options();
    const uint64_t streams = calls_.transport().part_connection_count();
    const uint64_t least = wanted_ == ArrayTransport::kStreams ? 1 : kStreamsBytesMin / 2;
    const bool can_stream = Operation::CanStream(array_, options_, limits_, client_options);
    if (streams > 1 && can_stream) {
      stream_parts_ = Operation::Split(
          array_, options_, std::max<uint64_t>((size_bytes_ + streams - 1) / streams, least));
    }
    RouteQuestion question{
        .wanted = wanted_,
        .size_bytes = size_bytes_,
        .fits_message =
            FitsMessage(size_bytes_ + Operation::OtherBytes(options_), 0, limits_, client_options),
        .can_stream = can_stream,
        .can_split = !stream_parts_.parts.empty(),
        .can_share = limits_.region_count_max > 0};
    if (wanted_ != ArrayTransport::kRegion && !MayShare(question)) return question;
    region_parts_ = Operation::Split(array_, options_, kRegionPartBytes);
    if (region_parts_.part_bytes_max > kRegionPartBytes) region_parts_.parts.clear();
    const bool is_worth_it = size_bytes_ > kRegionPartBytes
                                 ? !region_parts_.parts.empty()
                                 : question.can_share && calls_.regions().IsForSmallArrays();
    question.can_share = is_worth_it && (wanted_ == ArrayTransport::kRegion ||
                                         calls_.regions().Works(limits_, budget_.Rest()));
    if (!question.can_share) region_parts_.parts.clear();
    return question;
  }

  absl::StatusOr<Result> By(ArrayTransport transport) {
    switch (transport) {
      case ArrayTransport::kStream: return Stream();
      case ArrayTransport::kStreams: return Streams();
      case ArrayTransport::kRegion: return region_parts_.parts.empty() ? WholeRegion() : Region();
      case ArrayTransport::kResident: return Resident();
      case ArrayTransport::kAuto:
      case ArrayTransport::kInline: break;
    }
    return Inline();
  }

  static absl::StatusOr<Result> Told(absl::StatusOr<Result> result, ArrayTransport transport,
                                     size_t streams) {
    if (result.ok()) {
      result->execution.transport = transport;
      result->execution.streams = static_cast<uint32_t>(streams);
    }
    return result;
  }

  absl::StatusOr<Result> Inline() {
    return Told(Operation::Once(calls_.transport(), array_, options_, budget_.Rest()),
                ArrayTransport::kInline, 1);
  }

  absl::StatusOr<Result> Stream() {
    const absl::StatusOr<uint64_t> message_bytes = calls_.MessageBytes(budget_.Rest());
    if (!message_bytes.ok()) return message_bytes.status();
    absl::StatusOr<Result> result;
    const absl::Status status =
        calls_.transport().Try(budget_.Rest(), [&](const auto& channel, const CallHead& head) {
          result = Operation::StreamOnce(channel, head, array_, options_, *message_bytes,
                                         [&](uint64_t sent) { progress_.Sent(0, sent); });
          return result.status();
        });
    if (!status.ok()) return status;
    return Told(std::move(result), ArrayTransport::kStream, 1);
  }

  absl::StatusOr<Result> Streams() {
    is_split_ = true;
    const absl::StatusOr<uint64_t> message_bytes = calls_.MessageBytes(budget_.Rest());
    if (!message_bytes.ok()) return message_bytes.status();
    return RunAndJoin(
        stream_parts_, ArrayTransport::kStreams,
        [&](size_t index, size_t worker, const StopRequest& is_stopped) {
          const auto& part = stream_parts_.parts[index];
          absl::StatusOr<Result> result;
          const absl::Status status = calls_.transport().TryPart(
              budget_.Rest(is_stopped), worker, [&](const auto& channel, const CallHead& head) {
                result =
                    Operation::StreamOnce(channel, head, part.array, part.options, *message_bytes,
                                          [&](uint64_t sent) { progress_.Sent(index, sent); });
                return result.status();
              });
          return status.ok() ? std::move(result) : absl::StatusOr<Result>(status);
        });
  }

  absl::StatusOr<Result> Region() {
    is_split_ = true;
    std::deque<BorrowedRegion> own;
    for (size_t i = 0; i < calls_.transport().part_connection_count(); ++i) {
      own.emplace_back(calls_.regions(), RegionBytes(kRegionPartBytes));
    }
    return RunAndJoin(region_parts_, ArrayTransport::kRegion,
                      [&](size_t index, size_t worker, const StopRequest& is_stopped) {
                        const auto& part = region_parts_.parts[index];
                        absl::StatusOr<Result> answer = OnceIn(
                            own[worker], part.array, part.options, 1, budget_.Rest(is_stopped));
                        if (answer.ok()) {
                          progress_.Sent(index, Operation::SizeBytes(part.array, part.options));
                        }
                        return answer;
                      });
  }

  // Of what cannot be cut, or is no larger than a part: all of it at once.
  absl::StatusOr<Result> WholeRegion() {
    BorrowedRegion region(calls_.regions(), RegionBytes(std::max(size_bytes_, kRegionPartBytes)));
    absl::StatusOr<Result> result = OnceIn(
        region, array_, options_, calls_.transport().part_connection_count(), budget_.Rest());
    if (result.ok()) progress_.Sent(0, size_bytes_);
    return Told(std::move(result), ArrayTransport::kRegion, 1);
  }

  absl::StatusOr<Result> OnceIn(BorrowedRegion& borrowed, const ArrayView& array,
                                const Options& options, size_t thread_count,
                                const CallOptions& call_options) {
    const auto once = [&](const SharedRegion& region) -> absl::StatusOr<Result> {
      uint64_t offset_bytes = 0;
      const auto moved = Operation::Moved(
          array, options, [&](const ArrayView& view) -> absl::StatusOr<ArrayInput> {
            return ArrayInput(CopyInto(region, view, thread_count, offset_bytes));
          });
      if (!moved.ok()) return moved.status();
      return Operation::Once(calls_.transport(), moved->first, moved->second, call_options);
    };
    absl::StatusOr<Result> result = borrowed.Run(call_options, once);
    if (borrowed.is_missing() && !IsRefusedForNow(result.status())) is_unshared_ = true;
    return result;
  }

  absl::StatusOr<Result> Resident() {
    ResidentUpload upload(calls_, budget_, progress_);
    const auto moved = Operation::Moved(array_, options_,
                                        [&](const ArrayView& view) { return upload.Send(view); });
    if (!moved.ok()) return moved.status();
    return Told(Operation::Once(calls_.transport(), moved->first, moved->second, budget_.Rest()),
                ArrayTransport::kResident, calls_.transport().part_connection_count());
  }

  // Runs all parts by `run(index, worker, is_stopped)`, and makes one answer of theirs.
  template <typename Run>
  absl::StatusOr<Result> RunAndJoin(const Parts& parts, ArrayTransport transport, Run run) {
    const size_t workers = std::min(calls_.transport().part_connection_count(), parts.parts.size());
    AccumulatorFold fold(calls_.client(), budget_, limits_.message_bytes_max);
    std::vector<std::optional<Result>> results(parts.parts.size());
    const absl::Status status =
        RunParts(parts.parts.size(), workers, budget_.is_cancelled(),
                 [&](size_t index, size_t worker, const StopRequest& is_stopped) {
                   absl::StatusOr<Result> result = run(index, worker, is_stopped);
                   if (!result.ok()) return result.status();
                   results[index] = *std::move(result);
                   if (!parts.are_merged) return absl::OkStatus();
                   return fold.Add(std::exchange(results[index]->accumulator, {}));
                 });
    if (!status.ok()) return status;
    std::vector<ExecutionStatistics> executions;
    for (const std::optional<Result>& result : results) executions.push_back(result->execution);
    absl::StatusOr<Result> whole = parts.are_merged ? Merged(fold) : Appended(results);
    if (!whole.ok()) return whole;
    whole->execution = SumOf(executions);
    return Told(std::move(whole), transport, workers);
  }

  absl::StatusOr<Result> Merged(AccumulatorFold& fold) {
    absl::StatusOr<MergeResult> merged = fold.Finish(Operation::Merging(options_));
    if (!merged.ok()) return merged.status();
    Result result = Operation::Merged(*std::move(merged), options_);
    if (!options_.return_accumulator) result.accumulator.clear();
    return result;
  }

  static absl::StatusOr<Result> Appended(std::vector<std::optional<Result>>& results) {
    Result whole = *std::move(results.front());
    for (size_t i = 1; i < results.size(); ++i) Operation::Append(*results[i], whole);
    return whole;
  }

  ArrayCalls& calls_;
  const ArrayView& array_;
  const Options& options_;
  const CallBudget budget_;
  const ArrayTransport wanted_;
  const uint64_t size_bytes_;
  ProgressTally progress_;
  ServerLimits limits_;
  Parts stream_parts_;
  Parts region_parts_;
  bool is_split_ = false;                  // The way that was tried first is in parts,
  std::atomic<bool> is_unshared_ = false;  // or finds no shared memory.
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_LARGE_CALL_H_
