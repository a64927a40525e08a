#include "kernels/folds/histogram_words.h"

#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/accumulators/bytes.h"
#include "kernels/accumulators/histogram_accumulator.h"
#include "kernels/accumulators/histogram_accumulator_header.h"
#include "kernels/accumulators/histogram_value.h"
#include "kernels/folds/word_sums.h"

namespace gridfold::kernels {

namespace {

constexpr uint64_t kCountsOfChannel = 3;

constexpr uint64_t WordsIn(uint64_t) { return kWordsOfCount; }
void WriteWords(WordWriter& writer, uint64_t count) { writer.Count(count); }
void ReadWords(WordReader& reader, uint64_t& count) { count = reader.Count(); }

// Counts have words beside sums of weights.
using kernels::ReadWords;
using kernels::WordsIn;
using kernels::WriteWords;

template <class Value>
void WriteBins(const HistogramPlan& plan, uint64_t sample_count, AccumulatorReader& reader,
               WordWriter& writer) {
  const uint64_t bin_count = plan.total_bin_count();
  uint64_t run = 0;  // Bins that are 0 and have not been written.
  for (uint64_t bin = 0; bin < bin_count; ++bin) {
    Value value{};
    if (run == 0 && reader.PeekByte() == kRun<Value>) {
      reader.Byte();
      run = reader.Integer();
    }
    if (run > 0) {
      --run;
    } else {
      ReadValue(reader, plan.weight_type.value_or(ElementType{}), sample_count, value);
    }
    WriteWords(writer, value);
  }
}

// The bins of one channel, or those of all channels one after the other.
template <class Value>
std::vector<Value> ReadBins(WordReader& reader, uint64_t bin_count) {
  std::vector<Value> bins(bin_count);
  for (Value& value : bins) ReadWords(reader, value);
  return bins;
}

}  // namespace

uint64_t BinWordCount(const HistogramPlan& plan) {
  return VisitValue(plan, [&](const auto& value) {
    return kWordsOfCount * (1 + kCountsOfChannel * plan.channel_count) +
           plan.total_bin_count() * WordsIn(value);
  });
}

std::string OpeningOf(const HistogramPlan& plan) {
  AccumulatorWriter writer(AccumulatorKind::kHistogram);
  WriteHistogramHeader(plan, plan.bins, writer);
  return std::move(writer).Finish();
}

void WriteBinWords(const HistogramPlan& plan, absl::string_view body, WordWriter& writer) {
  AccumulatorReader reader(body);
  ReadHistogramHeader(reader);
  const uint64_t sample_count = reader.Integer();
  writer.Count(sample_count);
  for (uint64_t i = 0; i < kCountsOfChannel * plan.channel_count; ++i) {
    writer.Count(reader.Integer());
  }
  VisitValue(plan, [&](const auto& value) {
    WriteBins<std::decay_t<decltype(value)>>(plan, sample_count, reader, writer);
  });
}

absl::StatusOr<std::string> ReadBinWords(const HistogramPlan& plan, WordReader& reader) {
  HistogramPlan counted = plan;
  counted.array.element_count = reader.Count();
  HistogramResult result;
  result.bins = plan.bins;
  result.channels.resize(plan.channel_count);
  for (HistogramCounts& channel : result.channels) {
    channel.underflow_count = reader.Count();
    channel.overflow_count = reader.Count();
    channel.nan_count = reader.Count();
  }
  VisitValue(plan, [&](const auto& value) {
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, uint64_t>) {
      for (size_t c = 0; c < result.channels.size(); ++c) {
        const uint64_t bins =
            plan.two_dimensional ? plan.total_bin_count() : plan.bins[c].bin_count;
        result.channels[c].counts = ReadBins<Value>(reader, bins);
      }
    } else {
      result.weight_states = ReadBins<Value>(reader, plan.total_bin_count());
    }
  });
  return MakeHistogramAccumulator(counted, result);
}

}  // namespace gridfold::kernels
