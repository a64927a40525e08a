// A warp keeps samples that take long to count, with their weights, until it has many of them. Then
// its lanes count them together, and not one while all the others wait.
//
// Example, a queue of 32 entries:
//
//   30 samples wait, and a turn has 3 more: 32 are counted, one by each lane, and one waits on
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_QUEUE_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_QUEUE_CUH_

#include <bit>
#include <cstdint>

#include "kernels/cuda/histogram/place/turns.cuh"
#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/cuda/histogram/plan/block.h"

namespace gridfold::kernels::cuda {

// A queue of samples of type T, of 4 bytes, and weights that are Bits. All members are for all
// lanes of a warp.
template <class T, class Bits>
class WeightQueue {
 public:
  // Words of all queues of a block.
  __device__ static uint32_t WordsOf(const HistogramArguments& arguments) {
    return arguments.queue_entries * kHistogramWarps * kEntryWords;
  }

  // `memory` is that of all of them.
  __device__ WeightQueue(const HistogramArguments& arguments, uint32_t* memory)
      : capacity_(arguments.queue_entries),
        words_(memory + threadIdx.x / kWarpLanes * capacity_ * kEntryWords) {}

  __device__ bool IsFull() const { return size_ == capacity_; }

  // Keeps the samples of lanes that have one, while there is room; says whether this lane's is
  // kept.
  __device__ bool Keep(bool has, T sample, Bits weight_bits) {
    const uint32_t lanes = __ballot_sync(~0u, has);
    const uint32_t before = (uint32_t{1} << threadIdx.x % kWarpLanes) - 1;
    const uint32_t entry = size_ + static_cast<uint32_t>(__popc(lanes & before));
    const bool is_kept = has & (entry < capacity_);
    if (is_kept) {
      WordAt(entry, 0) = std::bit_cast<uint32_t>(sample);
      WordAt(entry, 1) = static_cast<uint32_t>(weight_bits);
      if constexpr (sizeof(Bits) == 8) WordAt(entry, 2) = static_cast<uint32_t>(weight_bits >> 32);
    }
    size_ = min(size_ + static_cast<uint32_t>(__popc(lanes)), capacity_);
    return is_kept;
  }

  // Calls count(sample, weight bits) for all that are kept, each by a lane, and forgets them.
  template <class Count>
  __device__ void Empty(Count&& count) {
    __syncwarp();
    const uint32_t entry = threadIdx.x % kWarpLanes;
    if (entry < size_) {
      Bits weight_bits = WordAt(entry, 1);
      if constexpr (sizeof(Bits) == 8) weight_bits |= Bits{WordAt(entry, 2)} << 32;
      count(std::bit_cast<T>(WordAt(entry, 0)), weight_bits);
    }
    size_ = 0;
    __syncwarp();
  }

 private:
  static constexpr uint32_t kEntryWords = WeightQueueEntryWords(sizeof(Bits));
  static_assert(kWeightQueueEntriesMax <= kWarpLanes);

  __device__ uint32_t& WordAt(uint32_t entry, uint32_t word) const {
    return words_[word * capacity_ + entry];
  }

  const uint32_t capacity_;
  uint32_t* const words_;
  uint32_t size_ = 0;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_QUEUE_CUH_
