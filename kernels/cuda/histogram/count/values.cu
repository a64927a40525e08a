// Samples of 8 bits: every block counts values, and locates the bin of each value once, at the end.
// Any layout and out-of-range policy; one, two or four channels.
#include "kernels/cuda/histogram/place/counters.cuh"
#include "kernels/cuda/histogram/place/outcomes.cuh"
#include "kernels/cuda/histogram/place/turns.cuh"
#include "kernels/cuda/histogram/plan/block.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint32_t kWordSamples = 4;  // And a multiple of the number of channels.

// Counters of the values of all channels, channel by channel.
template <class T>
class ValueCounter {
 public:
  // `head` samples stand before the first word.
  __device__ ValueCounter(const HistogramArguments& arguments, SharedCounters& counters,
                          uint64_t head)
      : arguments_(arguments), counters_(counters) {
#pragma unroll
    for (uint32_t b = 0; b < kWordSamples; ++b) {
      own_[b] = counters.AddressOf(static_cast<int32_t>(FirstOf(head + b)));
    }
  }

  __device__ void Count(const uint4& vector) {
    CountWord(vector.x);
    CountWord(vector.y);
    CountWord(vector.z);
    CountWord(vector.w);
  }

  __device__ void Count(T x, uint64_t index) {
    counters_.Add(FirstOf(index) + static_cast<uint8_t>(x));
  }

  // Adds the counts to those of the values' bins, in device memory. A thread has all copies of a
  // counter, so that those of a warp locate bins together.
  __device__ void Flush() {
    for (uint32_t i = threadIdx.x; i < arguments_.bins_per_block; i += blockDim.x) {
      const unsigned long long total = counters_.Take(static_cast<int32_t>(i));
      if (total != 0) AddValue(i / kByteValues, static_cast<T>(i % kByteValues), total);
    }
  }

 private:
  // The first counter of the channel that sample `index` belongs to.
  __device__ uint32_t FirstOf(uint64_t index) const {
    return static_cast<uint32_t>(index % arguments_.channel_count) * kByteValues;
  }

  __device__ void AddValue(uint32_t channel, T value, unsigned long long total) const {
    const ChannelBins& bins = ChannelBinsOf(arguments_, channel);
    const Placement placement =
        Place(LocateBin(bins.layout, value), bins.layout.bin_count, arguments_.out_of_range_policy);
    if (placement.bin >= 0) {
      atomicAdd(reinterpret_cast<unsigned long long*>(arguments_.counters) + bins.first_bin +
                    placement.bin,
                total);
    }
    // Integers are never NaN.
    if (placement.outcome != 0) {
      atomicAdd(reinterpret_cast<unsigned long long*>(arguments_.outcomes) +
                    uint64_t{channel} * kOutcomeCount +
                    (placement.outcome == kUnderflowBin ? 0 : 1),
                total);
    }
  }

  __device__ void CountWord(uint32_t word) {
#pragma unroll
    for (uint32_t b = 0; b < kWordSamples; ++b) {
      SharedCounters::AddAt(counters_.AddressOfByte(word, b, own_[b]));
    }
  }

  const HistogramArguments& arguments_;
  SharedCounters& counters_;
  uint32_t own_[kWordSamples];  // Addresses of the channels' counters.
};

template <class T>
__global__ void __launch_bounds__(kHistogramThreads)
    CountValues(const __grid_constant__ HistogramArguments arguments) {
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  __shared__ uint32_t drawn;
  SharedCounters counters(reinterpret_cast<uint32_t*>(shared), arguments.bins_per_block,
                          arguments.copies);
  counters.Clear();
  __syncthreads();

  const BlockShare block = BlockShare::Of(1);
  const TurnRange<T> range(arguments.samples, nullptr, arguments.sample_count, block);
  ValueCounter<T> counter(arguments, counters, range.head);
  if (block.rank == 0)
    range.VisitRest([&](uint64_t index) { counter.Count(range.samples[index], index); });
  VisitTurnsAndFlush(
      range, arguments.TurnsPerFlush(range.kTurnSamples), &drawn,
      [&](const VectorRow<1>& row) { counter.Count(row.of[0]); }, [&] { counter.Flush(); });
}

}  // namespace

HistogramKernel FindValuesHistogramKernel(ElementType type) {
  return type == ElementType::kInt8 ? CountValues<int8_t> : CountValues<uint8_t>;
}

}  // namespace gridfold::kernels::cuda
