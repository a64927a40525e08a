// The kernels of exact scans: exact prefix sums of floating-point arrays.
//
// In a row, the array is cut into tiles of kScanTileSize positions; along axis 0, each column into
// chunks of kExactChunkRows rows. Three steps:
//   totals   the exact sum of each tile or chunk, since the last group's start in it
//   carries  from these sums to what precedes each tile or chunk in its group
//   results  the prefixes in each tile or chunk, by numerics/scans/exact_prefix.h
// The sums that lie between the steps are a small part of the array: 72 bytes for a tile of 16 KiB
// in float32, 296 for 32 KiB in float64.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_EXACT_KERNELS_H_
#define GRIDFOLD_KERNELS_CUDA_SCAN_EXACT_KERNELS_H_

#include <cstdint>

#include "kernels/cuda/scan/base/arguments.h"
#include "kernels/numerics/scans/exact_prefix.h"
#include "kernels/types/element_type.h"

namespace gridfold::kernels::cuda {

inline constexpr uint64_t kExactChunkRows = 512;

// Threads of a block of a kernel that takes chunks, and of one that joins totals, where a warp
// takes a link.
inline constexpr int kExactChunkThreads = 256;
inline constexpr int kExactCarryThreads = 256;

// What is kept of a tile or chunk: first its total, then its carry.
template <FloatingElement T>
struct ExactState {
  PrefixSum<T> sum;
  uint32_t starts_group;  // Of the total: whether a group starts in the tile.
  BitSpan span;           // Of all elements of the tile. Not used of chunks.
};

static_assert(sizeof(ExactState<float>) == 72 && sizeof(ExactState<double>) == 296);

// Chains of states, each carried over by itself: state i of chain c is states[i * chain_count + c].
// A chain is cut into links of link_length states, whose totals make a chain of their own.
struct ExactChains {
  uint64_t chain_count = 1;
  uint64_t length = 0;
  uint64_t link_length = 0;
  void* states = nullptr;
  void* links = nullptr;  // State l of chain c is links[l * chain_count + c]; null: nothing.
};

// The chunks of an axis-0 scan. `states`: of each chunk and column, row by row; null where there is
// one chunk.
struct ExactChunks {
  uint64_t rows = 0;
  uint64_t columns = 0;
  uint64_t chunk_count = 0;
  void* states = nullptr;
};

struct ExactTiles {
  uint64_t tile_count = 0;
  void* states = nullptr;
};

using ExactTileKernel = void (*)(ScanArguments, ScanHeads, ExactTiles);
using ExactChunkKernel = void (*)(ScanArguments, ExactChunks);
using ExactCarryKernel = void (*)(ExactChains);

struct ExactScanKernels {
  // In a row.
  ExactTileKernel tile_totals;
  ExactTileKernel tile_results;
  // Axis 0. One chunk needs no totals.
  ExactChunkKernel chunk_totals;
  ExactChunkKernel chunk_results;
  ExactCarryKernel link_totals;  // From the states' totals to those of links.
  ExactCarryKernel carries;      // From totals to carries, starting from those of links.
};

// The kernels for an element type; each is compiled in a file of its own.
template <FloatingElement T>
ExactScanKernels FindExactScanKernels();

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_EXACT_KERNELS_H_
