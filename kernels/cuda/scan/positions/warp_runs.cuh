// A warp of threads scans its part of the tree of numerics/scans/tree.h. Each of its lanes has
// kRuns neighbouring runs, 1 or 2, so it has kRuns of the tree's warps, one behind the other.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_WARP_RUNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_WARP_RUNS_CUH_

#include <cstdint>

#include "kernels/cuda/scan/base/tile.cuh"

namespace gridfold::kernels::cuda {

// What a lane has of each of its runs.
template <class Value, int kRuns>
struct alignas(kRuns * sizeof(Value) == 16 ? 16 : alignof(Value)) LaneRuns {
  __device__ Value& operator[](int r) { return values[r]; }
  __device__ const Value& operator[](int r) const { return values[r]; }

  Value values[kRuns];
};

// Lanes of a warp that have one of the tree's, and a lane's place among them.
template <int kRuns>
inline constexpr int kTreeWarpLanes = kScanLanes / kRuns;
template <int kRuns>
__device__ int LaneInTreeWarp(int lane) {
  return kRuns == 1 ? lane : lane % kTreeWarpLanes<kRuns>;
}

// The runs of a warp in which groups start.
template <int kRuns>
class WarpHeads {
  static_assert(kRuns == 1 || kRuns == 2);

 public:
  // `lane_heads`: where groups start in the lane's elements. All lanes.
  template <class Bits>
  __device__ WarpHeads(const Warp& warp, Bits lane_heads)
      : lane_(static_cast<int>(warp.thread_rank())) {
    constexpr int kRunBits = 8 * sizeof(Bits) / kRuns;
    constexpr Bits kRunMask =
        static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> (8 * sizeof(Bits) - kRunBits));
#pragma unroll
    for (int r = 0; r < kRuns; ++r) {
      lanes_[r] = warp.ballot((lane_heads >> (kRunBits * r) & kRunMask) != 0);
    }
  }

  // Bit r: in run r of any lane.
  __device__ uint32_t Runs() const {
    uint32_t runs = 0;
#pragma unroll
    for (int r = 0; r < kRuns; ++r) runs |= lanes_[r] != 0 ? 1u << r : 0;
    return runs;
  }
  // Whether a group starts in the lane's warp of the tree.
  __device__ bool AnyInTreeWarp() const { return (AnyLanes() & TreeWarp()) != 0; }
  // Whether a group starts in the runs before the lane's run r in that warp.
  __device__ bool AnyBefore(int r) const {
    uint32_t seen = AnyLanes() & TreeWarp() & ((1u << lane_) - 1);
#pragma unroll
    for (int q = 0; q < r; ++q) seen |= lanes_[q] & 1u << lane_;
    return seen != 0;
  }
  // Whether a group starts in the lane's run r.
  __device__ bool At(int r) const { return (lanes_[r] >> lane_ & 1) != 0; }
  // How far the values of lanes before may be that are joined with that of the lane's run r, which
  // has the kRuns runs up to that: the lanes up to the tree's warp's first, or a group's.
  __device__ int Reach(int r) const {
    uint32_t seen = AnyLanes();
    if constexpr (kRuns == 2) {
      constexpr uint32_t kFirstLanes = 1u | 1u << kTreeWarpLanes<kRuns>;
      if (r == 0) seen = lanes_[0] | (lanes_[1] << 1 & ~kFirstLanes);
    }
    return min(__clz(static_cast<int>(seen << (kScanLanes - 1 - lane_))),
               LaneInTreeWarp<kRuns>(lane_));
  }

 private:
  __device__ uint32_t TreeWarp() const {
    constexpr uint32_t kFirst = ~0u >> (kScanLanes - kTreeWarpLanes<kRuns>);
    return kFirst << (lane_ - LaneInTreeWarp<kRuns>(lane_));
  }
  __device__ uint32_t AnyLanes() const {
    uint32_t lanes = lanes_[0];
#pragma unroll
    for (int r = 1; r < kRuns; ++r) lanes |= lanes_[r];
    return lanes;
  }

  const int lane_;
  uint32_t lanes_[kRuns];  // Bit l: of lane l.
};

// The doubling networks of Hillis and Steele over the runs of the tree's warps. Where a lane has
// two runs, the first step is that of neighbours, and the others join values of lanes.
template <class Operator, int kRuns>
__device__ void InclusiveWarpScan(const Warp& warp, const WarpHeads<kRuns>& heads,
                                  LaneRuns<typename Operator::Value, kRuns>& runs) {
  using Value = typename Operator::Value;
  const auto before_by = [&](const Value& v, int delta) {
    return MoveValue(v, [&](auto x) { return warp.shfl_up(x, delta); });
  };
  // The statement without effect keeps the compiler from joining in any case and selecting then,
  // which takes three times as many instructions.
  const auto join_if = [&](bool is_wanted, const Value& before, Value& v) {
    if (is_wanted) {
      v = Operator::Combine(before, v);
      asm volatile("");
    }
  };
  if constexpr (kRuns == 2) {
    const Value first = runs[0];
    const Value before = before_by(runs[1], 1);
    const bool is_first = LaneInTreeWarp<kRuns>(static_cast<int>(warp.thread_rank())) == 0;
    join_if(!is_first && !heads.At(0), before, runs[0]);
    join_if(!heads.At(1), first, runs[1]);
  }
  int reach[kRuns];
#pragma unroll
  for (int r = 0; r < kRuns; ++r) reach[r] = heads.Reach(r);
#pragma unroll
  for (int delta = 1; delta < kTreeWarpLanes<kRuns>; delta *= 2) {
#pragma unroll
    for (int r = 0; r < kRuns; ++r) {
      join_if(reach[r] >= delta, before_by(runs[r], delta), runs[r]);
    }
  }
}

// What precedes each of the lane's runs, from what InclusiveWarpScan gave.
template <class Operator, int kRuns>
__device__ LaneRuns<typename Operator::Value, kRuns> BeforeRuns(
    const Warp& warp, const LaneRuns<typename Operator::Value, kRuns>& inclusive) {
  LaneRuns<typename Operator::Value, kRuns> before;
  before[0] = MoveValue(inclusive[kRuns - 1], [&](auto x) { return warp.shfl_up(x, 1); });
  if (LaneInTreeWarp<kRuns>(static_cast<int>(warp.thread_rank())) == 0)
    before[0] = Operator::Identity();
#pragma unroll
  for (int r = 1; r < kRuns; ++r) before[r] = inclusive[r - 1];
  return before;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_WARP_RUNS_CUH_
