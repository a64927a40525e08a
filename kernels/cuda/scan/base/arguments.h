// ScanArguments is what scan kernels are given. Plain data, passed to them by value.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_BASE_ARGUMENTS_H_
#define GRIDFOLD_KERNELS_CUDA_SCAN_BASE_ARGUMENTS_H_

#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/numerics/scans/tree.h"
#include "kernels/types/element_type.h"
#include "kernels/types/scan_operation.h"

namespace gridfold::kernels::cuda {

// Threads of a block; a block scans a tile at a time.
inline constexpr int kScanThreads = kScanLanes * kScanWarps;

// What the kernels of both strategies need to know. Choices that are the same for all elements are
// branches at run time, so that a kernel is built once for each element type and operation.
struct ScanArguments {
  const void* input = nullptr;
  void* output = nullptr;
  uint32_t* overflow_flag = nullptr;  // Set to 1 where a result does not fit.
  uint64_t element_count = 0;
  bool reverse = false;
  bool exclusive = false;
  bool ignore_nan = false;
  bool wrap = false;
  uint64_t mirror_bits = 0;         // Of numerics/scans/operator.h.
  bool accumulator_output = false;  // Results are of the accumulator type, not the array's own.
};

// Where groups start, for scans over positions in a row.
struct ScanHeads {
  uint64_t group_size = 1;  // A group starts at each multiple; not used where `bits` is given.
  uint64_t reciprocal = ~uint64_t{0};     // (2^64 - 1) / group_size.
  uint32_t reciprocal_32 = ~uint32_t{0};  // (2^32 - 1) / group_size.
  uint64_t heads_behind = ~uint64_t{0};   // Bit i: whether i is a multiple of group_size.
  uint64_t first_phase = 0;               // Where in its group position 0 stands.
  bool is_one_group = false;              // Whether all positions are of the first group.
  const uint16_t* bits = nullptr;  // Bit p % 16 of word p / 16: whether one starts at position p.
};

// A piece of a value, and whether it is there; see word.cuh.
struct alignas(16) LookBackWord {
  uint64_t piece;
  uint64_t mark;
};
constexpr uint64_t LookBackWordsOf(uint64_t value_bytes) { return (value_bytes + 7) / 8; }
inline constexpr uint64_t kLookBackWordsMax = 2;  // Of a value of whatever type.
// Words from a block of tiles' total to the next's: a line of 128 bytes. All blocks of threads read
// the latest ones over and over, and would meet at a line of several.
inline constexpr uint64_t kLookBackBlockPitch = 8;
static_assert(kLookBackBlockPitch >= kLookBackWordsMax);

// What the blocks of a look-back scan tell each other; see scan/positions/look_back_chain.cuh.
// Tiles and blocks of tiles are those of numerics/scans/tree.h, or longer ones where the order of
// joins does not matter. Totals are an operator's Values, in words that are 0 to begin with.
struct LookBackMemory {
  uint32_t tile_count = 0;
  uint32_t turn_tiles = 1;  // That a block of threads scans at a time; divides a block of tiles.
  uint32_t turn_count = 0;
  uint32_t turns_kept = 2;  // In a block's shared memory at once; two at least.
  LookBackWord* tile_totals = nullptr;
  LookBackWord* block_totals = nullptr;  // kLookBackBlockPitch apart.
  const void* first_carry = nullptr;     // A GroupedValue: what precedes block 0. Null: nothing.
  void* last_carry = nullptr;            // Becomes what follows the last tile. Null: not wanted.
};

// The turns of a look-back scan: what a block of threads takes at a time; see
// scan/positions/look_back.cuh.
struct ScanTurnShape {
  int tiles;  // At most; a power of two.
  int teams;  // Of kScanThreads, which share the tiles.

  // Besides the teams there are a warp that publishes, one that joins and one that looks back.
  constexpr int threads() const { return teams * kScanThreads + 3 * kScanLanes; }
};

// What a block can have on every device. Two turns at least find room in that.
inline constexpr uint32_t kSharedBytesEverywhere = 99 * 1024;

// The turn for tiles of so many elements, whose runs have values of so many bytes. Chosen by
// measurement: kernels/docs/scans.md has the figures. Four small tiles with long values find no
// room.
constexpr ScanTurnShape ScanTurnShapeOf(uint64_t element_size, uint64_t output_size,
                                        uint64_t tile_size, uint64_t value_bytes) {
  if (output_size > element_size)
    return element_size == 4 ? ScanTurnShape{1, 1} : ScanTurnShape{2, 2};
  if (element_size == 8) return {1, 1};
  const bool has_small_tiles = element_size < 4 && tile_size == kScanTileSize;
  if (!has_small_tiles) return {2, 2};
  return value_bytes <= sizeof(double) ? ScanTurnShape{4, 2} : ScanTurnShape{2, 1};
}

// Elements of a lane: a run of the tree where results take more registers than elements; 64 bytes
// of small elements, or joining what lanes have costs more than scanning it.
constexpr int ScanLaneItems(ScanOperation operation, uint64_t element_size, uint64_t output_size) {
  if (output_size != element_size || element_size >= 4) return kScanItems;
  // Products are scanned an element at a time.
  return element_size == 1 && operation != ScanOperation::kProduct ? 4 * kScanItems
                                                                   : 2 * kScanItems;
}
inline constexpr uint64_t kScanTileSizeMax = uint64_t{4} * kScanTileSize;

// Shared memory that a tile of elements of some size takes, with gaps against bank conflicts; see
// PaddedTile in tile.cuh. An exact scan needs it for its elements and, where results have
// another type, again for those.
constexpr uint32_t PaddedTileBytes(uint32_t element_size) {
  const uint32_t size_bytes = kScanTileSize * element_size;
  return size_bytes + size_bytes / 128 * (element_size < 4 ? 4 : element_size);
}

// A look-back scan's kernel, and what its launch needs to know.
struct LookBackScanKernel {
  void (*launch)(ScanArguments, ScanHeads, LookBackMemory);
  ScanTurnShape turn;
  uint32_t tile_size;      // Elements.
  uint32_t result_bytes;   // Of shared memory, for results,
  uint32_t turn_bytes;     // and for each turn that is kept.
  uint32_t value_bytes;    // Of the operator's Value,
  uint32_t grouped_bytes;  // and of its GroupedValue.
};

// The kernels for an element type, of an operation that OperatorOf gives; each is instantiated in a
// file of its own.
// `accumulator_output`: whether results are of the accumulator type, not the array's own.
template <ScanOperation kOperation>
LookBackScanKernel FindLookBackScanKernel(ElementType type, bool accumulator_output);

// Calls f(std::integral_constant<ScanOperation, o>{}) with an operation o that OperatorOf gives.
template <class F>
decltype(auto) VisitScanOperator(ScanOperation operation, F&& f) {
  using enum ScanOperation;
  switch (operation) {
    case kSum: return std::forward<F>(f)(std::integral_constant<ScanOperation, kSum>{});
    case kProduct: return std::forward<F>(f)(std::integral_constant<ScanOperation, kProduct>{});
    case kMaxOfNumbers:
      return std::forward<F>(f)(std::integral_constant<ScanOperation, kMaxOfNumbers>{});
    case kUnboundedSum:
      return std::forward<F>(f)(std::integral_constant<ScanOperation, kUnboundedSum>{});
    case kScaledProduct:
      return std::forward<F>(f)(std::integral_constant<ScanOperation, kScaledProduct>{});
    case kMin:
    case kMax:
    case kMean: break;  // Of moving scans only.
  }
  return std::forward<F>(f)(std::integral_constant<ScanOperation, kMax>{});
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_BASE_ARGUMENTS_H_
