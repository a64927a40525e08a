// The lanes of a warp make the sum of a moment of those of its words that are not 0.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_USED_WORDS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_USED_WORDS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/core/words.cuh"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/arithmetic/limbs.h"
#include "kernels/numerics/arithmetic/wide_integer.h"

namespace gridfold::kernels::cuda {

// The words of a moment that are not 0, in increasing order.
struct UsedWords {
  const int64_t* joined;  // As JoinBlock has them; with halves, those of TakeTotal.
  uint32_t halves_apart;  // 0 without halves.
  const int64_t* list;
  uint32_t count;

  __device__ uint32_t IndexOf(uint32_t k) const { return static_cast<uint32_t>(list[k]); }
  __device__ Int128 Integer(uint32_t i) const {
    if (halves_apart == 0) return joined[i];
    return Int128{joined[i]} + (Int128{joined[halves_apart + i]} << 32);
  }

  // Finds the used words among `words` from `joined` on; `list` has room for as many. Called by all
  // lanes of a warp.
  __device__ static UsedWords Find(const Warp& warp, const int64_t* joined, uint32_t words,
                                   uint32_t halves_apart, int64_t* list) {
    UsedWords used{joined, halves_apart, list, 0};
#pragma unroll 1
    for (uint32_t first = 0; first < words; first += warp.size()) {
      const uint32_t i = first + warp.thread_rank();
      const bool is_used = i < words && used.Integer(i) != 0;
      const uint32_t lanes = warp.ballot(is_used);
      const uint32_t before = __popc(lanes & ((1u << warp.thread_rank()) - 1));
      if (is_used) list[used.count + before] = i;
      used.count += __popc(lanes);
    }
    warp.sync();
    return used;
  }
};

// Bits of x from `position` on, below which it has zeros, modulo 2^64.
__device__ inline uint64_t LimbAt(Int128 x, int position) {
  if (position <= -kLimbBits) return 0;
  if (position < 0) return static_cast<uint64_t>(x) << -position;
  return static_cast<uint64_t>(x >> min(position, 2 * kLimbBits - 1));
}

// What limbs are when each gets what the one before it carries: a lane's limb is the lower half of
// `mine`, and its carry the upper one.
class LaneCarries {
 public:
  // Resolves the carries of 32 limbs, all behind those of the last call. Called by all lanes of a
  // warp.
  __device__ uint64_t Resolve(const Warp& warp, Uint128 mine) {
    const uint32_t lane = warp.thread_rank();
    const uint64_t carry = static_cast<uint64_t>(mine >> kLimbBits);
    const uint64_t from_before = warp.shfl_up(carry, 1);
    const uint64_t added = lane == 0 ? last_carry_ : from_before;
    const uint64_t limb = static_cast<uint64_t>(mine) + added;
    // Ones that these additions carry move on over limbs of all ones, as in an addition of masks.
    const uint64_t made = uint64_t{warp.ballot(limb < added)} << 1 | last_one_;
    const uint64_t passed = warp.ballot(limb == ~uint64_t{0});
    const uint64_t ones = (made + passed) ^ passed;
    last_carry_ = warp.shfl(carry, warp.size() - 1);
    last_one_ = ones >> warp.size();
    return limb + (ones >> lane & 1);
  }

 private:
  uint64_t last_carry_ = 0;
  uint64_t last_one_ = 0;
};

// Writes the limbs of the sum of words of a kind. Called by all lanes of a warp.
template <class Kind, class Sum>
__device__ inline void WriteLimbs(const Warp& warp, const UsedWords& used, Kind kind, Sum& sum) {
  LaneCarries carries;
#pragma unroll 1
  for (uint32_t first = 0; first < Sum::kLimbs; first += warp.size()) {
    const uint32_t limb = first + warp.thread_rank();
    Uint128 mine = 0;
#pragma unroll 1
    for (uint32_t k = 0; k < used.count; ++k) {
      const uint32_t i = used.IndexOf(k);
      const int position =
          static_cast<int>(limb) * kLimbBits - (kind.Unit(i) - Sum::kLowestExponent);
      mine += LimbAt(used.Integer(i), position);
    }
    const uint64_t resolved = carries.Resolve(warp, mine);
    if (limb < Sum::kLimbs) sum.mutable_limbs()[limb] = resolved;
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_USED_WORDS_CUH_
