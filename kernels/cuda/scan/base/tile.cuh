// A tile of a scan: its elements between device memory, shared memory and registers, and the parts
// of the tree of numerics/scans/tree.h that lie within a tile.
//
// Memory is read and written with neighbouring threads on neighbouring elements; a thread scans a
// run of kScanItems consecutive ones. Shared memory turns one order into the other.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_BASE_TILE_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_BASE_TILE_CUH_

#include <cooperative_groups.h>

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/scan/base/arguments.h"
#include "kernels/numerics/scans/operator.h"
#include "kernels/numerics/scans/tree.h"

namespace gridfold::kernels::cuda {

using Warp = cooperative_groups::thread_block_tile<kScanLanes>;

// Where place q of a tile stands in shared memory. Without the gap after each 128 bytes the runs of
// a warp's threads would start in the same few banks; with it, no two threads meet in either order.
template <class T>
struct PaddedTile {
  static constexpr int kPlacesPerRow = 128 / sizeof(T);
  static constexpr int kGap = sizeof(T) < 4 ? 4 / sizeof(T) : 1;
  static_assert((kScanTileSize + kScanTileSize / kPlacesPerRow * kGap) * sizeof(T) ==
                PaddedTileBytes(sizeof(T)));

  __device__ static int IndexOf(int place) { return place + place / kPlacesPerRow * kGap; }
};

// The element that stands at a logical position.
__device__ inline uint64_t ElementOf(const ScanArguments& arguments, uint64_t position) {
  return arguments.reverse ? arguments.element_count - 1 - position : position;
}

// The element whose value is the identity; it stands for what is missing after the array's end.
template <class Operator, class T>
__device__ T NeutralElement(const ScanArguments& arguments) {
  T neutral;
  Operator::Store(Operator::Identity(), true, &neutral);
  return Mirrored<Operator>(neutral, arguments.mirror_bits);
}

// Copies the tile's elements to shared memory. All threads of the block; needs a barrier after.
template <class Operator, class T>
__device__ void LoadTile(const ScanArguments& arguments, uint64_t tile_begin, T* tile) {
  const T* const input = static_cast<const T*>(arguments.input);
  const uint64_t left = arguments.element_count - tile_begin;
  const int size = left < kScanTileSize ? static_cast<int>(left) : kScanTileSize;
  const T* const first = input + ElementOf(arguments, tile_begin);
  const int64_t step = arguments.reverse ? -1 : 1;
  T items[kScanItems];
  // All loads before the first store, so that they are in flight together.
#pragma unroll
  for (int i = 0; i < kScanItems; ++i) {
    const int place = i * kScanThreads + static_cast<int>(threadIdx.x);
    items[i] = place < size ? first[place * step] : NeutralElement<Operator, T>(arguments);
  }
#pragma unroll
  for (int i = 0; i < kScanItems; ++i) {
    tile[PaddedTile<T>::IndexOf(i * kScanThreads + static_cast<int>(threadIdx.x))] = items[i];
  }
}

// Copies the tile's results from shared memory. All threads; needs a barrier before.
template <class Out>
__device__ void StoreTile(const ScanArguments& arguments, uint64_t tile_begin, const Out* tile) {
  Out* const output = static_cast<Out*>(arguments.output);
#pragma unroll
  for (int i = 0; i < kScanItems; ++i) {
    const int place = i * kScanThreads + static_cast<int>(threadIdx.x);
    const uint64_t position = tile_begin + place;
    if (position < arguments.element_count) {
      output[ElementOf(arguments, position)] = tile[PaddedTile<Out>::IndexOf(place)];
    }
  }
}

// What one thread scans: kScanItems consecutive places of the tile, `size` of them the array's.
struct Run {
  int begin;
  int size;
  uint32_t heads;  // Bit k: whether a group starts at item k.
};

// position % heads.group_size, of a position below 2^63. The quotient by the reciprocal is the
// right one or one less: it is below position / group_size by less than position / 2^64, and
// rounded down.
__device__ inline uint64_t PhaseOf(const ScanHeads& heads, uint64_t position) {
  const uint64_t quotient = __umul64hi(position, heads.reciprocal);
  const uint64_t phase = position - quotient * heads.group_size;
  return phase >= heads.group_size ? phase - heads.group_size : phase;
}

// Bit k: whether a group starts at the run's position k.
template <int kItems>
using HeadBits = std::conditional_t<kItems == 64, uint64_t,
                                    std::conditional_t<kItems == 32, uint32_t, uint16_t>>;

// The head bits of a run that begins `phase` positions into a group.
template <int kItems, class Phase>
__device__ HeadBits<kItems> HeadsFromPhase(const ScanHeads& heads, Phase phase) {
  using Bits = HeadBits<kItems>;
  const Phase next = phase == 0 ? 0 : static_cast<Phase>(heads.group_size) - phase;
  return next < kItems ? static_cast<Bits>(static_cast<Bits>(heads.heads_behind) << next) : Bits{0};
}

// The head bits of the run that begins at `begin`, a multiple of kItems.
template <int kItems>
__device__ HeadBits<kItems> RunHeads(const ScanHeads& heads, uint64_t begin) {
  using Bits = HeadBits<kItems>;
  if (heads.is_one_group) return begin + heads.first_phase == 0 ? 1 : 0;
  if (heads.bits != nullptr) return reinterpret_cast<const Bits*>(heads.bits)[begin / kItems];
  return HeadsFromPhase<kItems>(heads, PhaseOf(heads, begin + heads.first_phase));
}

// The head bits of lanes of a turn, where `bits` are not given.
template <int kItems>
class TurnHeads {
 public:
  __device__ TurnHeads(const ScanHeads& heads, uint64_t turn_position)
      : heads_(heads),
        position_(turn_position + heads.first_phase),
        phase_(heads.is_one_group || heads.bits != nullptr ? 0 : PhaseOf(heads, position_)) {}

  // The head bits of the lane that begins so many positions into the turn.
  __device__ HeadBits<kItems> At(uint32_t offset) const {
    if (heads_.is_one_group) return position_ + offset == 0 ? 1 : 0;
    if (heads_.group_size >> 31 != 0) {
      const uint64_t phase = phase_ + offset;
      return HeadsFromPhase<kItems>(heads_,
                                    phase >= heads_.group_size ? phase - heads_.group_size : phase);
    }
    // This is PhaseOf for a position below 2^32.
    const auto group_size = static_cast<uint32_t>(heads_.group_size);
    const uint32_t position = static_cast<uint32_t>(phase_) + offset;
    const uint32_t phase = position - __umulhi(position, heads_.reciprocal_32) * group_size;
    return HeadsFromPhase<kItems>(heads_, phase >= group_size ? phase - group_size : phase);
  }

 private:
  const ScanHeads& heads_;
  const uint64_t position_;
  const uint64_t phase_;
};

// How many of the positions of a run are the array's.
__device__ inline int SizeOfRun(const ScanArguments& arguments, uint64_t begin) {
  if (begin >= arguments.element_count) return 0;
  return static_cast<int>(min(arguments.element_count - begin, uint64_t{kScanItems}));
}

__device__ inline Run RunOfThread(const ScanArguments& arguments, const ScanHeads& heads,
                                  uint64_t tile_begin) {
  Run run;
  run.begin = static_cast<int>(threadIdx.x) * kScanItems;
  run.size = SizeOfRun(arguments, tile_begin + run.begin);
  run.heads = RunHeads<kScanItems>(heads, tile_begin + run.begin);
  return run;
}

template <class Operator>
using GroupedOf = GroupedValue<typename Operator::Value>;

template <class Operator>
__device__ GroupedOf<Operator> GroupedIdentity() {
  return {Operator::Identity(), false};
}

// Whether results of type Out, but for the bits of NaN, are the same in whatever order a tile's
// elements are joined, and with what precedes a lane's.
template <class Operator, class Out>
inline constexpr bool kAnyOrderInTile = Operator::kIsAssociative;
// Numbers of this type are multiples of 2^-24 below 2^16, so float64 has each sum of up to 2^13 of
// them, and each of more that is not above 2^29. A carry is a multiple as well. Where what precedes
// a lane's elements, the carry and what is in the tile joined, is below 2^28, nothing that is added
// to it rounds; where it is not, all results of the lane are infinite. A sum is -0.0 where all
// elements are, in any order.
template <>
inline constexpr bool kAnyOrderInTile<ScanOperator<Float16, ScanOperation::kSum>, Float16> = true;
static_assert(kScanTileSize <= 1 << 13);

// Items of a run that are unrolled. All of them would take registers that keep warps from being
// resident; the items are in shared memory, so nothing asks for it.
inline constexpr int kScanUnroll = 4;

// move(x) gives x of another lane. Cooperative groups take no integers of 128 bits, and nothing
// above 32 bytes: larger values have overloads of their own.
template <class Value, class Move>
__device__ Value MoveValue(const Value& v, Move&& move) {
  if constexpr (std::is_same_v<Value, Int128>) {
    const uint64_t low = move(static_cast<uint64_t>(v));
    const uint64_t high = move(static_cast<uint64_t>(v >> 64));
    return static_cast<Int128>(Uint128{high} << 64 | low);
  } else if constexpr (std::is_same_v<Value, EstimatedProduct>) {
    return {move(v.wrapped), move(v.estimate)};  // Not its padding.
  } else if constexpr (std::is_same_v<Value, ScaledProduct> ||
                       std::is_same_v<Value, UnboundedSum>) {
    return {move(v.fraction), move(v.exponent)};
  } else {
    return move(v);
  }
}
template <class Value, class Move>
__device__ GroupedValue<Value> MoveGrouped(const GroupedValue<Value>& v, Move&& move) {
  return {MoveValue(v.value, move), move(static_cast<int>(v.starts_group)) != 0};
}

// The value of lane `lane`, or of the lane `delta` before; all lanes of the warp.
template <class Value>
__device__ GroupedValue<Value> Shuffle(const Warp& warp, const GroupedValue<Value>& v, int lane) {
  return MoveGrouped(v, [&](auto x) { return warp.shfl(x, lane); });
}
template <class Value>
__device__ GroupedValue<Value> ShuffleUp(const Warp& warp, const GroupedValue<Value>& v,
                                         int delta) {
  return MoveGrouped(v, [&](auto x) { return warp.shfl_up(x, delta); });
}

// The doubling network of Hillis and Steele over the lanes of a warp.
template <class Operator>
__device__ GroupedOf<Operator> InclusiveWarpScan(const Warp& warp, GroupedOf<Operator> v) {
#pragma unroll
  for (int delta = 1; delta < kScanLanes; delta *= 2) {
    const GroupedOf<Operator> before = ShuffleUp(warp, v, delta);
    if (warp.thread_rank() >= delta) v = CombineGrouped<Operator>(before, v);
  }
  return v;
}

// The values of the lanes before, from what InclusiveWarpScan gave.
template <class Operator>
__device__ GroupedOf<Operator> ExclusiveOf(const Warp& warp, const GroupedOf<Operator>& inclusive) {
  const GroupedOf<Operator> before = ShuffleUp(warp, inclusive, 1);
  return warp.thread_rank() == 0 ? GroupedIdentity<Operator>() : before;
}

// The totals of warps 0 to `count` - 1 joined from left to right.
template <class Operator>
__device__ GroupedOf<Operator> JoinWarpTotals(const GroupedOf<Operator>* totals, int count) {
  GroupedOf<Operator> joined = GroupedIdentity<Operator>();
  for (int i = 0; i < count; ++i) joined = CombineGrouped<Operator>(joined, totals[i]);
  return joined;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_BASE_TILE_CUH_
