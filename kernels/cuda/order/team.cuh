// Teams of threads that look for the elements of one group: warps or blocks.
#ifndef GRIDFOLD_KERNELS_CUDA_ORDER_TEAM_CUH_
#define GRIDFOLD_KERNELS_CUDA_ORDER_TEAM_CUH_

#include <cstdint>

#include "kernels/cuda/order/arguments.h"
#include "kernels/cuda/order/elements.cuh"

namespace gridfold::kernels::cuda {

// A warp, for groups of up to a thousand elements.
struct WarpTeam {
  static constexpr uint32_t kThreads = kWarpLanes;
  static constexpr uint32_t kBlockThreads = kWarpTeamThreads;
  static constexpr uint32_t kDigitBits = 8;
  __device__ static void Sync() { __syncwarp(); }
};

// A block.
struct BlockTeam {
  static constexpr uint32_t kThreads = kOrderBlockThreads;
  static constexpr uint32_t kBlockThreads = kOrderBlockThreads;
  static constexpr uint32_t kDigitBits = kGridDigitBits;
  __device__ static void Sync() { __syncthreads(); }
};

template <class Team>
inline constexpr uint32_t kTeamWarps = Team::kThreads / kWarpLanes;
template <class Team>
__device__ uint32_t TeamInBlock() {
  return threadIdx.x / Team::kThreads;
}
template <class Team>
__device__ uint32_t RankInTeam() {
  return threadIdx.x % Team::kThreads;
}
template <class Team>
__device__ uint32_t WarpInTeam() {
  return RankInTeam<Team>() / kWarpLanes;
}

// What a team keeps in shared memory beside keys.
template <class Team>
struct TeamTables {
  static constexpr uint32_t kDigits = 1u << Team::kDigitBits;

  uint32_t first[kDigits];   // Of the first digits of all keys.
  uint32_t counts[kDigits];  // Of a further digit of some.
  uint64_t sums[kTeamWarps<Team>];
  uint32_t digit;   // That was found,
  uint32_t before;  // how many keys stand before its own,
  uint32_t here;    // and how many those are.
  uint32_t cursor;
};

// The sum of the values of a team's threads, and of those before the calling one. All threads call.
struct PrefixSum {
  uint64_t before;
  uint64_t total;
};
template <class Team>
__device__ PrefixSum SumBefore(uint64_t value, TeamTables<Team>& tables) {
  uint64_t sum = value;
#pragma unroll
  for (uint32_t apart = 1; apart < kWarpLanes; apart *= 2) {
    const uint64_t other = __shfl_up_sync(kAllLanes, sum, apart);
    if (LaneId() >= apart) sum += other;
  }
  if constexpr (kTeamWarps<Team> == 1) {
    return {sum - value, __shfl_sync(kAllLanes, sum, kWarpLanes - 1)};
  } else {
    Team::Sync();  // Sums of the call before have been read.
    if (LaneId() == kWarpLanes - 1) tables.sums[WarpInTeam<Team>()] = sum;
    Team::Sync();
    PrefixSum result{sum - value, 0};
    for (uint32_t w = 0; w < kTeamWarps<Team>; ++w) {
      if (w < WarpInTeam<Team>()) result.before += tables.sums[w];
      result.total += tables.sums[w];
    }
    return result;
  }
}

// The smallest value of a team's threads.
template <class Team>
__device__ uint64_t TeamMin(uint64_t value, TeamTables<Team>& tables) {
#pragma unroll
  for (uint32_t apart = kWarpLanes / 2; apart > 0; apart /= 2) {
    const uint64_t other = __shfl_xor_sync(kAllLanes, value, apart);
    if (other < value) value = other;
  }
  if constexpr (kTeamWarps < Team >> 1) {
    Team::Sync();
    if (LaneId() == 0) tables.sums[WarpInTeam<Team>()] = value;
    Team::Sync();
    for (uint32_t w = 0; w < kTeamWarps<Team>; ++w) {
      if (tables.sums[w] < value) value = tables.sums[w];
    }
  }
  return value;
}

// Finds the digit of the key at place `left` of the counted ones, and writes it into the tables.
template <class Team>
__device__ void FindDigit(const uint32_t* counts, uint32_t left, TeamTables<Team>& tables) {
  constexpr uint32_t kEach = TeamTables<Team>::kDigits / Team::kThreads;
  const uint32_t first = RankInTeam<Team>() * kEach;
  uint32_t own = 0;
#pragma unroll
  for (uint32_t i = 0; i < kEach; ++i) own += counts[first + i];
  uint32_t before = static_cast<uint32_t>(SumBefore<Team>(own, tables).before);
  if (before <= left && left - before < own) {
    uint32_t digit = first;
    while (left - before >= counts[digit]) before += counts[digit++];
    tables.digit = digit;
    tables.before = before;
    tables.here = counts[digit];
  }
  Team::Sync();
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_ORDER_TEAM_CUH_
