// A warp makes several statistics of short groups that follow one another, a strip of them: each
// group is summed by 1 to 32 lanes in pairs (pair_shares.cuh), and the values of groups are made by
// a lane each.
//
// Where a variance is not certain, deviations from an element of the group are summed. The few
// groups that remain uncertain are summed by the warp in words (moments.cuh).
//
// Example, why an element of the group helps: 10^8, 10^8 + 1, 10^8 + 2:
//
//   squares of these need 54 bits and more, and their differences cancel nearly all of it
//   deviations from the first element are 0, 1, 2: sum 3, squares 5, variance (5 - 9/3) / 3
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_PAIR_STRIPS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_PAIR_STRIPS_CUH_

#include <bit>
#include <cstdint>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/groups/group_strips.cuh"
#include "kernels/cuda/reduce/groups/moments.cuh"
#include "kernels/cuda/reduce/groups/pair_shares.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/statistics/pair_state.h"

namespace gridfold::kernels::cuda {

// What the lanes of a warp leave for the lanes that finish groups: word i of all of them side by
// side.
template <class T>
class PairRoom {
 public:
  // The states' memory, as room for what finishes a group.
  __device__ int64_t* Words() { return reinterpret_cast<int64_t*>(words_); }

  __device__ void Store(uint32_t i, const PairState& state) { StoreAt<0>(i, state); }
  __device__ PairState LoadState(uint32_t i) const { return LoadAt<0, PairState>(i); }
  __device__ void Store(uint32_t i, const DeviationPairs& pairs) {
    StoreAt<kWordsOf<PairState>>(i, pairs);
  }
  __device__ DeviationPairs LoadDeviations(uint32_t i) const {
    return LoadAt<kWordsOf<PairState>, DeviationPairs>(i);
  }
  __device__ void StorePlaces(uint32_t i, uint32_t min_index, uint32_t max_index, double min,
                              double max) {
    PairState state = LoadState(i);
    state.min_index = min_index;
    state.max_index = max_index;
    state.min = min;
    state.max = max;
    Store(i, state);
  }

 private:
  template <class State>
  static constexpr uint32_t kWordsOf = sizeof(State) / sizeof(uint32_t);
  template <class State>
  struct Words32 {
    uint32_t words[kWordsOf<State>];
  };
  static constexpr uint32_t kRowBytes = sizeof(uint32_t) * ReduceTuning::kWarpThreads;
  static constexpr uint32_t kWordRows = CeilDivide(GroupMomentWords::kBytes, kRowBytes);
  static constexpr uint32_t kStateRows = kWordsOf<PairState> + kWordsOf<DeviationPairs>;
  static constexpr uint32_t kRows = kWordRows > kStateRows ? kWordRows : kStateRows;

  template <uint32_t kFirst, class State>
  __device__ void StoreAt(uint32_t i, const State& state) {
    const auto words = std::bit_cast<Words32<State>>(state);
#pragma unroll
    for (uint32_t k = 0; k < kWordsOf<State>; ++k) words_[kFirst + k][i] = words.words[k];
  }
  template <uint32_t kFirst, class State>
  __device__ State LoadAt(uint32_t i) const {
    Words32<State> words;
#pragma unroll
    for (uint32_t k = 0; k < kWordsOf<State>; ++k) words.words[k] = words_[kFirst + k][i];
    return std::bit_cast<State>(words);
  }

  alignas(16) uint32_t words_[kRows][ReduceTuning::kWarpThreads];
};

// Lanes of a warp that have a group of a strip.
struct PairTile {
  uint32_t place;  // Of the group.
  bool is_taken;   // Whether there is such a group.
  uint32_t rank;
  uint32_t width_log2;
  uint64_t begin;
  uint32_t count;
};

// Calls take(tile) for the groups of a strip whose bits are set in `places`: each is one lane's, or
// some lanes', or all lanes' where it is much longer than others.
template <class T, class Take>
__device__ inline void ForEachTile(const Warp& warp, const ReductionParameters& parameters,
                                   const TileWork& work, const GroupStrip& strip, uint32_t places,
                                   Take take) {
  constexpr uint32_t kLanes = ReduceTuning::kWarpThreads;
  constexpr uint32_t kShareMax = FixedPointTuning::kLaneVectorsMax * kVectorSize<T>;
  uint32_t wide = 0;  // Left to all lanes together.
  uint32_t begin = 0;
  for (;;) {
    uint32_t width_log2 = work.width_log2;
    uint32_t place = begin + (warp.thread_rank() >> width_log2);
    const bool is_wide = begin >= strip.groups;
    if (is_wide) {
      if (wide == 0) return;
      place = static_cast<uint32_t>(__ffs(static_cast<int>(wide))) - 1;
      wide &= wide - 1;
      width_log2 = ReduceTuning::kWarpThreadsLog2;
    }
    begin += kLanes >> width_log2;
    const bool exists = place < strip.groups && (places >> place & 1) != 0;
    const GroupRange range = exists ? RangeOf(parameters, strip.first + place) : GroupRange{0, 0};
    const bool is_later = width_log2 < ReduceTuning::kWarpThreadsLog2 &&
                          range.size > uint64_t{kShareMax} << width_log2;
    const uint32_t count = is_later ? 0 : static_cast<uint32_t>(range.size);
    const bool is_taken = exists && !is_later;
    if (warp.any(is_taken)) {
      take(PairTile{place, is_taken, warp.thread_rank() & ((1u << width_log2) - 1), width_log2,
                    range.begin, count});
    }
    if (!is_wide) wide |= __reduce_or_sync(~0u, is_later ? 1u << place : 0);
  }
}

// Leaves the states of groups.
template <class T>
__device__ inline void TakeStates(const Warp& warp, const ReductionParameters& parameters,
                                  const TileWork& work, const GroupStrip& strip, uint32_t places,
                                  PairRoom<T>& room) {
  ForEachTile<T>(warp, parameters, work, strip, places, [&](const PairTile& tile) {
    PairLane lane;
    uint32_t slots = 0;  // Of all lanes' turns.
    ForEachTurnOfShare(warp, static_cast<const T*>(parameters.elements) + tile.begin, tile.count,
                       tile.rank, tile.width_log2, [&](const PairTurn<T>& turn) {
                         slots += min(turn.used, turn.kVectors);
                         lane.Add(turn);
                       });
    lane.Join(warp, tile.width_log2);
    if (!tile.is_taken || tile.rank != 0) return;
    PairState state;
    state.sum = lane.sum;
    state.squares = lane.squares;
    state.min = lane.min;
    state.max = lane.max;
    state.min_index = 0;
    state.max_index = 0;
    state.zeros = lane.zeros;
    state.nan = lane.nan - ((slots * kVectorSize<T> << tile.width_log2) - tile.count);
    state.chain = slots * kVectorSize<T> + tile.width_log2;
    state.has_negative_zero = lane.has_negative_zero ? 1 : 0;
    room.Store(tile.place, state);
  });
}

// Leaves the deviations of groups of which there are states.
template <class T>
__device__ __noinline__ void TakeDeviations(const Warp& warp, const ReductionParameters& parameters,
                                            const TileWork& work, const GroupStrip& strip,
                                            uint32_t places, PairRoom<T>& room) {
  ForEachTile<T>(warp, parameters, work, strip, places, [&](const PairTile& tile) {
    const PairState state = room.LoadState(tile.is_taken ? tile.place : 0);
    const DeviationFrame frame = state.Frame();
    DeviationPairs pairs;
    ForEachTurnOfShare(warp, static_cast<const T*>(parameters.elements) + tile.begin, tile.count,
                       tile.rank, tile.width_log2,
                       [&](const PairTurn<T>& turn) { AddDeviations(turn, frame, pairs); });
    JoinDeviations(warp, tile.width_log2, pairs);
    if (tile.is_taken && tile.rank == 0) room.Store(tile.place, pairs);
  });
}

// Finds the first elements that equal the extremes of groups, of which each lane has one, by all
// lanes: where they are, and of zeros which they are. Not inlined: it is seldom needed.
template <class T>
__device__ __noinline__ void LocateExtremes(const Warp& warp, const ReductionParameters& parameters,
                                            uint64_t first, uint32_t places, PairRoom<T>& room) {
#pragma unroll 1
  for (; places != 0; places &= places - 1) {
    const uint32_t place = static_cast<uint32_t>(__ffs(static_cast<int>(places))) - 1;
    const GroupRange range = RangeOf(parameters, first + place);
    const T* const elements = static_cast<const T*>(parameters.elements) + range.begin;
    const PairState state = room.LoadState(place);
    const auto find = [&](double& value) {
#pragma unroll 1
      for (uint32_t begin = 0; begin < range.size; begin += ReduceTuning::kWarpThreads) {
        const uint32_t i = begin + warp.thread_rank();
        const double x = i < range.size ? static_cast<double>(ToCompute(elements[i])) : 0;
        const uint32_t found = warp.ballot(i < range.size && x == value);
        if (found == 0) continue;
        const uint32_t lane = static_cast<uint32_t>(__ffs(static_cast<int>(found))) - 1;
        value = warp.shfl(x, lane);
        return begin + lane;
      }
      return 0u;
    };
    double min = state.min;
    double max = state.max;
    const uint32_t min_index = find(min);
    const uint32_t max_index = find(max);
    warp.sync();
    if (warp.thread_rank() == 0) room.StorePlaces(place, min_index, max_index, min, max);
    warp.sync();
  }
}

// Writes what is asked for of a group; returns what of that is lacking.
template <bool kHasDeviations, class... Deviations>
__device__ inline PairsLack WritePairValues(const ReductionParameters& parameters, uint64_t group,
                                            uint32_t size, const PairState& state,
                                            const Deviations&... deviations) {
  const uint32_t count = size - state.nan;
  // Of infinities and NaN that are not ignored, words know more.
  if (count == 0 || (state.nan != 0 && !parameters.rules.ignore_nan)) return PairsLack::kAll;
  const PairValues<kHasDeviations> values(state, count, deviations...);
  WriteValues(parameters, group, size, values);
  return values.lack();
}

// Makes the values of a strip's groups whose bits are set in `places`, where pairs tell them;
// returns the others. Called by all lanes.
template <class T>
__device__ inline uint32_t TryStripInPairs(const Warp& warp, const ReductionParameters& parameters,
                                           const TileWork& work, const GroupStrip& strip,
                                           uint32_t places, bool asks_places, PairRoom<T>& room) {
  const uint32_t rank = warp.thread_rank();
  const uint64_t group = strip.first + rank;
  const bool is_mine = (places >> rank & 1) != 0;
  TakeStates<T>(warp, parameters, work, strip, places, room);
  warp.sync();
  const uint32_t size = is_mine ? static_cast<uint32_t>(RangeOf(parameters, group).size) : 0;
  PairState state = room.LoadState(is_mine ? rank : 0);
  const bool has_zero = state.has_negative_zero != 0 && (state.min == 0 || state.max == 0);
  if (const uint32_t located = warp.ballot(is_mine && (asks_places || has_zero)); located != 0) {
    LocateExtremes<T>(warp, parameters, strip.first, located, room);
    state = room.LoadState(is_mine ? rank : 0);
  }
  PairsLack lack = PairsLack::kNothing;
  if (is_mine) lack = WritePairValues<false>(parameters, group, size, state);
  if (const uint32_t apart = warp.ballot(lack == PairsLack::kDeviations); apart != 0) {
    TakeDeviations<T>(warp, parameters, work, strip, apart, room);
    warp.sync();
    if (lack == PairsLack::kDeviations) {
      lack = WritePairValues<true>(parameters, group, size, state, room.LoadDeviations(rank));
    }
  }
  warp.sync();  // Before the room is used again.
  return warp.ballot(lack != PairsLack::kNothing);
}

// Makes the values of all of a strip's groups, in words where pairs do not tell them. States are
// made of words.
template <class T>
__device__ inline void ReduceStripInPairs(const Warp& warp, const ReductionParameters& parameters,
                                          const TileWork& work, const GroupStrip& strip,
                                          uint32_t places, bool asks_places, PairRoom<T>& room) {
  uint32_t left = places;
  if (parameters.states == nullptr) {
    left = TryStripInPairs<T>(warp, parameters, work, strip, places, asks_places, room);
  }
#pragma unroll 1
  for (; left != 0; left &= left - 1) {
    const uint32_t place = static_cast<uint32_t>(__ffs(static_cast<int>(left))) - 1;
    ReduceGroupMoments<T>(parameters, strip.first + place, room.Words());
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_PAIR_STRIPS_CUH_
