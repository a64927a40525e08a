#include "kernels/cuda/histogram/plan/guesses.h"

#include <optional>

#include "kernels/numerics/bins/guess.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint64_t kVectorBytes = 16;

uint64_t Misalignment(const void* array) {
  return reinterpret_cast<uintptr_t>(array) % kVectorBytes;
}

// Whether whole vectors begin at the same samples of both arrays.
bool AreAlike(const DeviceSpan& a, const DeviceSpan& b) {
  return Misalignment(a.data) == Misalignment(b.data);
}

// Samples before the first whole vector.
uint64_t SamplesBeforeVectors(const void* samples, uint64_t element_bytes) {
  return (kVectorBytes - Misalignment(samples)) % kVectorBytes / element_bytes;
}

// Whether the weights of every vector of samples are a vector of as many numbers.
bool AreBesideSamples(const HistogramPlan& plan, const DeviceHistogramInput& input) {
  const uint64_t sample_bytes = ElementSize(plan.array.element_type);
  const uint64_t weight_bytes = ElementSize(*plan.weight_type);
  const uint64_t before = SamplesBeforeVectors(input.samples.data, sample_bytes);
  const uint64_t first = reinterpret_cast<uintptr_t>(input.weights.data) + before * weight_bytes;
  return first % (kVectorBytes / sample_bytes * weight_bytes) == 0;
}

// The kind that the plan's shape and the arrays' places allow.
GuessKind KindOf(const HistogramPlan& plan, const DeviceHistogramInput& input) {
  if (plan.weight_type.has_value()) {
    const bool is_weighted = FitsWindows(plan) && AreBesideSamples(plan, input);
    return is_weighted ? GuessKind::kWeighted : GuessKind::kNone;
  }
  if (plan.two_dimensional) {
    return AreAlike(input.samples, input.y_samples) ? GuessKind::kPlane : GuessKind::kNone;
  }
  if (plan.channel_count == 1) return GuessKind::kOneChannel;
  const uint64_t vector_samples = kVectorBytes / ElementSize(plan.array.element_type);
  const bool is_whole =
      kFewChannels % plan.channel_count == 0 && vector_samples % plan.channel_count == 0;
  return is_whole ? GuessKind::kChannels : GuessKind::kNone;
}

// Only kernels for partitions of one channel's bins take so many that they need one.
uint32_t ShiftOf(GuessKind kind, uint64_t bin_count) {
  uint32_t shift = 0;
  if (kind != GuessKind::kOneChannel && kind != GuessKind::kWeighted) return shift;
  while (shift < kGuessShiftMax && bin_count > uint64_t{kGuessedBinsMax} << shift) ++shift;
  return shift;
}

// The channel of a guesser, of the layouts that the kind takes, counted from the channel of the
// first whole vector.
uint32_t ChannelOf(const HistogramPlan& plan, const DeviceHistogramInput& input, GuessKind kind,
                   uint32_t place) {
  if (kind == GuessKind::kOneChannel || kind == GuessKind::kWeighted) return 0;
  if (kind == GuessKind::kPlane) return place % 2;
  const uint64_t before =
      SamplesBeforeVectors(input.samples.data, ElementSize(plan.array.element_type));
  return static_cast<uint32_t>((before + place) % plan.channel_count);
}

SampleKind SampleKindOf(ElementType type) {
  return VisitElementType(type,
                          [](auto tag) { return kSampleKindOf<typename decltype(tag)::type>; });
}

}  // namespace

bool FitsWindows(const HistogramPlan& plan) {
  if (!plan.weight_type.has_value()) return false;
  const bool keeps_zero_signs =
      plan.return_states && plan.keeps_zero_signs && IsFloatingPoint(*plan.weight_type);
  return !keeps_zero_signs && plan.channel_count == 1 && !plan.two_dimensional &&
         FindWindowWeightsKernel(plan.array.element_type, *plan.weight_type) != nullptr;
}

HistogramGuesses GuessesOf(const HistogramPlan& plan, const DeviceHistogramInput& input,
                           const HistogramTables& tables) {
  HistogramGuesses result{.kind = KindOf(plan, input)};
  if (result.kind == GuessKind::kNone) return result;
  for (uint32_t place = 0; place < kFewChannels; ++place) {
    const uint32_t channel = ChannelOf(plan, input, result.kind, place);
    const ChannelBins& bins = tables.few_channels[channel];
    const std::optional<BinGuesser> guesser =
        MakeBinGuesser(bins.layout, SampleKindOf(plan.array.element_type), GuessRounding::kDown,
                       ShiftOf(result.kind, bins.layout.bin_count));
    if (!guesser.has_value()) return {};
    result.guesses[place] = {*guesser, static_cast<uint32_t>(bins.first_bin), channel};
  }
  return result;
}

}  // namespace gridfold::kernels::cuda
