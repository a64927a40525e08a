// Sums of weights in each block's shared memory, added up in device memory.
#include <cooperative_groups.h>

#include "kernels/cuda/histogram/place/sampler.cuh"
#include "kernels/cuda/histogram/plan/block.h"
#include "kernels/cuda/histogram/weights/weights.cuh"

namespace gridfold::kernels::cuda {

namespace {

// Sums of a block, of all bins. The copies of a sum stand side by side, each for other lanes of a
// warp. Words are kept as two halves in arrays of their own: shared memory adds 32 bits at a time,
// and an addition of 64 would be a loop of attempts.
class SharedSums {
 public:
  __device__ SharedSums(const HistogramArguments& arguments, uint32_t* halves)
      : arguments_(arguments),
        layout_(arguments.weight_layout),
        lows_(halves),
        highs_(halves + size()),
        copy_(threadIdx.x & (arguments.copies - 1)) {}

  // The number of 64-bit words.
  __device__ uint32_t size() const {
    return arguments_.bins_per_block * arguments_.copies * layout_.words;
  }

  __device__ void Clear() {
    for (uint32_t i = threadIdx.x; i < size(); i += blockDim.x) lows_[i] = highs_[i] = 0;
  }

  __device__ void AddFlags(uint64_t bin, uint32_t flags) {
    atomicOr(&lows_[IndexOf(bin, copy_, layout_.words - 1)], flags);
  }

  __device__ void AddDigit(uint64_t bin, uint32_t digit, int64_t value) {
    const uint32_t i = IndexOf(bin, copy_, digit);
    const uint32_t low = static_cast<uint32_t>(value);
    const uint32_t carry = atomicAdd(&lows_[i], low) > ~low ? 1 : 0;
    const uint32_t high = static_cast<uint32_t>(static_cast<uint64_t>(value) >> 32) + carry;
    if (high != 0) atomicAdd(&highs_[i], high);
  }

  // Adds all copies of the pass's bins to the sums in device memory, and clears them.
  __device__ void Flush() {
    for (uint32_t i = threadIdx.x; i < arguments_.bins_per_block * layout_.words; i += blockDim.x) {
      const uint32_t bin = i / layout_.words;
      const uint32_t word = i % layout_.words;
      const uint64_t offset = bin - arguments_.first_bin;
      if (word >= layout_.digits) {
        const unsigned long long flags = TakeFlags(bin);
        if (flags != 0 && offset < arguments_.pass_bin_count) {
          atomicOr(TotalOf(offset, word), flags);
        }
      } else {
        const uint64_t sum = TakeDigit(bin, word);
        if (sum != 0 && offset < arguments_.pass_bin_count) FlushDigit(offset, word, sum);
      }
    }
  }

 private:
  __device__ uint32_t IndexOf(uint64_t bin, uint32_t copy, uint32_t word) const {
    return (static_cast<uint32_t>(bin) * arguments_.copies + copy) * layout_.words + word;
  }

  __device__ uint32_t TakeFlags(uint32_t bin) {
    uint32_t flags = 0;
    for (uint32_t c = 0; c < arguments_.copies; ++c) {
      const uint32_t i = IndexOf(bin, c, layout_.words - 1);
      flags |= lows_[i];
      lows_[i] = 0;
    }
    return flags;
  }

  __device__ uint64_t TakeDigit(uint32_t bin, uint32_t digit) {
    uint64_t sum = 0;
    for (uint32_t c = 0; c < arguments_.copies; ++c) {
      const uint32_t i = IndexOf(bin, c, digit);
      sum += static_cast<uint64_t>(highs_[i]) << 32 | lows_[i];
      lows_[i] = highs_[i] = 0;
    }
    return sum;
  }

  // Carries on the way, so that totals take as many flushes as single weights.
  __device__ void FlushDigit(uint64_t offset, uint32_t digit, uint64_t sum) {
    if (digit + 1 == layout_.digits) {
      atomicAdd(TotalOf(offset, digit), static_cast<unsigned long long>(sum));
      return;
    }
    const int64_t carry = static_cast<int64_t>(sum) >> kWeightDigitBits;
    atomicAdd(TotalOf(offset, digit), static_cast<unsigned long long>(static_cast<uint32_t>(sum)));
    if (carry != 0) {
      atomicAdd(TotalOf(offset, digit + 1), static_cast<unsigned long long>(carry));
    }
  }

  __device__ unsigned long long* TotalOf(uint64_t offset, uint32_t word) const {
    return reinterpret_cast<unsigned long long*>(arguments_.counters) + offset * layout_.words +
           word;
  }

  const HistogramArguments& arguments_;
  const WeightLayout layout_;
  uint32_t* const lows_;
  uint32_t* const highs_;
  const uint32_t copy_;
};

template <class T>
__global__ void __launch_bounds__(kHistogramThreads)
    SumInShared(const __grid_constant__ HistogramArguments arguments) {
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  const auto block = cooperative_groups::this_thread_block();
  SharedSums sums(arguments, reinterpret_cast<uint32_t*>(shared));
  sums.Clear();
  const double* const edges = CopyEdges(
      arguments,
      reinterpret_cast<double*>(shared + HistogramPartBytes(sums.size() * sizeof(uint64_t))));
  block.sync();

  Sampler<T> sampler(arguments, edges);
  for (uint64_t begin = 0; begin < sampler.steps(); begin += arguments.steps_per_flush) {
    const uint64_t end = min(begin + arguments.steps_per_flush, uint64_t{sampler.steps()});
    sampler.ForEach(
        static_cast<uint32_t>(begin), static_cast<uint32_t>(end), [&](uint64_t bin, uint32_t step) {
          AddWeight(sums, bin, LoadWeight(arguments, sampler.SampleAt(step)), arguments.flags_kept);
        });
    block.sync();
    sums.Flush();
    block.sync();
  }
  if (arguments.outcomes != nullptr) sampler.ReportOutcomes();
}

}  // namespace

HistogramKernel FindSharedWeightsKernel(ElementType type) {
  return VisitElementType(
      type, [](auto tag) -> HistogramKernel { return SumInShared<typename decltype(tag)::type>; });
}

}  // namespace gridfold::kernels::cuda
