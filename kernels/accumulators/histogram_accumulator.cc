#include "kernels/accumulators/histogram_accumulator.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/accumulators/bytes.h"
#include "kernels/accumulators/histogram_accumulator_header.h"
#include "kernels/accumulators/histogram_value.h"
#include "kernels/accumulators/histogram_writer.h"
#include "kernels/accumulators/state.h"
#include "kernels/contract/histogram_outline.h"

namespace gridfold::kernels {

namespace {

constexpr uint64_t kUint64Max = std::numeric_limits<uint64_t>::max();

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

absl::StatusOr<HistogramMerge> MakeHistogramPart(const HistogramPlan& plan,
                                                 const HistogramResult& result,
                                                 const std::stop_token& stop) {
  const absl::StatusOr<std::string> accumulator = MakeHistogramAccumulator(plan, result);
  if (!accumulator.ok()) return accumulator.status();
  const absl::StatusOr<AccumulatorBody> body = OpenAccumulator(*accumulator);
  if (!body.ok()) return body.status();
  HistogramPlan resolved = plan;
  resolved.bins = result.bins;
  return FoldHistograms(Combination::kMerge, resolved, {&body->bytes, 1}, stop);
}

}  // namespace gridfold::kernels
