// Warps share out the samples of an array, or of two, as vectors of 16 bytes: they draw turns, so
// that none waits for others at the end, and the vectors of a turn are on their way while those of
// the one before it are counted.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_TURNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_TURNS_CUH_

#include <bit>
#include <cstdint>

#include "kernels/cuda/device/shared_address.cuh"
#include "kernels/cuda/histogram/place/walk.cuh"
#include "kernels/types/element_type.h"

namespace gridfold::kernels::cuda {

inline constexpr uint32_t kWarpLanes = 32;
inline constexpr uint32_t kTurnVectors = 4;  // Of each lane, of all arrays together; mostly.
inline constexpr uint32_t kVectorBytes = 16;

template <class T>
inline constexpr uint32_t kVectorSamples = kVectorBytes / sizeof(T);

// Vectors of the same samples' numbers in each array.
template <uint32_t kArrays>
struct VectorRow {
  uint4 of[kArrays];
};

// Sample j of a vector.
template <class T>
__device__ inline T SampleOf(const uint4& vector, uint32_t j) {
  const auto word = [&](uint32_t w) {
    return w == 0 ? vector.x : w == 1 ? vector.y : w == 2 ? vector.z : vector.w;
  };
  if constexpr (sizeof(T) == 8) {
    const uint64_t bits =
        j == 0 ? uint64_t{vector.y} << 32 | vector.x : uint64_t{vector.w} << 32 | vector.z;
    return std::bit_cast<T>(bits);
  } else if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(word(j));
  } else {
    constexpr uint32_t kPerWord = 4 / sizeof(T);
    const uint32_t bits = word(j / kPerWord) >> (j % kPerWord * 8 * sizeof(T));
    if constexpr (sizeof(T) == 2) {
      return std::bit_cast<T>(static_cast<uint16_t>(bits));
    } else {
      return std::bit_cast<T>(static_cast<uint8_t>(bits));
    }
  }
}

// Samples before the first whole vector of an array, which is as long as this or longer.
template <class T>
__device__ inline uint32_t SamplesBeforeVectors(const void* array) {
  const uint32_t misaligned =
      static_cast<uint32_t>(reinterpret_cast<uintptr_t>(array) % kVectorBytes);
  return misaligned == 0 ? 0 : (kVectorBytes - misaligned) / static_cast<uint32_t>(sizeof(T));
}

// The samples of one array, or of two that begin at the same distance from a vector: the whole
// turns of vectors in it, and what is left before and after them.
template <class T, uint32_t kArrays = 1, uint32_t kTurnRows = kTurnVectors / kArrays>
struct TurnRange {
  using Row = VectorRow<kArrays>;
  static constexpr uint32_t kRows = kTurnRows;  // Vectors of each lane and array.
  static constexpr uint32_t kTurnSamples = kVectorSamples<T> * kRows * kWarpLanes;

  const uint4* vectors;     // Of the block's first turn, of this lane.
  int64_t second_distance;  // Vectors from those of the first array to those of the second.
  uint32_t stride;          // Vectors from a turn of the block to its next.
  uint32_t count;           // Turns of this block.
  const T* samples;
  uint64_t head;  // Samples before the first turn of all.
  uint64_t tail;  // Index of the first sample after the last.
  uint64_t sample_count;

  // `second` is not used of one array.
  __device__ TurnRange(const void* array, const void* second, uint64_t array_samples,
                       const BlockShare& block)
      : second_distance((reinterpret_cast<intptr_t>(second) - reinterpret_cast<intptr_t>(array)) /
                        int64_t{kVectorBytes}),
        samples(static_cast<const T*>(array)),
        head(SamplesBeforeVectors<T>(array)),
        sample_count(array_samples) {
    if (head > sample_count) head = sample_count;
    const uint64_t turns = (sample_count - head) / kTurnSamples;
    tail = head + turns * kTurnSamples;
    constexpr uint32_t kVectors = kRows * kWarpLanes;
    vectors = reinterpret_cast<const uint4*>(samples + head) + uint64_t{block.rank} * kVectors +
              threadIdx.x % kWarpLanes;
    stride = block.count * kVectors;
    count = static_cast<uint32_t>(
        turns > block.rank ? (turns - block.rank + block.count - 1) / block.count : 0);
  }

  __device__ const uint4* Of(uint32_t turn) const { return vectors + uint64_t{turn} * stride; }

  // Row k of those that begin at `first`.
  __device__ Row Load(const uint4* first, uint32_t k) const {
    Row row;
#pragma unroll
    for (uint32_t a = 0; a < kArrays; ++a) {
      row.of[a] = first[k * kWarpLanes + a * second_distance];
    }
    return row;
  }

  // Calls visit(index) for the samples that are in no turn; one block does, with all its threads.
  template <class Visit>
  __device__ void VisitRest(Visit&& visit) const {
    const uint64_t rest = head + (sample_count - tail);
#pragma unroll 1
    for (uint64_t i = threadIdx.x; i < rest; i += blockDim.x) {
      visit(i < head ? i : tail + (i - head));
    }
  }
};

// The next turn that nobody of the block has drawn. All lanes of a warp.
__device__ inline uint32_t DrawTurn(uint32_t* drawn) {
  // Not an addition, of which the compiler would make one for all threads that may meet there.
  uint32_t turn = 0;
  const uint32_t address = SharedAddress(drawn);
  if (threadIdx.x % kWarpLanes == 0) {
    asm volatile("atom.shared.inc.u32 %0, [%1], 0xFFFFFFFF;"
                 : "=r"(turn)
                 : "r"(address)
                 : "memory");
  }
  return __shfl_sync(~0u, turn, 0);
}

// More than there are turns, however many are drawn behind it.
inline constexpr uint32_t kNoTurn = 0x8000'0000;

// A warp's first turn of those from `begin` on, which are drawn from `drawn`, in shared memory. All
// threads of the block.
__device__ inline uint32_t FirstTurn(uint32_t begin, uint32_t* drawn) {
  if (threadIdx.x == 0) *drawn = begin + blockDim.x / kWarpLanes;
  __syncthreads();
  return begin + threadIdx.x / kWarpLanes;
}

// Calls visit(row) for all rows of the warp's first turn, and of those before `end` that it draws
// from `drawn`, until it draws kNoTurn. Gives the turn that it has left then, or one that is none.
// Draws one turn ahead of the one that is loaded, so that nothing waits for the draw. `range` is a
// TurnRange or like one.
template <class Range, class Visit>
__device__ inline uint32_t VisitTurns(const Range& range, uint32_t first, uint32_t end,
                                      uint32_t* drawn, Visit&& visit) {
  constexpr uint32_t kRows = Range::kRows;
  uint32_t turn = first;
  if (turn >= end) return turn;
  typename Range::Row rows[kRows];
#pragma unroll
  for (uint32_t k = 0; k < kRows; ++k) rows[k] = range.Load(range.Of(turn), k);
  uint32_t next = DrawTurn(drawn);
  for (;;) {
    // Behind the last turn its own rows are loaded again, for nothing: that takes no test of each.
    const bool is_last = next >= end;
    const uint4* const at = range.Of(is_last ? turn : next);
    const uint32_t after_next = DrawTurn(drawn);
#pragma unroll
    for (uint32_t k = 0; k < kRows; ++k) {
      const typename Range::Row row = rows[k];
      rows[k] = range.Load(at, k);
      visit(row);
    }
    turn = next;
    next = after_next;
    if (is_last || next >= kNoTurn) return turn;
  }
}

// Calls visit_turns(begin, end), and then flush(), for every `turns_per_flush` of so many turns;
// once at least. All threads of the block.
template <class VisitSome, class Flush>
__device__ inline void FlushBetweenTurns(uint32_t turn_count, uint64_t turns_per_flush,
                                         VisitSome&& visit_turns, Flush&& flush) {
  uint64_t begin = 0;
  do {
    const uint64_t end = min(begin + turns_per_flush, uint64_t{turn_count});
    visit_turns(static_cast<uint32_t>(begin), static_cast<uint32_t>(end));
    __syncthreads();
    flush();
    __syncthreads();
    begin = end;
  } while (begin < turn_count);
}

// Calls visit(row) for the rows of all turns of the block, and flush() after every
// `turns_per_flush` of them and at the end. All threads of the block; `drawn` is one word of its
// shared memory.
template <class Range, class Visit, class Flush>
__device__ inline void VisitTurnsAndFlush(const Range& range, uint64_t turns_per_flush,
                                          uint32_t* drawn, Visit&& visit, Flush&& flush) {
  const auto visit_turns = [&](uint32_t begin, uint32_t end) {
    VisitTurns(range, FirstTurn(begin, drawn), end, drawn, visit);
  };
  FlushBetweenTurns(range.count, turns_per_flush, visit_turns, flush);
}

// Turns of a block, in its shared memory, which may be left to another way of visiting them.
class LeavableTurns {
 public:
  // Before any are drawn, reasons to leave them count for nothing. A barrier follows.
  __device__ void Clear() {
    if (threadIdx.x == 0) reasons_needed_ = kNever;
  }

  // Turns [begin, end). All threads of the block.
  __device__ uint32_t First(uint32_t begin, uint32_t end) {
    if (threadIdx.x == 0) reasons_needed_ = end - begin < kFew ? kNever : end - begin;
    return FirstTurn(begin, &drawn_);
  }

  // Notes a reason to leave them. When there are as many as turns, all warps leave theirs after the
  // one that they visit. Any threads.
  __device__ void NoteReason() {
    if (atomicSub(&reasons_needed_, 1) == 1) left_ = atomicExch(&drawn_, kNoTurn);
  }

  // The first of those that are left, of a warp that has left `turn`. The block meets before.
  __device__ uint32_t FirstLeft(uint32_t turn) { return turn < kNoTurn ? turn : DrawTurn(&left_); }

  // What warps draw from, before and after.
  __device__ uint32_t* drawn() { return &drawn_; }
  __device__ uint32_t* left() { return &left_; }

 private:
  // By the time that they can be left, each of 32 warps has drawn three; and the instructions of
  // the other way come from device memory.
  static constexpr uint32_t kFew = 128;
  static constexpr uint32_t kNever = ~0u;

  uint32_t drawn_;
  uint32_t left_;  // If they are.
  uint32_t reasons_needed_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_TURNS_CUH_
