#include "kernels/folds/dealt_histogram.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <variant>

#include "kernels/accumulators/histogram_accumulator.h"
#include "kernels/contract/histogram_outline.h"
#include "kernels/contract/input_part.h"

namespace gridfold::kernels {

namespace {

constexpr LaneOptions kAnyLane{.input_bytes_max = std::numeric_limits<uint64_t>::max()};

// A plan that finds the ranges of all channels, or axes, and counts next to nothing.
HistogramPlan PlanOfRanges(const HistogramPlan& plan, uint64_t count) {
  HistogramPlan ranges{.array = ArrayDescription::Vector(plan.array.element_type, count),
                       .bins = {},
                       .channel_count = plan.channel_count,
                       .two_dimensional = plan.two_dimensional,
                       .weight_type = {},
                       .quantiles = {}};
  ranges.bins.resize(plan.two_dimensional ? 2 : plan.channel_count,
                     {.bin_count = 1, .automatic_range = true});
  return ranges;
}

absl::Status CopyToHost(const InputSpan& from, MutableHostSpan to, Lane& lane,
                        const std::stop_token& stop) {
  if (std::holds_alternative<ResidentSpan>(from)) return lane.Copy(from, to, stop);
  const auto copy = [&to](const HostSpan& span) {
    std::memcpy(to.data, span.data, span.size_bytes);
    to.data += span.size_bytes;
  };
  if (const auto* const slices = std::get_if<HostSlices>(&from)) {
    for (const HostSpan& slice : slices->slices) copy(slice);
  } else {
    copy(std::get<HostSpan>(from));
  }
  return absl::OkStatus();
}

// The samples from `first` on, with what accompanies them.
class SamplesPart {
 public:
  SamplesPart(const HistogramPlan& plan, const HistogramInput& input, uint64_t first,
              uint64_t count)
      : array_(Part(input.array, plan.array.element_type, first, count)),
        y_array_(
            Part(input.y_array, plan.array.element_type, first, plan.two_dimensional ? count : 0)),
        weights_(Part(input.weights, plan.weight_type.value_or(ElementType::kInt8), first,
                      plan.weight_type ? count : 0)) {}

  HistogramInput input() const { return {array_.span(), y_array_.span(), weights_.span()}; }

 private:
  static InputPart Part(const InputSpan& input, ElementType type, uint64_t first, uint64_t count) {
    const uint64_t offset = count == 0 ? 0 : first * ElementSize(type);
    return InputPart(input, offset, count * ElementSize(type));
  }

  InputPart array_;
  InputPart y_array_;
  InputPart weights_;
};

}  // namespace

DealtHistogram::DealtHistogram(HistogramPlan plan, Cuts cuts)
    : cuts_(std::move(cuts)), needs_ranges_(plan.needs_range()), plan_(std::move(plan)) {
  const uint64_t channels = plan_.channel_count;
  for (size_t part = 0; part + 1 < cuts_.size(); ++part) {
    const uint64_t size = cuts_[part + 1] - cuts_[part];
    Split split{.head = std::min((channels - cuts_[part] % channels) % channels, size),
                .loose_before = loose_count_};
    split.tail = (size - split.head) % channels;
    split.whole = size - split.head - split.tail;
    loose_count_ += split.head + split.tail;
    splits_.push_back(split);
  }
  loose_samples_.resize(loose_count_ * ElementSize(plan_.array.element_type));
  if (plan_.weight_type) loose_weights_.resize(loose_count_ * ElementSize(*plan_.weight_type));
}

absl::Status DealtHistogram::FindRanges(size_t part, const HistogramInput& input, Lane& lane,
                                        const std::stop_token& stop, RunStatistics& statistics) {
  if (absl::Status status = BringLoose(part, input, lane, stop); !status.ok()) return status;
  const Split& split = splits_[part];
  const SamplesPart samples(plan_, input, split.head, split.whole);
  return AddExtremes(samples.input(), split.whole, lane, stop, statistics);
}

absl::Status DealtHistogram::AddExtremes(const HistogramInput& input, uint64_t count, Lane& lane,
                                         const std::stop_token& stop, RunStatistics& statistics) {
  if (count == 0) return absl::OkStatus();
  const absl::StatusOr<HistogramResult> result = lane.RunHistogram(
      PlanOfRanges(plan_, count), {input.array, input.y_array, {}}, stop, statistics);
  if (!result.ok()) return result.status();
  const std::lock_guard lock(mutex_);
  extremes_.resize(result->bins.size());
  for (size_t i = 0; i < extremes_.size(); ++i) {
    const PlannedBins& found = result->bins[i];
    if (!found.smallest_sample) continue;
    Extremes& all = extremes_[i];
    all.smallest = std::min(all.smallest.value_or(*found.smallest_sample), *found.smallest_sample);
    all.largest = std::max(all.largest.value_or(*found.largest_sample), *found.largest_sample);
  }
  return absl::OkStatus();
}

absl::Status DealtHistogram::EndRanges(Lane& lane, const std::stop_token& stop,
                                       RunStatistics& statistics) {
  absl::Status status = AddExtremes(LooseInput(), loose_count_, lane, stop, statistics);
  if (status.ok()) status = CompletePlan(stop, plan_);
  extremes_.resize(plan_.bins.size());
  for (size_t i = 0; i < extremes_.size() && status.ok(); ++i) {
    if (!plan_.bins[i].automatic_range) continue;
    status = ResolveAutomaticRange(extremes_[i].smallest, extremes_[i].largest, plan_.bins[i]);
  }
  return status;
}

absl::Status DealtHistogram::RunPart(size_t part, const HistogramInput& input, Lane& lane,
                                     const std::stop_token& stop, RunStatistics& statistics,
                                     const std::optional<CounterRoom>& room) {
  absl::Status status = Prepare(stop);
  if (status.ok() && !needs_ranges_) status = BringLoose(part, input, lane, stop);
  if (!status.ok()) return status;
  const Split& split = splits_[part];
  const SamplesPart samples(plan_, input, split.head, split.whole);
  return Count(samples.input(), split.whole, lane, stop, statistics, room);
}

// The first part that runs completes the plan and makes the fold; the others wait for it.
absl::Status DealtHistogram::Prepare(const std::stop_token& stop) {
  const std::lock_guard lock(mutex_);
  if (fold_ != nullptr) return absl::OkStatus();
  if (absl::Status status = CompletePlan(stop, plan_); !status.ok()) return status;
  HistogramPlan empty = plan_;
  empty.array.element_count = 0;
  absl::StatusOr<std::unique_ptr<HistogramFold>> fold =
      HistogramFold::Make(std::move(empty), kAnyLane);
  if (!fold.ok()) return fold.status();
  fold_ = *std::move(fold);
  return absl::OkStatus();
}

absl::Status DealtHistogram::Count(const HistogramInput& input, uint64_t count, Lane& lane,
                                   const std::stop_token& stop, RunStatistics& statistics,
                                   const std::optional<CounterRoom>& room) {
  if (count == 0) return absl::OkStatus();
  HistogramPlan plan = PlanStates(plan_);
  plan.array = ArrayDescription::Vector(plan_.array.element_type, count);
  if (room) {
    absl::Status status = lane.CountInto(plan, input, room->words, stop, statistics);
    if (!status.ok()) return status;
    const std::lock_guard lock(mutex_);
    rooms_.push_back(*room);
    return absl::OkStatus();
  }
  absl::StatusOr<HistogramResult> result = lane.RunHistogram(plan, input, stop, statistics);
  if (!result.ok()) return result.status();
  const std::lock_guard lock(mutex_);
  fold_->NextBatch(count);
  fold_->Add(*std::move(result));
  return absl::OkStatus();
}

absl::Status DealtHistogram::BringLoose(size_t part, const HistogramInput& input, Lane& lane,
                                        const std::stop_token& stop) {
  const Split& split = splits_[part];
  const auto bring = [&](const InputSpan& from, ElementType type, uint64_t first, uint64_t count,
                         uint64_t place, std::vector<std::byte>& to) {
    if (count == 0) return absl::OkStatus();
    const uint64_t element_bytes = ElementSize(type);
    const InputPart part_of(from, first * element_bytes, count * element_bytes);
    return CopyToHost(part_of.span(), {to.data() + place * element_bytes, count * element_bytes},
                      lane, stop);
  };
  const auto bring_both = [&](const InputSpan& from, ElementType type, std::vector<std::byte>& to) {
    absl::Status status = bring(from, type, 0, split.head, split.loose_before, to);
    if (!status.ok()) return status;
    return bring(from, type, split.head + split.whole, split.tail, split.loose_before + split.head,
                 to);
  };
  absl::Status status = bring_both(input.array, plan_.array.element_type, loose_samples_);
  if (!status.ok() || !plan_.weight_type) return status;
  return bring_both(input.weights, *plan_.weight_type, loose_weights_);
}

HistogramInput DealtHistogram::LooseInput() const {
  return {.array = HostSpan{loose_samples_.data(), loose_samples_.size()},
          .y_array = HostSpan{},
          .weights = HostSpan{loose_weights_.data(), loose_weights_.size()}};
}

// Brings the counters of all rooms to the host, by one copy where the engine has one of them.
absl::Status DealtHistogram::AddUp(uint32_t engine, Lane& lane, const std::stop_token& stop) {
  const auto own = std::find_if(rooms_.begin(), rooms_.end(),
                                [&](const CounterRoom& room) { return room.engine == engine; });
  if (own != rooms_.end()) {
    std::iter_swap(rooms_.begin(), own);
    for (size_t i = 1; i < rooms_.size(); ++i) {
      absl::Status status = lane.AddWords(rooms_[i].words, rooms_.front().words, stop);
      if (!status.ok()) return status;
    }
    rooms_.resize(1);
  }
  for (const CounterRoom& room : rooms_) {
    absl::StatusOr<HistogramResult> result = Bring(room, lane, stop);
    if (!result.ok()) return result.status();
    const std::lock_guard lock(mutex_);
    fold_->Add(*std::move(result));
  }
  return absl::OkStatus();
}

absl::StatusOr<HistogramResult> DealtHistogram::Bring(const CounterRoom& room, Lane& lane,
                                                      const std::stop_token& stop) const {
  HistogramResult result;
  HistogramCounts& counts = result.channels.emplace_back();
  uint64_t head[kOutcomeWords];
  counts.counts.resize(plan_.total_bin_count());
  const auto bring = [&](uint64_t offset, std::span<uint64_t> to) {
    const std::span<std::byte> bytes = std::as_writable_bytes(to);
    return lane.Copy(ResidentSpan{room.words.data + offset, bytes.size()},
                     MutableHostSpan{bytes.data(), bytes.size()}, stop);
  };
  absl::Status status = bring(0, head);
  if (status.ok()) status = bring(sizeof(head), counts.counts);
  if (!status.ok()) return status;
  counts.underflow_count = head[0];
  counts.overflow_count = head[1];
  counts.nan_count = head[2];
  return result;
}

absl::StatusOr<HistogramResult> DealtHistogram::Finish(Lane& lane, const std::stop_token& stop,
                                                       RunStatistics& statistics, uint32_t engine) {
  absl::Status status = Prepare(stop);
  if (status.ok()) status = Count(LooseInput(), loose_count_, lane, stop, statistics);
  if (status.ok()) status = AddUp(engine, lane, stop);
  if (!status.ok()) return status;
  return std::move(*fold_).TakeResult();
}

}  // namespace gridfold::kernels
