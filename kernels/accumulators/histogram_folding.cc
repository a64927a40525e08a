// FoldHistograms: one pass over the bins of all accumulators together, the lowest first.
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/accumulators/histogram_accumulator.h"
#include "kernels/accumulators/histogram_part.h"
#include "kernels/accumulators/histogram_writer.h"
#include "kernels/accumulators/state_difference.h"
#include "kernels/contract/histogram_outline.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/numerics/sums/weight_sum.h"

namespace gridfold::kernels {

namespace {

// Counts merge beside sums of weights.
using kernels::Merge;
void Merge(uint64_t other, uint64_t& count) { count += other; }

// Takes what `taken` stands for out of a bin; samples that remain in it are in `left` if all others
// are known to be gone.
Difference TakeOutOfBin(uint64_t taken, const Remainder&, uint64_t& count) {
  return TakeOut(taken, count);
}
Difference TakeOutOfBin(Int128 taken, const Remainder& left, Int128& sum) {
  return TakeOut(taken, left, /*is_signed=*/true, sum);
}
template <std::floating_point F>
Difference TakeOutOfBin(ExactSum<F, 1> taken, const Remainder& left, ExactSum<F, 1>& sum) {
  // A bin that is 0 does not say whether it has seen a weight.
  taken.AddFlags(kSawOtherThanNegativeZero);
  sum.AddFlags(kSawOtherThanNegativeZero);
  return TakeOut(taken, left, /*is_signed=*/true, sum);
}

absl::Status NotSubtractable(Difference difference) {
  return InvalidField("subtrahends", DescriptionOf(difference));
}

template <class Value>
class Folder {
 public:
  Folder(Combination combination, const HistogramPlan& plan,
         std::span<const absl::string_view> bodies)
      : combination_(combination), plan_(plan), bin_count_(plan.total_bin_count()) {
    result_.bins = plan.bins;
    result_.channels.resize(plan.channel_count);
    parts_.reserve(bodies.size());
    for (const absl::string_view body : bodies) parts_.emplace_back(plan, bin_count_, body);
  }

  absl::StatusOr<HistogramMerge> Run(const std::stop_token& stop) {
    if (absl::Status status = ReadOpenings(stop); !status.ok()) return status;
    WriteOpening(plan_, sample_count_, result_, writer_);
    AllocateBins();
    if (absl::Status status = FoldBins(stop); !status.ok()) return status;
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (!parts_[i].Finished()) return Damaged(i);
    }
    FinishHistogram(plan_, result_);
    return HistogramMerge{std::move(result_), std::move(writer_).Finish()};
  }

 private:
  // The next bin of a part; the lowest comes first.
  using Turn = std::pair<uint64_t, size_t>;
  using Turns = std::priority_queue<Turn, std::vector<Turn>, std::greater<>>;

  absl::Status Damaged(size_t i) const {
    return AccumulatorError(combination_, i, DamagedAccumulator());
  }

  // Whether the part is taken out of what comes before it.
  bool IsTakenOut(size_t i) const { return combination_ == Combination::kSubtract && i > 0; }

  // Folds what part i counts into a total.
  Difference FoldCount(size_t i, uint64_t count, uint64_t& total) const {
    if (IsTakenOut(i)) return TakeOut(count, total);
    total += count;
    return Difference::kKnown;
  }

  absl::Status ReadOpenings(const std::stop_token& stop) {
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (stop.stop_requested()) return absl::CancelledError("stopped");
      if (!parts_[i].ok()) return Damaged(i);
      if (!IsTakenOut(i) && parts_[i].sample_count() > kAccumulatedElementsMax - sample_count_) {
        const absl::Status status = absl::InvalidArgumentError(absl::StrCat(
            "more than ", kAccumulatedElementsMax, " samples with those of this part"));
        return AccumulatorError(combination_, i, status);
      }
      if (absl::Status status = FoldOpening(i); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status FoldOpening(size_t i) {
    Difference difference = FoldCount(i, parts_[i].sample_count(), sample_count_);
    const auto fold = [&](uint64_t count, uint64_t& total) {
      if (difference == Difference::kKnown) difference = FoldCount(i, count, total);
    };
    for (HistogramCounts& channel : result_.channels) {
      const OutcomeCounts counts = parts_[i].ReadOutcomes();
      fold(counts.underflow, channel.underflow_count);
      fold(counts.overflow, channel.overflow_count);
      fold(counts.nan, channel.nan_count);
    }
    if (!parts_[i].ok()) return Damaged(i);
    return difference == Difference::kKnown ? absl::OkStatus() : NotSubtractable(difference);
  }

  void AllocateBins() {
    for (size_t c = 0; c < result_.channels.size(); ++c) {
      const uint64_t bin_count = plan_.two_dimensional ? bin_count_ : plan_.bins[c].bin_count;
      if constexpr (std::is_same_v<Value, uint64_t>) {
        result_.channels[c].counts.resize(bin_count);
      } else {
        result_.channels[c].weight_sums.resize(bin_count);
      }
    }
  }

  absl::Status FoldBins(const std::stop_token& stop) {
    Turns turns;
    for (size_t i = 0; i < parts_.size(); ++i) {
      parts_[i].BeginBins();
      if (absl::Status status = Enqueue(i, turns); !status.ok()) return status;
    }
    BinWriter<Value> bins(writer_);
    while (!turns.empty()) {
      const uint64_t bin = turns.top().first;
      GoToChannelOf(bin);
      Value folded{};
      Value taken{};
      while (!turns.empty() && turns.top().first == bin) {
        if (stop.stop_requested()) return absl::CancelledError("stopped");
        const size_t i = turns.top().second;
        turns.pop();
        Value value{};
        parts_[i].Read(value);
        if (!parts_[i].ok()) return Damaged(i);
        Merge(value, IsTakenOut(i) ? taken : folded);
        if (absl::Status status = Enqueue(i, turns); !status.ok()) return status;
      }
      if (combination_ == Combination::kSubtract) {
        const Difference difference = TakeOutOfBin(taken, LeftInChannel(), folded);
        if (difference != Difference::kKnown) return NotSubtractable(difference);
      }
      bins.Write(bin, folded);
      Answer(bin, folded);
    }
    bins.Finish(bin_count_);
    return absl::OkStatus();
  }

  // What is known of the samples that remain in a bin: that there are none, where none remain in
  // the channel.
  Remainder LeftInChannel() const {
    const HistogramCounts& channel = result_.channels[channel_];
    const uint64_t in_bins =
        SamplesInBins(plan_, sample_count_ / plan_.channel_count,
                      channel.underflow_count + channel.overflow_count, channel.nan_count);
    return {.taking = in_bins == 0 ? std::optional<uint64_t>(0) : std::nullopt};
  }

  absl::Status Enqueue(size_t i, Turns& turns) {
    parts_[i].SkipRun();
    if (!parts_[i].ok()) return Damaged(i);
    if (parts_[i].bin() < bin_count_) turns.emplace(parts_[i].bin(), i);
    return absl::OkStatus();
  }

  // Bins come in increasing order.
  void GoToChannelOf(uint64_t bin) {
    const auto size = [&] {
      return plan_.two_dimensional ? bin_count_ : plan_.bins[channel_].bin_count;
    };
    while (bin - channel_begin_ >= size()) {
      channel_begin_ += size();
      ++channel_;
    }
  }

  // Stores a bin in the channel that it belongs to.
  void Answer(uint64_t bin, const Value& value) {
    if constexpr (std::is_same_v<Value, uint64_t>) {
      result_.channels[channel_].counts[bin - channel_begin_] = value;
    } else {
      result_.channels[channel_].weight_sums[bin - channel_begin_] = RoundedWeightSum(value);
    }
  }

  const Combination combination_;
  const HistogramPlan& plan_;
  const uint64_t bin_count_;
  std::vector<Part<Value>> parts_;
  HistogramResult result_;
  AccumulatorWriter writer_{AccumulatorKind::kHistogram};
  uint64_t sample_count_ = 0;
  size_t channel_ = 0;
  uint64_t channel_begin_ = 0;
};

}  // namespace

absl::StatusOr<HistogramMerge> FoldHistograms(Combination combination, const HistogramPlan& plan,
                                              std::span<const absl::string_view> bodies,
                                              const std::stop_token& stop) {
  absl::StatusOr<HistogramMerge> folded = VisitValue(plan, [&](const auto& value) {
    return Folder<std::decay_t<decltype(value)>>(combination, plan, bodies).Run(stop);
  });
  if (combination == Combination::kMerge || !folded.ok()) return folded;
  // What remains is read as if anybody had sent it: no samples may have led to it.
  const std::string remainder = std::move(folded->accumulator);
  const absl::StatusOr<AccumulatorBody> body = OpenAccumulator(remainder);
  if (!body.ok()) return body.status();
  folded = FoldHistograms(Combination::kMerge, plan, {&body->bytes, 1}, stop);
  return absl::IsInvalidArgument(folded.status()) ? NotSubtractable(Difference::kNeverIn) : folded;
}

}  // namespace gridfold::kernels
