// These kernels join the totals of tiles and chunks into what precedes each of them.
//
// A warp takes a link of a chain and holds one sum, two limbs in each lane. All lanes add at once;
// which of them a carry reaches follows from the lanes that make one and those that pass it on, as
// in a carry-lookahead adder.
//
// Example, four lanes of a decimal digit, 0999 + 0001, lowest lane first:
//
//   sums              10, 9, 9, 0: lane 0 makes a carry, lanes 1 and 2 pass one on
//   makers, passers   0b0001, 0b0110: one addition, makers << 1 to passers, runs through the latter
//   carries reach     lanes 1, 2 and 3: 0, 0, 0, 1
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_EXACT_CARRY_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_EXACT_CARRY_CUH_

#include <cooperative_groups.h>

#include <cstdint>

#include "kernels/cuda/scan/base/tile.cuh"
#include "kernels/cuda/scan/exact/kernels.h"

namespace gridfold::kernels::cuda {

// States whose loads are in flight together.
inline constexpr int kExactCarryUnroll = 4;

template <class T>
class WarpSum {
 public:
  using State = ExactState<T>;

  __device__ static WarpSum Load(const Warp& warp, const State& state) {
    WarpSum sum;
    const int lane = static_cast<int>(warp.thread_rank());
    const uint64_t* const limbs = state.sum.limbs();
    if (lane < kLanes) sum.limbs_ = (Uint128{limbs[2 * lane + 1]} << kLimbBits) | limbs[2 * lane];
    sum.flags_ = state.sum.flags();
    sum.starts_group_ = state.starts_group != 0;
    return sum;
  }

  __device__ void Store(const Warp& warp, State& state) const {
    const int lane = static_cast<int>(warp.thread_rank());
    if (lane == 0) {
      state.sum = PrefixSum<T>{};
      state.sum.AddFlags(flags_);
      state.starts_group = starts_group_ ? 1 : 0;
    }
    warp.sync();
    if (lane < kLanes) {
      uint64_t* const limbs = state.sum.mutable_limbs();
      limbs[2 * lane] = static_cast<uint64_t>(limbs_);
      limbs[2 * lane + 1] = static_cast<uint64_t>(limbs_ >> kLimbBits);
    }
  }

  // Joins what comes after.
  __device__ void Join(const Warp& warp, const WarpSum& next) {
    if (next.starts_group_) {
      *this = next;
      return;
    }
    const Uint128 sum = limbs_ + next.limbs_;
    const uint32_t makes_carry = warp.ballot(sum < limbs_);
    const uint32_t passes_carry = warp.ballot(sum == ~Uint128{0});
    // Adding runs the carries through the lanes that pass them on; what differs is who got one.
    const uint32_t carries = ((makes_carry << 1) + passes_carry) ^ passes_carry;
    limbs_ = sum + (carries >> warp.thread_rank() & 1);
    flags_ |= next.flags_;
    if ((flags_ & kSawNan) != 0) limbs_ = 0;
  }

 private:
  static constexpr int kLanes = PrefixSum<T>::kLimbs / 2;
  static_assert(PrefixSum<T>::kLimbs % 2 == 0 && kLanes <= kScanLanes);

  Uint128 limbs_ = 0;
  uint32_t flags_ = 0;
  bool starts_group_ = false;
};

// Calls work(warp, link, chain, first, end) for every link of every chain, first and end being its
// states in the chain.
template <class Work>
__device__ void ForEachLink(const ExactChains& chains, Work&& work) {
  const Warp warp =
      cooperative_groups::tiled_partition<kScanLanes>(cooperative_groups::this_thread_block());
  const uint64_t warps = uint64_t{gridDim.x} * warp.meta_group_size();
  const uint64_t link_count = (chains.length + chains.link_length - 1) / chains.link_length;
  for (uint64_t w = uint64_t{blockIdx.x} * warp.meta_group_size() + warp.meta_group_rank();
       w < link_count * chains.chain_count; w += warps) {
    const uint64_t first = w / chains.chain_count * chains.link_length;
    work(warp, w, w % chains.chain_count, first, min(first + chains.link_length, chains.length));
  }
}

// Calls visit(state, total) for the states of a link, in order.
template <class T, class Visit>
__device__ void ForEachState(const Warp& warp, const ExactChains& chains, uint64_t chain,
                             uint64_t first, uint64_t end, Visit&& visit) {
  ExactState<T>* const states = static_cast<ExactState<T>*>(chains.states) + chain;
  for (uint64_t begin = first; begin < end; begin += kExactCarryUnroll) {
    const int count = static_cast<int>(min(end - begin, uint64_t{kExactCarryUnroll}));
    WarpSum<T> totals[kExactCarryUnroll];
#pragma unroll
    for (int k = 0; k < kExactCarryUnroll; ++k) {
      if (k < count) totals[k] = WarpSum<T>::Load(warp, states[(begin + k) * chains.chain_count]);
    }
#pragma unroll
    for (int k = 0; k < kExactCarryUnroll; ++k) {
      if (k < count) visit(states[(begin + k) * chains.chain_count], totals[k]);
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kExactCarryThreads) TotalExactLinks(const ExactChains chains) {
  ForEachLink(
      chains, [&](const Warp& warp, uint64_t link, uint64_t chain, uint64_t first, uint64_t end) {
        WarpSum<T> total;
        ForEachState<T>(warp, chains, chain, first, end,
                        [&](ExactState<T>&, const WarpSum<T>& next) { total.Join(warp, next); });
        total.Store(warp, static_cast<ExactState<T>*>(chains.links)[link]);
      });
}

template <class T>
__global__ void __launch_bounds__(kExactCarryThreads) CarryExactStates(const ExactChains chains) {
  const auto* const links = static_cast<const ExactState<T>*>(chains.links);
  ForEachLink(chains,
              [&](const Warp& warp, uint64_t link, uint64_t chain, uint64_t first, uint64_t end) {
                WarpSum<T> carry;
                if (links != nullptr) carry = WarpSum<T>::Load(warp, links[link]);
                ForEachState<T>(warp, chains, chain, first, end,
                                [&](ExactState<T>& state, const WarpSum<T>& total) {
                                  carry.Store(warp, state);
                                  carry.Join(warp, total);
                                });
              });
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_EXACT_CARRY_CUH_
