// A warp's piece of a tile: consecutive elements for each of its lanes, on its way between device
// memory, shared memory and registers.
//
// Memory is read and written by vectors of 16 bytes, neighbouring lanes on neighbouring vectors; a
// lane scans the vectors of its own, in one run or several. Those of a lane are permuted, in
// another way for other lanes, so that no two lanes that are served at once meet in a bank, in
// either order.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_PIECE_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_PIECE_CUH_

#include <cuda_pipeline.h>

#include <cstdint>
#include <cstring>

#include "kernels/cuda/scan/base/arguments.h"
#include "kernels/cuda/scan/base/tile.cuh"
#include "kernels/numerics/scans/tree.h"

namespace gridfold::kernels::cuda {

// Where the vectors of a piece stand whose lanes have kItems elements of T. In shared memory a
// piece is in the order of device memory: a reverse scan's first position is its last place.
template <class T, int kItems>
struct PieceLayout {
  static constexpr int kSize = kItems * kScanLanes;
  static constexpr int kVectorItems = static_cast<int>(sizeof(uint4) / sizeof(T));
  static constexpr int kLaneVectors = kItems / kVectorItems;
  static constexpr int kVectors = kLaneVectors * kScanLanes;
  static constexpr int kBankVectors = 8;  // That the banks hold side by side.

  __device__ static int PlaceOf(int v) { return v ^ (v / kBankVectors & (kLaneVectors - 1)); }
  __device__ static int ItemPlace(int item) {
    return PlaceOf(item / kVectorItems) * kVectorItems + item % kVectorItems;
  }
};

// The elements of a turn: `size` of them from `element` on in memory, at the logical positions from
// `position` on.
struct TurnSpan {
  __device__ TurnSpan(const ScanArguments& arguments, uint64_t turn_position, int size_max)
      : position(turn_position) {
    const uint64_t left = arguments.element_count - position;
    size = left < static_cast<uint64_t>(size_max) ? static_cast<int>(left) : size_max;
    element = arguments.reverse ? left - size : position;
  }

  uint64_t position;
  uint64_t element;
  int size;
};

// Which part of an array a piece is that begins `offset` positions into a turn: `size` elements
// from `element` on, at its places from `first` on.
struct PieceRange {
  __device__ PieceRange(const TurnSpan& turn, bool reverse, int offset, int piece_size) {
    const int left = max(turn.size - offset, 0);
    size = min(left, piece_size);
    element = turn.element + static_cast<uint64_t>(reverse ? left - size : offset);
    first = reverse ? piece_size - size : 0;
  }

  template <class T>
  __device__ bool IsVectors(const T* memory, int piece_size) const {
    return size == piece_size && reinterpret_cast<uintptr_t>(memory) % sizeof(uint4) == 0;
  }

  uint64_t element;
  int first;
  int size;
};

// Begins to copy a piece to shared memory, as part of the thread's next batch of asynchronous
// copies; `neutral` stands where the array has none. All lanes of a warp.
template <int kItems, class T>
__device__ void BeginLoad(const ScanArguments& arguments, const TurnSpan& turn, int offset,
                          int lane, T neutral, T* piece) {
  using Layout = PieceLayout<T, kItems>;
  const PieceRange range(turn, arguments.reverse, offset, Layout::kSize);
  const T* const memory = static_cast<const T*>(arguments.input) + range.element;
  if (range.IsVectors(memory, Layout::kSize)) {
#pragma unroll
    for (int v = 0; v < Layout::kVectors; v += kScanLanes) {
      __pipeline_memcpy_async(reinterpret_cast<uint4*>(piece) + Layout::PlaceOf(v + lane),
                              reinterpret_cast<const uint4*>(memory) + v + lane, sizeof(uint4));
    }
    return;
  }
#pragma unroll 4
  for (int i = lane; i < Layout::kSize; i += kScanLanes) {
    const int place = i - range.first;
    piece[Layout::ItemPlace(i)] = place >= 0 && place < range.size ? memory[place] : neutral;
  }
}

// Begins to load the heads of the piece's elements, which begin at `position`, where they are
// given.
template <int kItems>
__device__ void BeginLoadHeads(const ScanHeads& heads, uint64_t position, int lane,
                               HeadBits<kItems>* piece_heads) {
  constexpr int kVectors = kScanLanes * sizeof(HeadBits<kItems>) / sizeof(uint4);
  if (heads.bits == nullptr || lane >= kVectors) return;
  const auto* const bits = reinterpret_cast<const HeadBits<kItems>*>(heads.bits);
  __pipeline_memcpy_async(reinterpret_cast<uint4*>(piece_heads) + lane,
                          reinterpret_cast<const uint4*>(bits + position / kItems) + lane,
                          sizeof(uint4));
}

template <class T, int kItems>
__device__ void ReverseRun(T (&items)[kItems]) {
#pragma unroll
  for (int k = 0; k < kItems / 2; ++k) {
    const T item = items[k];
    items[k] = items[kItems - 1 - k];
    items[kItems - 1 - k] = item;
  }
}

// Run `run` of a piece as it lies in memory; the lanes have kItems elements each, the run has those
// that `items` are the bytes of, of whatever type.
template <class T, int kItems, class Items>
__device__ void LoadRunBytes(const T* piece, int run, Items& items) {
  using Layout = PieceLayout<T, kItems>;
  constexpr int kVectors = sizeof(items) / sizeof(uint4);
  uint4 vectors[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    vectors[v] = reinterpret_cast<const uint4*>(piece)[Layout::PlaceOf(run * kVectors + v)];
  }
  static_assert(sizeof(items) == sizeof(vectors));
  std::memcpy(items, vectors, sizeof(items));
}
template <class T, int kItems, class Items>
__device__ void StoreRunBytes(const Items& items, int run, T* piece) {
  using Layout = PieceLayout<T, kItems>;
  constexpr int kVectors = sizeof(items) / sizeof(uint4);
  uint4 vectors[kVectors];
  static_assert(sizeof(items) == sizeof(vectors));
  std::memcpy(vectors, items, sizeof(items));
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    reinterpret_cast<uint4*>(piece)[Layout::PlaceOf(run * kVectors + v)] = vectors[v];
  }
}

// Run `run` in logical order, of the elements too.
template <class T, int kItems, int kRunItems>
__device__ void LoadRun(const T* piece, int run, bool reverse, T (&items)[kRunItems]) {
  constexpr int kPieceRuns = PieceLayout<T, kItems>::kSize / kRunItems;
  LoadRunBytes<T, kItems>(piece, reverse ? kPieceRuns - 1 - run : run, items);
  if (reverse) ReverseRun(items);
}
template <class T, int kItems, int kRunItems>
__device__ void StoreRun(T (&items)[kRunItems], int run, bool reverse, T* piece) {
  constexpr int kPieceRuns = PieceLayout<T, kItems>::kSize / kRunItems;
  if (reverse) ReverseRun(items);
  StoreRunBytes<T, kItems>(items, reverse ? kPieceRuns - 1 - run : run, piece);
}

// Writes what kLanes lanes have in `stage`, those of the piece's run `first_run` on, to device
// memory; `stage` may then be overwritten. All lanes.
template <int kItems, int kLanes, class T>
__device__ void WriteLanes(const ScanArguments& arguments, const PieceRange& range, int first_run,
                           int lane, const T* stage) {
  using Layout = PieceLayout<T, kItems>;
  // A run stands in a stage in the places that it has in a piece.
  static_assert(kLanes * Layout::kLaneVectors % (Layout::kBankVectors * Layout::kLaneVectors) == 0);
  T* const memory = static_cast<T*>(arguments.output) + range.element;
  const int first = first_run * kItems;
  __syncwarp();
  if (range.IsVectors(memory, Layout::kSize)) {
    uint4* const vectors = reinterpret_cast<uint4*>(memory + first);
#pragma unroll
    for (int v = 0; v < kLanes * Layout::kLaneVectors; v += kScanLanes) {
      vectors[v + lane] = reinterpret_cast<const uint4*>(stage)[Layout::PlaceOf(v + lane)];
    }
  } else {
    const int end = min(range.first + range.size - first, kLanes * kItems);
    for (int i = max(range.first - first, 0) + lane; i < end; i += kScanLanes) {
      memory[first + i - range.first] = stage[Layout::ItemPlace(i)];
    }
  }
  __syncwarp();
}

// Writes the results that the lanes have stored in a piece of shared memory, which may then be
// overwritten, to device memory. All lanes.
template <int kItems, class T>
__device__ void WriteResults(const ScanArguments& arguments, const TurnSpan& turn, int offset,
                             int lane, const T* piece) {
  using Layout = PieceLayout<T, kItems>;
  const PieceRange range(turn, arguments.reverse, offset, Layout::kSize);
  WriteLanes<kItems, kScanLanes>(arguments, range, 0, lane, piece);
}

// Writes results that lanes have in registers, in the order of memory: so many lanes at a time
// bring theirs to shared memory, to `stage`, which has room for those.
template <int kItems, int kLanes, class T>
__device__ void WriteResultsByStages(const ScanArguments& arguments, const TurnSpan& turn,
                                     int offset, int lane, const T (&items)[kItems], T* stage) {
  const PieceRange range(turn, arguments.reverse, offset, PieceLayout<T, kItems>::kSize);
  const int run = arguments.reverse ? kScanLanes - 1 - lane : lane;
#pragma unroll
  for (int first_run = 0; first_run < kScanLanes; first_run += kLanes) {
    if (run / kLanes == first_run / kLanes) {
      StoreRunBytes<T, kItems>(items, run % kLanes, stage);
    }
    WriteLanes<kItems, kLanes>(arguments, range, first_run, lane, stage);
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_PIECE_CUH_
