#include "kernels/accumulators/histogram_accumulator.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/accumulators/bytes.h"
#include "kernels/accumulators/histogram_accumulator_header.h"
#include "kernels/accumulators/histogram_value.h"
#include "kernels/accumulators/state.h"
#include "kernels/contract/histogram_outline.h"
#include "kernels/numerics/sums/weight_sum.h"

namespace gridfold::kernels {

namespace {

constexpr uint64_t kUint64Max = std::numeric_limits<uint64_t>::max();

// Counts merge beside sums of weights.
using kernels::Merge;
void Merge(uint64_t other, uint64_t& count) { count += other; }

// Writes bins in increasing order; those that are left out are 0.
template <class Value>
class BinWriter {
 public:
  explicit BinWriter(AccumulatorWriter& writer) : writer_(writer) {}

  void Write(uint64_t bin, const Value& value) {
    if (value == Value{}) return;
    WriteRunUpTo(bin);
    WriteValue(writer_, value);
    ++next_bin_;
  }

  void Finish(uint64_t bin_count) { WriteRunUpTo(bin_count); }

 private:
  void WriteRunUpTo(uint64_t bin) {
    if (bin == next_bin_) return;
    writer_.Byte(kRun<Value>);
    writer_.Integer(bin - next_bin_);
    next_bin_ = bin;
  }

  AccumulatorWriter& writer_;
  uint64_t next_bin_ = 0;
};

// --- One accumulator of several, bin by bin.

struct OutcomeCounts {
  uint64_t underflow = 0;
  uint64_t overflow = 0;
  uint64_t nan = 0;
};

OutcomeCounts ReadOutcomeCounts(AccumulatorReader& reader) {
  OutcomeCounts counts;
  counts.underflow = reader.Integer();
  counts.overflow = reader.Integer();
  counts.nan = reader.Integer();
  return counts;
}

// What is read is checked against what else the accumulator says: every sample of a channel is in
// one of its bins or counted as outside.
template <class Value>
class Part {
 public:
  Part(const HistogramPlan& plan, uint64_t bin_count, absl::string_view body)
      : plan_(plan), bin_count_(bin_count), reader_(body) {
    ReadHistogramHeader(reader_);
    sample_count_ = reader_.Integer();
    reader_.Require(sample_count_ <= kAccumulatedElementsMax &&
                    sample_count_ % plan.channel_count == 0);
    outcomes_ = reader_;
  }

  bool ok() const { return reader_.ok(); }
  uint64_t sample_count() const { return sample_count_; }

  // Those of the next channel.
  OutcomeCounts ReadOutcomes() {
    const OutcomeCounts counts = ReadOutcomeCounts(reader_);
    const uint64_t samples = ChannelSamples();
    const bool fit = counts.underflow <= samples && counts.overflow <= samples - counts.underflow &&
                     counts.nan <= samples - counts.underflow - counts.overflow;
    reader_.Require(fit && (counts.nan == 0 || IsFloatingPoint(plan_.array.element_type)));
    return counts;
  }

  // To be called behind the outcomes of all channels.
  void BeginBins() {
    if (reader_.ok()) OpenChannel();
  }

  // The next bin that is not 0, or the number of bins.
  uint64_t bin() const { return bin_; }

  // Moves to the first bin that is not 0, or from one to the next once it is read.
  void SkipRun() {
    if (bin_ == bin_count_) return;
    if (reader_.PeekByte() != kRun<Value>) return;
    reader_.Byte();
    const uint64_t length = reader_.Integer();
    reader_.Require(length > 0 && length <= bin_count_ - bin_);
    if (reader_.ok()) bin_ += length;
  }

  void Read(Value& value) {
    GoTo(bin_);
    reader_.Require(in_bins_ > 0);
    ReadValue(reader_, plan_.weight_type.value_or(ElementType{}), in_bins_, value);
    // A value that is 0, like a run after a run, has another form.
    reader_.Require(!(value == Value{}));
    if constexpr (std::is_same_v<Value, uint64_t>) {
      const uint64_t clamped = ClampedInto(bin_);
      reader_.Require(value >= clamped);
      if (!reader_.ok()) return;
      in_bins_ -= value;
      not_found_ -= clamped;
    }
    ++bin_;
  }

  // Whether all bytes were read, and nothing is missing.
  bool Finished() {
    if (reader_.ok()) GoTo(bin_count_);
    return reader_.ok() && reader_.rest_size() == 0;
  }

 private:
  uint64_t ChannelSamples() const { return sample_count_ / plan_.channel_count; }

  uint64_t ChannelBins() const {
    return plan_.two_dimensional ? bin_count_ : plan_.bins[channel_].bin_count;
  }

  void OpenChannel() {
    channel_end_ += ChannelBins();
    const OutcomeCounts counts = ReadOutcomeCounts(outcomes_);
    const bool clamps = plan_.out_of_range_policy == OutOfRangePolicy::kClamp;
    const uint64_t outside = counts.underflow + counts.overflow;
    in_bins_ = ChannelSamples() - counts.nan - (clamps ? 0 : outside);
    // In two dimensions samples are clamped into the bins of all four sides.
    clamped_ = clamps && !plan_.two_dimensional ? counts : OutcomeCounts{};
    not_found_ = clamped_.underflow + clamped_.overflow;
  }

  // Samples outside that are counted in this bin of the channel.
  uint64_t ClampedInto(uint64_t bin) const {
    return (bin == channel_end_ - ChannelBins() ? clamped_.underflow : 0) +
           (bin + 1 == channel_end_ ? clamped_.overflow : 0);
  }

  // Leaves the channels whose bins are all below this one.
  void GoTo(uint64_t bin) {
    while (bin >= channel_end_) {
      if constexpr (std::is_same_v<Value, uint64_t>) {
        reader_.Require(in_bins_ == 0 && not_found_ == 0);
      }
      if (channel_end_ == bin_count_ || !reader_.ok()) return;
      ++channel_;
      OpenChannel();
    }
  }

  const HistogramPlan& plan_;
  const uint64_t bin_count_;
  AccumulatorReader reader_;
  uint64_t sample_count_ = 0;
  uint64_t bin_ = 0;
  // Of the channel that `bin_` belongs to. Of all channels together they would take more memory
  // than the bytes do: they are read again, from `outcomes_`.
  AccumulatorReader outcomes_{absl::string_view()};
  size_t channel_ = 0;
  uint64_t channel_end_ = 0;  // The first bin behind it.
  uint64_t in_bins_ = 0;      // Samples that its bins hold; of counts, that no bin so far holds.
  OutcomeCounts clamped_;
  uint64_t not_found_ = 0;  // Clamped samples whose bins have not been read.
};

// Writes what stands before the bins.
void WriteOpening(const HistogramPlan& plan, uint64_t sample_count, const HistogramResult& result,
                  AccumulatorWriter& writer) {
  WriteHistogramHeader(plan, result.bins, writer);
  writer.Integer(sample_count);
  for (const HistogramCounts& channel : result.channels) {
    writer.Integer(channel.underflow_count);
    writer.Integer(channel.overflow_count);
    writer.Integer(channel.nan_count);
  }
}

template <class Value>
class Merger {
 public:
  Merger(const HistogramPlan& plan, std::span<const absl::string_view> bodies)
      : plan_(plan), bin_count_(plan.total_bin_count()) {
    result_.bins = plan.bins;
    result_.channels.resize(plan.channel_count);
    parts_.reserve(bodies.size());
    for (const absl::string_view body : bodies) parts_.emplace_back(plan, bin_count_, body);
  }

  absl::StatusOr<HistogramMerge> Run(const std::stop_token& stop) {
    if (absl::Status status = ReadOpenings(stop); !status.ok()) return status;
    WriteOpening(plan_, sample_count_, result_, writer_);
    AllocateBins();
    if (absl::Status status = MergeBins(stop); !status.ok()) return status;
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (!parts_[i].Finished()) return AccumulatorError(i, DamagedAccumulator());
    }
    FinishHistogram(plan_, result_);
    return HistogramMerge{std::move(result_), std::move(writer_).Finish()};
  }

 private:
  // The next bin of a part; the lowest comes first.
  using Turn = std::pair<uint64_t, size_t>;
  using Turns = std::priority_queue<Turn, std::vector<Turn>, std::greater<>>;

  absl::Status ReadOpenings(const std::stop_token& stop) {
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (stop.stop_requested()) return absl::CancelledError("stopped");
      if (!parts_[i].ok()) return AccumulatorError(i, DamagedAccumulator());
      if (parts_[i].sample_count() > kAccumulatedElementsMax - sample_count_) {
        return AccumulatorError(
            i, absl::InvalidArgumentError(absl::StrCat("more than ", kAccumulatedElementsMax,
                                                       " samples with those of this part")));
      }
      sample_count_ += parts_[i].sample_count();
      for (HistogramCounts& channel : result_.channels) {
        const OutcomeCounts counts = parts_[i].ReadOutcomes();
        channel.underflow_count += counts.underflow;
        channel.overflow_count += counts.overflow;
        channel.nan_count += counts.nan;
      }
      if (!parts_[i].ok()) return AccumulatorError(i, DamagedAccumulator());
    }
    return absl::OkStatus();
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

  absl::Status MergeBins(const std::stop_token& stop) {
    Turns turns;
    for (size_t i = 0; i < parts_.size(); ++i) {
      parts_[i].BeginBins();
      if (absl::Status status = Enqueue(i, turns); !status.ok()) return status;
    }
    BinWriter<Value> bins(writer_);
    while (!turns.empty()) {
      const uint64_t bin = turns.top().first;
      Value merged{};
      while (!turns.empty() && turns.top().first == bin) {
        if (stop.stop_requested()) return absl::CancelledError("stopped");
        const size_t i = turns.top().second;
        turns.pop();
        Value value{};
        parts_[i].Read(value);
        if (!parts_[i].ok()) return AccumulatorError(i, DamagedAccumulator());
        Merge(value, merged);
        if (absl::Status status = Enqueue(i, turns); !status.ok()) return status;
      }
      bins.Write(bin, merged);
      Answer(bin, merged);
    }
    bins.Finish(bin_count_);
    return absl::OkStatus();
  }

  absl::Status Enqueue(size_t i, Turns& turns) {
    parts_[i].SkipRun();
    if (!parts_[i].ok()) return AccumulatorError(i, DamagedAccumulator());
    if (parts_[i].bin() < bin_count_) turns.emplace(parts_[i].bin(), i);
    return absl::OkStatus();
  }

  // Stores a bin in the channel that it belongs to; bins come in increasing order.
  void Answer(uint64_t bin, const Value& value) {
    const auto size = [&] {
      return plan_.two_dimensional ? bin_count_ : plan_.bins[channel_].bin_count;
    };
    while (bin - channel_begin_ >= size()) {
      channel_begin_ += size();
      ++channel_;
    }
    if constexpr (std::is_same_v<Value, uint64_t>) {
      result_.channels[channel_].counts[bin - channel_begin_] = value;
    } else {
      result_.channels[channel_].weight_sums[bin - channel_begin_] = RoundedWeightSum(value);
    }
  }

  const HistogramPlan& plan_;
  const uint64_t bin_count_;
  std::vector<Part<Value>> parts_;
  HistogramResult result_;
  AccumulatorWriter writer_{AccumulatorKind::kHistogram};
  uint64_t sample_count_ = 0;
  size_t channel_ = 0;
  uint64_t channel_begin_ = 0;
};

// The bins of all channels, one after the other, by a callable f(bin, value).
template <class Value, class F>
bool ForEachBin(const HistogramPlan& plan, const HistogramResult& result, F&& f) {
  uint64_t bin = 0;
  if constexpr (std::is_same_v<Value, uint64_t>) {
    for (const HistogramCounts& channel : result.channels) {
      for (const uint64_t count : channel.counts) f(bin++, count);
    }
  } else if (const auto* states = std::get_if<std::vector<Value>>(&result.weight_states)) {
    for (const Value& sum : *states) f(bin++, sum);
  }
  return bin == plan.total_bin_count();
}

}  // namespace

HistogramPlan PlanStates(HistogramPlan plan) {
  plan.sparse = false;
  plan.quantiles.clear();
  plan.return_states = true;
  return plan;
}

absl::StatusOr<std::string> MakeHistogramAccumulator(const HistogramPlan& plan,
                                                     const HistogramResult& result) {
  return VisitValue(plan, [&](const auto& value) -> absl::StatusOr<std::string> {
    using Value = std::decay_t<decltype(value)>;
    AccumulatorWriter writer(AccumulatorKind::kHistogram);
    WriteOpening(plan, plan.array.element_count, result, writer);
    BinWriter<Value> bins(writer);
    const bool complete = ForEachBin<Value>(
        plan, result, [&](uint64_t bin, const Value& content) { bins.Write(bin, content); });
    if (!complete) return absl::InternalError("the engine returned no states of the bins");
    bins.Finish(plan.total_bin_count());
    return std::move(writer).Finish();
  });
}

uint64_t HistogramAccumulatorBytesMax(const HistogramPlan& plan) {
  constexpr uint64_t kHeaderBytesMax = 64;
  constexpr uint64_t kChannelBytesMax = 64;
  // What a bin's value takes beside its own bytes, and the run of empty bins before it.
  constexpr uint64_t kFramingBytes = 16;
  const uint64_t value_bytes =
      VisitValue(plan, [](const auto& value) -> uint64_t { return sizeof(value); });
  uint64_t bytes = kHeaderBytesMax + plan.channel_count * kChannelBytesMax;
  bytes += plan.quantiles.size() * sizeof(double);
  for (const PlannedBins& bins : plan.bins) {
    if (bins.kind != BinKind::kTable) continue;
    bytes += (bins.bin_count + 1) * sizeof(double) * UsesOfBins(plan);
  }
  // Weights have a state for each bin; of counts only those that are not 0 take room.
  const uint64_t bins = plan.weight_type.has_value()
                            ? plan.total_bin_count()
                            : std::min(plan.total_bin_count(), plan.array.element_count);
  uint64_t values = 0;
  if (__builtin_mul_overflow(bins, value_bytes + kFramingBytes, &values) ||
      __builtin_add_overflow(bytes, values, &bytes)) {
    return kUint64Max;
  }
  return bytes;
}

absl::StatusOr<HistogramPlan> PlanOfHistogramBody(absl::string_view body, uint64_t bin_count_max,
                                                  uint32_t channel_count_max) {
  AccumulatorReader reader(body);
  HistogramHeader header = ReadHistogramHeader(reader);
  const uint64_t sample_count = reader.Integer();
  reader.Require(sample_count <= kAccumulatedElementsMax);
  if (!reader.ok()) return DamagedAccumulator();
  if (header.spec.channel_count > channel_count_max) {
    return absl::InvalidArgumentError(absl::StrCat(header.spec.channel_count,
                                                   " channels are more than the ",
                                                   channel_count_max, " that are allowed"));
  }
  return PlanHistogram(ArrayDescription::Vector(header.element_type, sample_count),
                       std::move(header.spec), bin_count_max);
}

absl::StatusOr<uint64_t> SamplesOfAgreeingBody(absl::string_view first, absl::string_view body) {
  AccumulatorReader first_reader(first);
  AccumulatorReader reader(body);
  const HistogramHeader first_header = ReadHistogramHeader(first_reader);
  const HistogramHeader header = ReadHistogramHeader(reader);
  const absl::string_view header_bytes = reader.consumed();
  const uint64_t sample_count = reader.Integer();
  reader.Require(sample_count <= kAccumulatedElementsMax);
  if (!reader.ok()) return DamagedAccumulator();
  // Equal headers have equal bytes.
  if (first_reader.consumed() == header_bytes) return sample_count;
  return absl::InvalidArgumentError(
      absl::StrCat("its ", DifferenceOf(first_header, header), " is not the first one's"));
}

absl::StatusOr<HistogramMerge> MergeHistograms(const HistogramPlan& plan,
                                               std::span<const absl::string_view> bodies,
                                               const std::stop_token& stop) {
  return VisitValue(plan, [&](const auto& value) {
    return Merger<std::decay_t<decltype(value)>>(plan, bodies).Run(stop);
  });
}

absl::StatusOr<HistogramMerge> MakeHistogramPart(const HistogramPlan& plan,
                                                 const HistogramResult& result,
                                                 const std::stop_token& stop) {
  const absl::StatusOr<std::string> accumulator = MakeHistogramAccumulator(plan, result);
  if (!accumulator.ok()) return accumulator.status();
  const absl::StatusOr<AccumulatorBody> body = OpenAccumulator(*accumulator);
  if (!body.ok()) return body.status();
  HistogramPlan resolved = plan;
  resolved.bins = result.bins;
  return MergeHistograms(resolved, {&body->bytes, 1}, stop);
}

}  // namespace gridfold::kernels
