// Counters in a block's shared memory, added up in device memory before they can overflow.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COUNTERS_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COUNTERS_CUH_

#include <cooperative_groups.h>

#include <cstdint>

#include "kernels/cuda/histogram_arguments.h"

namespace gridfold::kernels::cuda {

// Counters of 32 bits for the block's part of the bins. The copies of a counter stand side by side,
// each for other lanes of a warp.
class SharedCounters {
 public:
  __device__ SharedCounters(const HistogramArguments& arguments, uint32_t* counters)
      : counters_(counters),
        count_(arguments.bins_per_block),
        copies_(arguments.copies),
        own_(static_cast<uint32_t>(
            __cvta_generic_to_shared(&counters[threadIdx.x & (arguments.copies - 1)]))),
        stride_(arguments.copies * static_cast<uint32_t>(sizeof(uint32_t))) {}

  // Of all copies of all counters, the one that is never read among them.
  __device__ uint32_t size_bytes() const { return (count_ + 1) * stride_; }

  __device__ void Clear() {
    for (uint32_t i = threadIdx.x; i < count_ * copies_; i += blockDim.x) counters_[i] = 0;
  }

  // Where this thread's copy of counter i is in shared memory.
  __device__ uint32_t AddressOf(uint32_t i) const { return own_ + i * stride_; }
  // Where it is from counter i on, of which `address` is that of the first.
  __device__ uint32_t AddressOf(uint32_t i, uint32_t address) const {
    return address + i * stride_;
  }

  // The hardware joins additions of 1 to one word by itself, where their results are not asked for.
  __device__ static void AddAt(uint32_t address) {
    asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(address) : "memory");
  }

  // Counter i or, from count() on, one that is never read: less work than a branch around it, which
  // the compiler makes of a condition.
  __device__ void Add(uint32_t i) const { AddAt(AddressOf(min(i, count_))); }
  // The opposite.
  __device__ void TakeBack(uint32_t i) const {
    asm volatile("red.shared.add.u32 [%0], 0xFFFFFFFF;" ::"r"(AddressOf(min(i, count_)))
                 : "memory");
  }

  // Calls add(i, total) for each counter that is not 0, from counter `start` on and then those
  // before it, and clears them all.
  template <class AddTotal>
  __device__ void Flush(uint32_t start, AddTotal&& add) {
    for (uint32_t n = threadIdx.x; n < count_; n += blockDim.x) {
      const uint32_t i = n < count_ - start ? n + start : n - (count_ - start);
      unsigned long long total = 0;
      for (uint32_t c = 0; c < copies_; ++c) {
        // Each thread begins with another copy, in another bank.
        uint32_t& counter = counters_[i * copies_ + ((c + threadIdx.x) & (copies_ - 1))];
        total += counter;
        counter = 0;
      }
      if (total != 0) add(i, total);
    }
  }

 private:
  uint32_t* const counters_;
  const uint32_t count_;
  const uint32_t copies_;
  const uint32_t own_;     // Address of this thread's copy of counter 0.
  const uint32_t stride_;  // Bytes from a counter to the next.
};

// Adds 1 to the total of a bin in device memory for each thread of a warp that is here, once for
// all that have the same bin.
__device__ inline void AddToTotal(const HistogramArguments& arguments, uint64_t bin) {
  auto* const total = reinterpret_cast<unsigned long long*>(arguments.counters) + bin;
  const auto group = cooperative_groups::labeled_partition(
      cooperative_groups::coalesced_threads(), reinterpret_cast<unsigned long long>(total));
  if (group.thread_rank() == 0) {
    atomicAdd(total, static_cast<unsigned long long>(group.num_threads()));
  }
}

// Which bins a block counts.
struct BinRange {
  uint32_t first;
  uint32_t count;

  __device__ static BinRange Of(const HistogramArguments& arguments) {
    return {blockIdx.x % arguments.part_count * arguments.bins_per_block, arguments.bins_per_block};
  }

  // Of the blocks that read the same samples, mostly this one counts what is outside all bins.
  __device__ bool is_first() const { return first == 0; }
};

// Adds the block's counters to the totals in device memory. Blocks with the same bins begin at
// different ones, so that they do not wait for each other.
__device__ inline void FlushCounters(const HistogramArguments& arguments, const BinRange& range,
                                     SharedCounters& counters) {
  constexpr uint32_t kBlocksApart = 128;
  auto* const totals = reinterpret_cast<unsigned long long*>(arguments.counters) + range.first;
  const uint32_t rank = blockIdx.x / arguments.part_count % kBlocksApart;
  const uint32_t start = static_cast<uint32_t>(uint64_t{range.count} * rank / kBlocksApart);
  counters.Flush(start,
                 [&](uint32_t i, unsigned long long total) { atomicAdd(&totals[i], total); });
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COUNTERS_CUH_
