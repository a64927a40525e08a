// What kernels of order statistics are given. Plain C++.
#ifndef GRIDFOLD_KERNELS_CUDA_ORDER_ARGUMENTS_H_
#define GRIDFOLD_KERNELS_CUDA_ORDER_ARGUMENTS_H_

#include <cstdint>

#include "kernels/numerics/order/quantile.h"
#include "kernels/types/element_type.h"

namespace gridfold::kernels::cuda {

// Which keys elements have: those of ToOrderKey, or of ToSelectionKey.
struct KeyKind {
  bool is_selection = false;
  bool smallest = false;
  bool ignores_nan = false;
};

// Groups whose elements follow one another.
struct OrderGroups {
  const void* elements = nullptr;
  const uint64_t* offsets = nullptr;  // Of segments; null: all groups have `size` elements.
  uint64_t group_count = 0;
  uint64_t size = 0;
  uint64_t size_max = 0;  // Larger groups are left out.
};

struct QuantileArguments {
  OrderGroups groups;
  const QuantileTarget* targets = nullptr;
  uint32_t target_count = 0;
  QuantileMethod method = QuantileMethod::kLinear;
  bool ignores_nan = false;
  uint64_t* slots = nullptr;   // Of target t and group g at t * group_count + g.
  uint32_t buffered_keys = 0;  // That a team's shared memory holds.
};

// Elements selected of a group, unordered or in order, from g * count on.
struct TopArguments {
  OrderGroups groups;
  uint64_t count = 0;
  KeyKind kind;
  bool is_sorted = false;  // Whether they are to be put in order.
  uint64_t* slots = nullptr;
  uint64_t* indices = nullptr;
  uint64_t* lacking_group = nullptr;  // The first one with too many ignored NaNs; else 2^64 - 1.
  uint32_t buffered_keys = 0;         // That a team's shared memory holds.
  uint32_t sorted_room = 0;           // Elements that it sorts: a power of two.
};

// Digits of keys, as all kernels count them.
inline constexpr uint32_t kGridDigitBits = 11;
inline constexpr uint32_t kGridDigits = 1u << kGridDigitBits;

constexpr uint32_t LevelCount(uint32_t key_bits, uint32_t digit_bits) {
  return (key_bits + digit_bits - 1) / digit_bits;
}
// Places of a key that are below its digit of a level, the highest being level 0.
constexpr uint32_t ShiftAt(uint32_t key_bits, uint32_t digit_bits, uint32_t level) {
  const uint32_t above = digit_bits * (level + 1);
  return above < key_bits ? key_bits - above : 0;
}
constexpr uint32_t WidthAt(uint32_t key_bits, uint32_t digit_bits, uint32_t level) {
  return key_bits - digit_bits * level - ShiftAt(key_bits, digit_bits, level);
}

// Places that one group of a plan can need.
inline constexpr uint32_t kWantedMax = 512;
// Tables of digits that a block counts in shared memory; keys of further nodes are counted in
// device memory.
inline constexpr uint32_t kSharedNodesMax = 24;

// A key that is looked for in a large group.
struct WantedKey {
  uint64_t rank = 0;   // In the group.
  uint64_t left = 0;   // Among the keys of its node.
  uint64_t equal = 0;  // Keys of its node.
  uint64_t key = 0;    // Its digits that are known.
  uint32_t node = 0;
  uint32_t is_known = 0;  // All of it, before digits are counted.
};

// What is known of a large group between its passes. In device memory.
struct DigitState {
  uint64_t nan_count = 0;
  uint64_t kept_count = 0;   // Keys that were kept,
  uint32_t is_keeping = 0;   // where this pass keeps them,
  uint32_t reads_kept = 0;   // or reads them.
  uint32_t is_narrowed = 0;  // Whether they were kept between bounds of a sample (narrow.h).
  uint32_t node_count = 1;
  uint32_t wanted_count = 0;
  WantedKey wanted[kWantedMax];
  uint64_t nodes[kWantedMax];  // Prefixes of keys, increasing.
};

struct DigitArguments {
  const void* elements = nullptr;
  uint64_t count = 0;
  KeyKind kind;
  uint32_t level = 0;
  uint32_t shared_nodes = 1;
  bool counts_nans = true;  // With the first digits.
  DigitState* state = nullptr;
  uint64_t* counts = nullptr;  // A table for each node.
  void* kept = nullptr;        // Room for keys.
  uint64_t kept_room = 0;
};

// Of a large group: its targets, or one rank, are looked for.
struct RanksArguments {
  DigitState* state = nullptr;
  uint64_t count = 0;
  const QuantileTarget* targets = nullptr;
  uint32_t target_count = 0;
  QuantileMethod method = QuantileMethod::kLinear;
  bool ignores_nan = false;
};
struct DescendArguments {
  DigitState* state = nullptr;
  const uint64_t* counts = nullptr;
  uint32_t shift = 0;
  uint32_t width = 0;
  uint64_t kept_room = 0;
};
struct TargetsArguments {
  RanksArguments ranks;
  uint64_t* slots = nullptr;  // Of target t at t * slot_stride.
  uint64_t slot_stride = 1;
};

// A large group whose elements are collected, after its one wanted key was found.
struct CollectArguments {
  const void* elements = nullptr;
  uint64_t count = 0;
  KeyKind kind;
  uint64_t selected = 0;  // Elements to collect.
  uint64_t group = 0;
  const DigitState* state = nullptr;
  uint64_t* equal_counts = nullptr;  // One for each block, then what came before it.
  uint64_t* cursor = nullptr;        // Places that are taken by larger elements; 0 at first.
  uint64_t* slots = nullptr;
  uint64_t* indices = nullptr;
  uint64_t* lacking_group = nullptr;
};

struct SortArguments {
  KeyKind kind;
  uint32_t count = 0;
  uint32_t room = 0;  // A power of two.
  const void* elements = nullptr;
  uint64_t* slots = nullptr;
  uint64_t* indices = nullptr;
  const uint64_t* lacking_group = nullptr;  // Where there is one, there is nothing to sort.
};

inline constexpr uint32_t kOrderBlockThreads = 512;
// Elements of a group that a warp takes.
inline constexpr uint64_t kWarpGroupMax = 1024;
inline constexpr uint32_t kWarpTeamThreads = 256;  // Of a block of teams that are a warp each.

using QuantileKernel = void (*)(QuantileArguments);
using TopKernel = void (*)(TopArguments);
using DigitKernel = void (*)(DigitArguments);
using TargetsKernel = void (*)(TargetsArguments);
using CollectKernel = void (*)(CollectArguments);
using SortKernel = void (*)(SortArguments);

// A team for each group: a warp, or a block.
uint64_t TeamTablesBytes(bool by_warps);  // Of shared memory.
// By blocks; and by warps, which hold groups of up to kWarpGroupMax elements in registers.
QuantileKernel FindQuantileKernel(ElementType type);
QuantileKernel FindRowQuantileKernel(ElementType type, uint64_t largest_group);
TopKernel FindTopKernel(ElementType type, bool by_warps);
// Of large groups: all blocks count.
DigitKernel FindDigitKernel(ElementType type, bool is_first);
// Shared memory of a block of the kernel for digits that are not the first, beside its tables.
uint64_t NextDigitsBytes(ElementType type);
TargetsKernel FindTargetsKernel(ElementType type);
void (*FindRanksKernel())(RanksArguments);
void (*FindRankKernel())(DigitState*, uint64_t rank);
void (*FindDescendKernel())(DescendArguments);
CollectKernel FindCountEqualKernel(ElementType type);
void (*FindScanEqualKernel())(uint64_t* equal_counts, uint32_t block_count);
CollectKernel FindCollectKernel(ElementType type);
SortKernel FindSortKernel(ElementType type);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_ORDER_ARGUMENTS_H_
