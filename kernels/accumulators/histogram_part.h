// One accumulator of several of a histogram, read bin by bin (bytes.h has the layout). For
// histogram_folding.cc only.
#ifndef GRIDFOLD_KERNELS_ACCUMULATORS_HISTOGRAM_PART_H_
#define GRIDFOLD_KERNELS_ACCUMULATORS_HISTOGRAM_PART_H_

#include <cstdint>
#include <type_traits>

#include "absl/strings/string_view.h"
#include "kernels/accumulators/bytes.h"
#include "kernels/accumulators/histogram_accumulator_header.h"
#include "kernels/accumulators/histogram_value.h"
#include "kernels/accumulators/state.h"
#include "kernels/contract/histogram.h"

namespace gridfold::kernels {

struct OutcomeCounts {
  uint64_t underflow = 0;
  uint64_t overflow = 0;
  uint64_t nan = 0;
};

// How many samples of a channel are in its bins.
inline uint64_t SamplesInBins(const HistogramPlan& plan, uint64_t samples, uint64_t outside,
                              uint64_t nans) {
  const bool clamps = plan.out_of_range_policy == OutOfRangePolicy::kClamp;
  return samples - nans - (clamps ? 0 : outside);
}

inline OutcomeCounts ReadOutcomeCounts(AccumulatorReader& reader) {
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
    in_bins_ = SamplesInBins(plan_, ChannelSamples(), outside, counts.nan);
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

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_HISTOGRAM_PART_H_
