// What scan kernels are given. Plain data, passed to them by value.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_ARGUMENTS_H_
#define GRIDFOLD_KERNELS_CUDA_SCAN_ARGUMENTS_H_

#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/element_type.h"
#include "kernels/numerics/scan_tree.h"
#include "kernels/scan.h"

namespace gridfold::kernels::cuda {

// Threads of a block; a block scans a tile at a time.
inline constexpr int kScanThreads = kScanLanes * kScanWarps;

// Threads of a block of an axis-0 scan.
inline constexpr int kColumnScanThreads = 256;

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
  bool accumulator_output = false;  // Results are of the accumulator type, not the array's own.
};

// Where groups start, for scans over positions in a row.
struct ScanHeads {
  uint64_t group_size = 1;   // A group starts at each multiple; not used where `bits` is given.
  uint64_t first_phase = 0;  // Where in its group position 0 stands.
  const uint16_t* bits = nullptr;  // Bit p % 16 of word p / 16: whether one starts at position p.
};

// What the blocks of a look-back scan tell each other; see scan_look_back.cuh. Tiles and blocks of
// tiles are those of numerics/scan_tree.h. Totals and carries are GroupedValues of the operator.
struct LookBackMemory {
  uint32_t tile_count = 0;
  uint32_t* ticket = nullptr;  // The next tile that nobody has taken; starts as 0.
  // Whether the value of the same index below can be read: 1 or, to start with, 0.
  uint32_t* tile_total_flags = nullptr;
  uint32_t* block_total_flags = nullptr;
  uint32_t* block_carry_flags = nullptr;
  void* tile_totals = nullptr;
  void* block_totals = nullptr;
  void* block_carries = nullptr;  // What precedes a block; one more than blocks.
  bool has_carry = false;  // Whether anything precedes block 0; its carry is then there already.
};

// Shared memory that a tile of elements of some size takes, with gaps against bank conflicts; see
// PaddedTile in scan_tile.cuh. A look-back scan needs it for its elements and, where results have
// another type, again for those.
constexpr uint32_t PaddedTileBytes(uint32_t element_size) {
  const uint32_t size_bytes = kScanTileSize * element_size;
  return size_bytes + size_bytes / 128 * (element_size < 4 ? 4 : element_size);
}

// Bytes of a total or carry, of whatever type.
inline constexpr uint64_t kGroupedValueBytesMax = 32;

// An axis-0 scan. `carries` holds an operator's Value for each chunk and column, row by row: first
// the chunks' totals, then what precedes them. Null where there is one chunk.
struct ColumnScanShape {
  uint64_t rows = 0;
  uint64_t columns = 0;
  uint64_t chunk_count = 0;
  void* carries = nullptr;
};

using LookBackScanKernel = void (*)(ScanArguments, ScanHeads, LookBackMemory);
using ColumnScanKernel = void (*)(ScanArguments, ColumnScanShape);

// The three launches of an axis-0 scan, in this order; see scan_columns.cuh.
struct ColumnScanKernels {
  ColumnScanKernel chunk_totals;
  ColumnScanKernel chunk_carries;
  ColumnScanKernel results;
};

// The kernels for an element type. Each operation is instantiated in a file of its own.
template <ScanOperation kOperation>
LookBackScanKernel FindLookBackScanKernel(ElementType type);
template <ScanOperation kOperation>
ColumnScanKernels FindColumnScanKernels(ElementType type);

// Calls f(std::integral_constant<ScanOperation, o>{}) with the o that `operation` is.
template <class F>
decltype(auto) VisitScanOperation(ScanOperation operation, F&& f) {
  using enum ScanOperation;
  switch (operation) {
    case kSum: return std::forward<F>(f)(std::integral_constant<ScanOperation, kSum>{});
    case kProduct: return std::forward<F>(f)(std::integral_constant<ScanOperation, kProduct>{});
    case kMin: return std::forward<F>(f)(std::integral_constant<ScanOperation, kMin>{});
    case kMax: break;
  }
  return std::forward<F>(f)(std::integral_constant<ScanOperation, kMax>{});
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_ARGUMENTS_H_
