// A thread keeps what becomes of samples outside the bins.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_OUTCOMES_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_OUTCOMES_CUH_

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/numerics/bins/layout.h"

namespace gridfold::kernels::cuda {

__device__ inline const ChannelBins& ChannelBinsOf(const HistogramArguments& arguments,
                                                   uint32_t channel) {
  return arguments.channels != nullptr ? arguments.channels[channel]
                                       : arguments.few_channels[channel];
}

// Samples of one channel by their outcome.
class Outcomes {
 public:
  // `outcome` is that of a Placement; 0, of a sample in a bin, is not counted.
  __device__ void Count(int64_t outcome) {
    if (outcome == 0) return;
    counts_[0] += outcome == kUnderflowBin ? 1 : 0;
    counts_[1] += outcome == kOverflowBin ? 1 : 0;
    counts_[2] += outcome == kNanBin ? 1 : 0;
  }

  // Adds them to the channel's of [channel][kOutcomeCount] counters; once, at the end. Threads of a
  // warp with the same channel add together.
  template <class Counter>
  __device__ void Report(Counter* outcomes, uint32_t channel) const {
    using Word = std::conditional_t<sizeof(Counter) == 8, unsigned long long, uint32_t>;
    const auto same_channel =
        cooperative_groups::labeled_partition(cooperative_groups::coalesced_threads(), channel);
    for (int o = 0; o < kOutcomeCount; ++o) {
      const uint64_t count = cooperative_groups::reduce(same_channel, uint64_t{counts_[o]},
                                                        cooperative_groups::plus<uint64_t>());
      if (count == 0 || same_channel.thread_rank() != 0) continue;
      atomicAdd(reinterpret_cast<Word*>(outcomes) + uint64_t{channel} * kOutcomeCount + o,
                static_cast<Word>(count));
    }
  }

 private:
  uint32_t counts_[kOutcomeCount] = {0, 0, 0};
};

// The outcomes of few channels for all threads of a block, in its shared memory.
class SharedOutcomes {
 public:
  // `counts` are clear before anything is counted.
  __device__ explicit SharedOutcomes(uint32_t* counts) : counts_(counts) {}

  __device__ void Clear() {
    if (threadIdx.x < kWords) counts_[threadIdx.x] = 0;
  }

  // [channel][kOutcomeCount]
  __device__ uint32_t* counts() { return counts_; }

  // Counts an outcome that is not 0.
  __device__ void Count(uint32_t channel, int64_t outcome) {
    const uint32_t word = outcome == kUnderflowBin ? 0 : outcome == kOverflowBin ? 1 : 2;
    atomicAdd(&counts_[channel * kOutcomeCount + word], 1);
  }

  // Adds them to those in device memory, and clears them. All threads of the block.
  __device__ void Flush(const HistogramArguments& arguments) {
    if (threadIdx.x >= kWords || counts_[threadIdx.x] == 0) return;
    atomicAdd(reinterpret_cast<unsigned long long*>(arguments.outcomes) + threadIdx.x,
              static_cast<unsigned long long>(counts_[threadIdx.x]));
    counts_[threadIdx.x] = 0;
  }

  static constexpr uint32_t kWords = kFewChannels * kOutcomeCount;

 private:
  uint32_t* const counts_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_OUTCOMES_CUH_
