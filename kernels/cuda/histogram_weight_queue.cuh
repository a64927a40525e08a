// Weights that are outside of a window, and the bins that they belong to, kept until a warp has
// many of them: then its lanes add them together, and not while all the others wait for one.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHT_QUEUE_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHT_QUEUE_CUH_

#include <cstdint>

#include "kernels/cuda/histogram_block.h"
#include "kernels/cuda/histogram_turns.cuh"

namespace gridfold::kernels::cuda {

// Of a warp; weights are Bits. All members are for all its lanes.
template <class Bits>
class WeightQueue {
 public:
  static constexpr uint32_t kWords = WeightQueueWords(sizeof(Bits));

  // `memory` is that of all the block's queues.
  __device__ explicit WeightQueue(uint32_t* memory)
      : words_(memory + threadIdx.x / kWarpLanes * kWords) {}

  // Keeps the weights of those lanes; calls add(bin, weight bits) for 32 of those that are kept
  // where there is no room for them.
  template <class Add>
  __device__ void Keep(uint32_t lanes, uint32_t bin, Bits weight_bits, Add&& add) {
    if (size_ > kWarpLanes) AddLast(kWarpLanes, add);
    const uint32_t lane = threadIdx.x % kWarpLanes;
    const uint32_t before = (uint32_t{1} << lane) - 1;
    const uint32_t entry = size_ + static_cast<uint32_t>(__popc(lanes & before));
    if ((lanes >> lane & 1) != 0) {
      WordAt(entry, 0) = bin;
      WordAt(entry, 1) = static_cast<uint32_t>(weight_bits);
      if constexpr (sizeof(Bits) == 8) WordAt(entry, 2) = static_cast<uint32_t>(weight_bits >> 32);
    }
    size_ += static_cast<uint32_t>(__popc(lanes));
  }

  // Calls add(bin, weight bits) for all that are kept, and forgets them.
  template <class Add>
  __device__ void Empty(Add&& add) {
    while (size_ > 0) AddLast(min(size_, kWarpLanes), add);
  }

 private:
  static constexpr uint32_t kEntries = kWeightQueueEntries;
  static_assert(kEntries == 2 * kWarpLanes);

  template <class Add>
  __device__ void AddLast(uint32_t count, Add&& add) {
    __syncwarp();
    size_ -= count;
    const uint32_t lane = threadIdx.x % kWarpLanes;
    if (lane < count) {
      const uint32_t entry = size_ + lane;
      Bits weight_bits = WordAt(entry, 1);
      if constexpr (sizeof(Bits) == 8) weight_bits |= Bits{WordAt(entry, 2)} << 32;
      add(WordAt(entry, 0), weight_bits);
    }
    __syncwarp();
  }

  __device__ uint32_t& WordAt(uint32_t entry, uint32_t word) const {
    return words_[word * kEntries + entry];
  }

  uint32_t* const words_;
  uint32_t size_ = 0;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHT_QUEUE_CUH_
