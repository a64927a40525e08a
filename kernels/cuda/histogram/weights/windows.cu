// Sums of float and integer weights of one channel in each block's shared memory, in windows of
// words.
#include "kernels/cuda/histogram/plan/block.h"
#include "kernels/cuda/histogram/weights/window_counter.cuh"

namespace gridfold::kernels::cuda {

namespace {

template <class T, class Weights>
__global__ void __launch_bounds__(kHistogramThreads)
    SumInWindows(const __grid_constant__ HistogramArguments arguments) {
  using W = typename Weights::Element;
  using Counter = WindowCounter<T, Weights>;
  using Bits = std::conditional_t<sizeof(W) >= 4, typename Weights::Bits, W>;
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  __shared__ uint32_t drawn;
  __shared__ uint32_t largest;
  __shared__ uint32_t outcome_counts[SharedOutcomes::kWords];
  uint32_t* const memory = reinterpret_cast<uint32_t*>(shared);
  uint32_t* const queue_memory = memory + arguments.escape_words;
  uint32_t* const sums_memory = queue_memory + Counter::Queue::WordsOf(arguments);
  const BinRange bins = BinRange::Of(arguments);
  SharedOutcomes outcomes(outcome_counts);
  WeightWords sums(sums_memory, arguments.bins_per_block, kWindowSpareSums, arguments.window_words,
                   arguments.copies);
  Weights weights(arguments, memory, &largest);
  const uint32_t frequent_sum =
      arguments.copies < kSharingCopies
          ? FrequentSumOf(SurveyedSum<T>(arguments, bins), bins.count, sums_memory, &drawn)
          : kNoFrequentSum;
  sums.Clear();
  outcomes.Clear();
  if constexpr (std::is_floating_point_v<W>) weights.ClearOutside();
  __syncthreads();
  const BlockShare block = BlockShare::Of(arguments.part_count);
  const WeightedTurnRange<T, W> range(arguments.samples, arguments.weights, arguments.sample_count,
                                      block);
  Counter counter(arguments, weights, bins, sums, frequent_sum, {arguments, queue_memory},
                  outcomes);
  if (block.rank == 0) {
    range.VisitRest([&](uint64_t i) {
      counter.CountSlowly(static_cast<const T*>(arguments.samples)[i],
                          static_cast<const Bits*>(arguments.weights)[i]);
    });
  }
  const uint64_t turns_max = kSamplesPerFlushMax / range.kTurnSamples;
  VisitTurnsAndFlush(
      range, min(arguments.TurnsPerFlush(range.kTurnSamples), turns_max), &drawn,
      [&](const auto& row) { counter.Count(row); }, [&] { counter.Flush(); });
}

template <class T>
HistogramKernel KernelFor(ElementType weight_type) {
  if (weight_type == ElementType::kFloat32) return SumInWindows<T, Float32Weights>;
  if (weight_type == ElementType::kFloat64) return SumInWindows<T, Float64Weights>;
  if (IsFloatingPoint(weight_type)) return nullptr;
  switch (ElementSize(weight_type)) {
    case 1: return SumInWindows<T, IntegerWeights<uint8_t>>;
    case 2: return SumInWindows<T, IntegerWeights<uint16_t>>;
    case 4: return SumInWindows<T, IntegerWeights<uint32_t>>;
  }
  return nullptr;
}

}  // namespace

HistogramKernel FindWindowWeightsKernel(ElementType type, ElementType weight_type) {
  if (type == ElementType::kFloat32) return KernelFor<float>(weight_type);
  if (type == ElementType::kInt32) return KernelFor<int32_t>(weight_type);
  if (type == ElementType::kUint32) return KernelFor<uint32_t>(weight_type);
  return nullptr;
}

}  // namespace gridfold::kernels::cuda
