// A block has counters in shared memory, which are added up in device memory before they can
// overflow.
//
// Example, 2 bins, 32 copies of each counter side by side:
//
//   lane l adds to copy l: 32 lanes that all met bin 0 add to 32 words, in 32 banks, at once
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_COUNTERS_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_COUNTERS_CUH_

#include <cooperative_groups.h>

#include <cstdint>

#include "kernels/cuda/device/shared_address.cuh"
#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/cuda/histogram/plan/block.h"
#include "kernels/numerics/bins/layout.h"

namespace gridfold::kernels::cuda {

// Counters of 32 bits for the block's part of the bins, one before and one behind them for samples
// in none of these bins, and one behind that for NaN. The copies of a counter stand side by side,
// each for other lanes of a warp.
class SharedCounters {
 public:
  // kHistogramOutsideCounters more than `count`, for each copy, in `memory`, which begins at a
  // multiple of 16 bytes.
  __device__ SharedCounters(uint32_t* memory, uint32_t count, uint32_t copies)
      : counters_(memory + copies),
        count_(count),
        copies_(copies),
        own_(SharedAddress(&counters_[threadIdx.x & (copies - 1)])),
        stride_(copies * static_cast<uint32_t>(sizeof(uint32_t))) {}

  // The copies of the bins' counters, one counter after the other.
  __device__ uint32_t* words() { return counters_; }
  // Bytes of all copies of all counters.
  __device__ uint32_t size_bytes() const { return (count_ + kHistogramOutsideCounters) * stride_; }

  __device__ void Clear() {
    const uint32_t words = (count_ + kHistogramOutsideCounters) * copies_;
    auto* const vectors = reinterpret_cast<uint4*>(counters_ - copies_);
    constexpr uint32_t kVectorWords = sizeof(uint4) / sizeof(uint32_t);
    for (uint32_t v = threadIdx.x; v < words / kVectorWords; v += blockDim.x) vectors[v] = uint4{};
    const uint32_t rest = words / kVectorWords * kVectorWords + threadIdx.x;
    if (rest < words) (counters_ - copies_)[rest] = 0;
  }

  // The address of this thread's copy of counter i in shared memory: -1 is before the bins'
  // counters, the number of bins behind them, and that of NaN the next.
  __device__ uint32_t AddressOf(int32_t i) const { return AddressOf(i, own_); }
  // The address of counter i after the one at `address`.
  __device__ uint32_t AddressOf(int32_t i, uint32_t address) const {
    return address + static_cast<uint32_t>(i) * stride_;
  }

  // The address of the counter whose number is byte b of `word`, in one operation.
  __device__ uint32_t AddressOfByte(uint32_t word, uint32_t b, uint32_t address) const {
    return __dp4a(word, stride_ << (8 * b), address);
  }

  // The hardware joins additions of 1 to one word by itself, where their results are not asked for.
  __device__ static void AddAt(uint32_t address) {
    asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(address) : "memory");
  }
  // The opposite.
  __device__ static void TakeBackAt(uint32_t address) {
    asm volatile("red.shared.add.u32 [%0], 0xFFFFFFFF;" ::"r"(address) : "memory");
  }

  // Counter i or, from the number of bins on, the one behind: less work than a branch around it,
  // which the compiler makes of a condition.
  __device__ void Add(uint32_t i) const { AddAt(AddressOf(static_cast<int32_t>(min(i, count_)))); }

  // The total of all copies of counter i, which are cleared.
  __device__ unsigned long long Take(int32_t i) {
    unsigned long long total = 0;
    for (uint32_t c = 0; c < copies_; ++c) {
      // Each thread begins with another copy, in another bank.
      const uint32_t copy = (c + threadIdx.x) & (copies_ - 1);
      uint32_t& counter = counters_[i * static_cast<int32_t>(copies_) + static_cast<int32_t>(copy)];
      total += counter;
      counter = 0;
    }
    return total;
  }

  // Calls add(i, total) for each counter that is not 0, from counter `start` on and then those
  // before it, and clears them all. All threads of the block. Totals are less than 2^32.
  template <class AddTotal>
  __device__ void Flush(uint32_t start, AddTotal&& add) {
    constexpr uint32_t kAtOnce = 8;  // Words of a thread, whose loads would wait for each other.
    const uint32_t words = count_ * copies_;
    const uint32_t rotation = start * copies_;
    const uint32_t copies_log2 = static_cast<uint32_t>(__ffs(static_cast<int>(copies_))) - 1;
    // A thread has a copy's word; neighbours have a counter's copies.
    for (uint32_t first = 0; first < words; first += kAtOnce * blockDim.x) {
      uint32_t totals[kAtOnce];
      const auto word_of = [&](uint32_t k) {
        const uint32_t n = first + k * blockDim.x + threadIdx.x;
        return n < words - rotation ? n + rotation : n - (words - rotation);
      };
#pragma unroll
      for (uint32_t k = 0; k < kAtOnce; ++k) {
        const bool is_there = first + k * blockDim.x + threadIdx.x < words;
        totals[k] = is_there ? counters_[word_of(k)] : 0;
      }
#pragma unroll
      for (uint32_t k = 0; k < kAtOnce; ++k) {
        if (totals[k] != 0) counters_[word_of(k)] = 0;
      }
      for (uint32_t distance = 1; distance < copies_; distance *= 2) {
#pragma unroll
        for (uint32_t k = 0; k < kAtOnce; ++k) {
          totals[k] += __shfl_xor_sync(~0u, totals[k], distance);
        }
      }
      if ((threadIdx.x & (copies_ - 1)) != 0) continue;
#pragma unroll
      for (uint32_t k = 0; k < kAtOnce; ++k) {
        if (totals[k] != 0) add(word_of(k) >> copies_log2, totals[k]);
      }
    }
  }

 private:
  uint32_t* const counters_;  // Of the bins.
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
  bool is_last;

  // All bins, whether or not a block has room for them.
  __device__ static BinRange Whole(const HistogramArguments& arguments) {
    return {0, static_cast<uint32_t>(arguments.bin_count), true};
  }
  // As many bins as a block of any part has, at most.
  __device__ static BinRange OfMost(const HistogramArguments& arguments) {
    return {0, arguments.bins_per_block, false};
  }
  __device__ static BinRange Of(const HistogramArguments& arguments) {
    return Of(arguments, blockIdx.x % arguments.part_count);
  }
  __device__ static BinRange Of(const HistogramArguments& arguments, uint32_t part) {
    const uint32_t first = part * arguments.bins_per_block;
    const uint32_t all = static_cast<uint32_t>(arguments.bin_count);
    const uint32_t left = all - min(first, all);  // None, where blocks are more than bins.
    return {first, min(arguments.bins_per_block, left),
            left > 0 && left <= arguments.bins_per_block};
  }

  __device__ SharedCounters CountersIn(const HistogramArguments& arguments,
                                       unsigned char* memory) const {
    return SharedCounters(reinterpret_cast<uint32_t*>(memory), count, arguments.copies);
  }

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

// Adds what was counted before the first of all bins, behind the last, and as NaN to the outcomes
// of the one channel and, where samples are clamped, to these bins.
__device__ inline void FlushOutside(const HistogramArguments& arguments, const BinRange& range,
                                    SharedCounters& counters) {
  // One thread for each, of different warps.
  const uint32_t o = threadIdx.x / warpSize;
  if (threadIdx.x % warpSize != 0 || o >= kOutcomeCount) return;
  const int64_t outcome = o == 0 ? kUnderflowBin : o == 1 ? kOverflowBin : kNanBin;
  if (outcome == kOverflowBin ? !range.is_last : !range.is_first()) return;
  const int32_t behind = static_cast<int32_t>(range.count);
  const int32_t counter = outcome == kUnderflowBin  ? -1
                          : outcome == kOverflowBin ? behind
                                                    : behind + 1;
  const unsigned long long total = counters.Take(counter);
  if (total == 0) return;
  atomicAdd(reinterpret_cast<unsigned long long*>(arguments.outcomes) + o, total);
  const Placement placement = Place(outcome, arguments.bin_count, arguments.out_of_range_policy);
  if (placement.bin < 0) return;
  atomicAdd(reinterpret_cast<unsigned long long*>(arguments.counters) + placement.bin, total);
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_COUNTERS_CUH_
