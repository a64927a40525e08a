// A thread loads the vectors of an array that belong to its turns, strided or drawn by its warp,
// and in what order is decided here.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_TURNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_TURNS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/turn_deal.cuh"
#include "kernels/cuda/reduce/plan/tuning.h"

namespace gridfold::kernels::cuda {

// Where the vectors of an array begin, and the elements before and after them that are not a
// vector.
template <class T>
struct VectorRange {
  const uint4* vectors;
  uint64_t count;
  uint64_t head;  // Elements before.
  uint64_t tail;  // Index of the first after.

  __device__ VectorRange(const T* elements, uint64_t element_count) {
    const uint32_t misaligned =
        static_cast<uint32_t>(reinterpret_cast<uintptr_t>(elements) % ReduceTuning::kVectorBytes);
    head = misaligned == 0 ? 0 : (ReduceTuning::kVectorBytes - misaligned) / sizeof(T);
    if (head > element_count) head = element_count;
    vectors = reinterpret_cast<const uint4*>(elements + head);
    count = (element_count - head) / kVectorSize<T>;
    tail = head + count * kVectorSize<T>;
  }
};

// The vectors of an array that a thread loads, turn by turn: kInFlight of them in a turn, `apart`
// from each other. The last turn may have fewer. A thread takes every turn, or those that its warp
// draws, so that warps which the hardware favours take more.
template <class T, uint32_t kInFlight>
struct LoadedTurns {
  static constexpr uint32_t kSize = kVectorSize<T>;
  static constexpr uint32_t kApartIfDrawn = ReduceTuning::kWarpThreads;
  using Batches = Batch<ComputeType<T>, kSize>[kInFlight];

  const uint4* first;    // Of turn 0.
  const uint4* end;      // Of the array.
  uint64_t first_index;  // Of the first element of *first.
  uint64_t turn_stride;  // Vectors from a turn to the next.
  uint32_t apart;
  uint32_t first_turn = 0;
  TurnDeal* deal = nullptr;    // From which a warp draws as one.
  bool is_in_batches = false;  // How.
  uint32_t lane = 0;           // Of such a warp.

  // Elements from a vector of a turn to the next.
  __device__ uint64_t step() const { return uint64_t{apart} * kSize; }
  __device__ const uint4* Of(uint32_t turn) const {
    const uint4* const at = first + turn * turn_stride;
    __builtin_assume(__isGlobal(at));  // Or loads are generic, in more instructions.
    return at;
  }
  __device__ uint64_t IndexOf(uint32_t turn) const {
    return first_index + turn * turn_stride * kSize;
  }
  // The index of the first element of a warp's turn, for all lanes of a warp that draws.
  __device__ uint64_t WarpIndexOf(uint32_t turn) const {
    return IndexOf(turn) - uint64_t{lane} * kSize;
  }
  // Whether there is such a turn, for all lanes of a warp that draws.
  __device__ bool HasTurn(uint32_t turn) const { return Of(turn) - lane < end; }
  // Called by all lanes of a warp together.
  __device__ bool IsDrawn() const { return deal != nullptr; }
  __device__ uint32_t NextTurn(uint32_t turn) const { return DrawnTurn(Draw(turn)); }
  // NextTurn in two steps, between which there is something else to do: lane 0 draws, and then all
  // lanes are told.
  __device__ uint32_t Draw(uint32_t turn) const {
    uint32_t drawn = turn + 1;
    if (IsDrawn() && lane == 0) drawn = deal->Draw();
    return drawn;
  }
  __device__ uint32_t DrawnTurn(uint32_t drawn) const {
    if (!IsDrawn()) return drawn;
    return deal->TurnOf(__shfl_sync(~0u, drawn, 0), is_in_batches, lane);
  }

  // Whether there is a k-th vector in the turn that begins at `at`.
  __device__ bool Has(const uint4* at, uint32_t k) const { return at + uint64_t{k} * apart < end; }
  __device__ bool IsFull(const uint4* at) const { return Has(at, kInFlight - 1); }
  // Whether a drawn turn is full, for all lanes of the warp.
  __device__ bool IsFullForWarp(uint32_t turn) const {
    return Of(turn) - lane + (kInFlight * kApartIfDrawn - 1) < end;
  }
  __device__ uint32_t VectorsAt(const uint4* at) const {
    if (IsFull(at)) return kInFlight;
    uint32_t count = 0;
#pragma unroll
    for (uint32_t k = 0; k < kInFlight - 1; ++k) count += Has(at, k) ? 1 : 0;
    return count;
  }
  __device__ void LoadFull(const uint4* at, uint4 (&raw)[kInFlight]) const {
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) raw[k] = at[uint64_t{k} * apart];
  }
  // Prefetches a full turn that is to be loaded later.
  __device__ void Prefetch(const uint4* at) const {
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) {
      asm volatile("prefetch.global.L2 [%0];" : : "l"(at + uint64_t{k} * apart));
    }
  }
  // Loads what there is of a turn; the rest becomes `padding`.
  __device__ void Load(const uint4* at, const uint4& padding, uint4 (&raw)[kInFlight]) const {
    if (IsFull(at)) {
      LoadFull(at, raw);
    } else {
#pragma unroll
      for (uint32_t k = 0; k < kInFlight; ++k) {
        raw[k] = Has(at, k) ? at[uint64_t{k} * apart] : padding;
      }
    }
  }
  __device__ static void Convert(const uint4 (&raw)[kInFlight], Batches& batches) {
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) batches[k] = BatchOf<T>(raw[k]);
  }
};

// Takes a thread's turns, no more than `turns_max`, vector by vector; the next turn's vectors take
// the place of those that have been taken. Of a taker are called Survey(raw), by all lanes of a
// warp that draws, and for a turn whose vectors are all there, if TakesAll(raw, survey, turn), then
// Take(vector) for each and EndTurn(turn); for other turns take_apart(raw, survey, vector count,
// turn).
template <class T, uint32_t kInFlight, class Taker, class TakeApart>
__device__ inline void TakeTurns(const LoadedTurns<T, kInFlight>& loads, uint32_t turns_max,
                                 Taker& taker, TakeApart take_apart) {
  uint4 raw[kInFlight];
  uint32_t turn = loads.first_turn;
  const uint4* at = loads.Of(turn);
  if (loads.HasTurn(turn)) loads.Load(at, {}, raw);
#pragma unroll 1
  for (uint32_t taken = 1; loads.HasTurn(turn); ++taken) {
    // Drawn before the turn's loads are waited for, and told to all lanes after.
    const uint32_t drawn = taken < turns_max ? loads.Draw(turn) : kNoTurn;
    const bool is_full = loads.IsFull(at);
    const auto survey = taker.Survey(raw);
    const uint32_t current = turn;
    const uint4* const current_at = at;
    turn = loads.DrawnTurn(drawn);
    at = loads.Of(turn);
    const bool loads_ahead = loads.IsDrawn() && loads.HasTurn(turn) && loads.IsFull(at);
    if (is_full && taker.TakesAll(raw, survey, current)) {
#pragma unroll
      for (uint32_t k = 0; k < kInFlight; ++k) {
        taker.Take(raw[k]);
        if (loads_ahead) raw[k] = at[k * loads.kApartIfDrawn];
      }
      taker.EndTurn(current);
      if (loads_ahead) continue;
    } else {
      take_apart(raw, survey, loads.VectorsAt(current_at), current);
    }
    if (loads.HasTurn(turn)) loads.Load(at, {}, raw);
  }
}

// Takes turns that are drawn, as TakeTurns does, up to the first that is not full, which is
// returned: with no other turns in the loop it has registers for all that it needs. Of a taker are
// called, by all lanes of a warp, BeginTurn(turn), Take(vector) for each and EndTurn(turn).
template <class T, uint32_t kInFlight, class Taker>
__device__ inline uint32_t TakeFullTurns(const LoadedTurns<T, kInFlight>& loads, Taker& taker) {
  uint32_t turn = loads.first_turn;
  if (!loads.IsFullForWarp(turn)) return turn;
  uint4 raw[kInFlight];
  loads.LoadFull(loads.Of(turn), raw);
  uint32_t current;
#pragma unroll 1
  for (;;) {
    current = turn;
    taker.BeginTurn(current);
    turn = loads.NextTurn(current);
    if (!loads.IsFullForWarp(turn)) break;
    const uint4* const at = loads.Of(turn);
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) {
      taker.Take(raw[k]);
      raw[k] = at[k * loads.kApartIfDrawn];
      __syncwarp();  // Or the compiler would take all vectors before it loads the first.
    }
    taker.EndTurn(current);
  }
  ForEachVector(raw, kInFlight, [&](const uint4& vector, uint32_t) { taker.Take(vector); });
  taker.EndTurn(current);
  return turn;
}

// Turns in which neighbouring threads read neighbouring vectors, thread `rank` of `threads`.
template <uint32_t kInFlight, class T>
__device__ inline LoadedTurns<T, kInFlight> StridedTurns(const VectorRange<T>& range, uint32_t rank,
                                                         uint32_t threads) {
  return {.first = range.vectors + rank,
          .end = range.vectors + range.count,
          .first_index = range.head + uint64_t{rank} * kVectorSize<T>,
          .turn_stride = uint64_t{threads} * kInFlight,
          .apart = threads};
}

// Vectors of a turn that a warp draws.
template <uint32_t kInFlight>
inline constexpr uint32_t kDrawnVectors = kInFlight* ReduceTuning::kWarpThreads;

// Turns that warps draw, in which neighbouring lanes read neighbouring vectors.
template <uint32_t kInFlight, class T>
__device__ inline LoadedTurns<T, kInFlight> DrawnTurns(const VectorRange<T>& range,
                                                       const Warp& warp, TurnDeal& deal) {
  return {.first = range.vectors + warp.thread_rank(),
          .end = range.vectors + range.count,
          .first_index = range.head + uint64_t{warp.thread_rank()} * kVectorSize<T>,
          .turn_stride = kDrawnVectors<kInFlight>,
          .apart = LoadedTurns<T, kInFlight>::kApartIfDrawn,
          .first_turn = deal.FirstOf(warp.meta_group_rank()),
          .deal = &deal,
          .is_in_batches = deal.IsInBatches(),
          .lane = warp.thread_rank()};
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_TURNS_CUH_
