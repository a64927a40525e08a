#include "kernels/cuda/select/select.h"
#include "kernels/numerics/arithmetic/min_max.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint32_t kEveryLane = 0xFFFF'FFFF;
constexpr uint32_t kLanes = 32;
// Mask bytes that a thread takes: those of a load.
constexpr uint32_t kThreadElements = 16;
static_assert(kThreadElements * kSelectThreads == kSelectionTile);

// A bit for each of the elements [first, first + 16) that is before `end` and counts.
__device__ uint32_t SelectedBits(const uint8_t* mask, uint64_t first, uint64_t end) {
  if (first >= end) return 0;
  const auto left = static_cast<uint32_t>(Min<uint64_t>(end - first, kThreadElements));
  if (mask == nullptr) return (1u << left) - 1;
  const uint8_t* const bytes = mask + first;
  uint32_t bits = 0;
  if (left == kThreadElements && reinterpret_cast<uintptr_t>(bytes) % kThreadElements == 0) {
    const uint4 words = *reinterpret_cast<const uint4*>(bytes);
    const uint32_t word[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
    for (uint32_t i = 0; i < kThreadElements; ++i) bits |= (word[i / 4] >> i % 4 * 8 & 1) << i;
    return bits;
  }
  for (uint32_t i = 0; i < left; ++i) bits |= uint32_t{bytes[i] != 0} << i;
  return bits;
}

// Of the lanes before this one, and of all in `total`.
__device__ uint32_t WarpExclusiveSum(uint32_t value, uint32_t lane, uint32_t* total) {
  uint32_t sum = value;
#pragma unroll
  for (uint32_t step = 1; step < kLanes; step *= 2) {
    const uint32_t before = __shfl_up_sync(kEveryLane, sum, step);
    if (lane >= step) sum += before;
  }
  *total = __shfl_sync(kEveryLane, sum, kLanes - 1);
  return sum - value;
}

// The same of a block's threads. All of them must call it; `warp_sums` has room for a value of
// each warp.
template <uint32_t kThreads>
__device__ uint32_t BlockExclusiveSum(uint32_t value, uint32_t* warp_sums, uint32_t* total) {
  constexpr uint32_t kWarps = kThreads / kLanes;
  const uint32_t lane = threadIdx.x % kLanes;
  uint32_t warp_total = 0;
  const uint32_t in_warp = WarpExclusiveSum(value, lane, &warp_total);
  if (lane == 0) warp_sums[threadIdx.x / kLanes] = warp_total;
  __syncthreads();
  uint32_t before = 0;
  *total = 0;
  for (uint32_t warp = 0; warp < kWarps; ++warp) {
    if (warp == threadIdx.x / kLanes) before = *total;
    *total += warp_sums[warp];
  }
  __syncthreads();  // The next sum takes the same memory.
  return before + in_warp;
}

__device__ uint64_t TileEnd(uint64_t tile, uint64_t element_count) {
  return Min((tile + 1) * kSelectionTile, element_count);
}

__global__ void __launch_bounds__(kSelectThreads)
    CountTiles(const uint8_t* const mask, const uint64_t element_count,
               uint64_t* const tile_starts) {
  __shared__ uint32_t warp_sums[kSelectThreads / kLanes];
  const uint64_t tiles = (element_count + kSelectionTile - 1) / kSelectionTile;
  for (uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const uint64_t first = tile * kSelectionTile + threadIdx.x * kThreadElements;
    const uint32_t bits = SelectedBits(mask, first, element_count);
    uint32_t total = 0;
    BlockExclusiveSum<kSelectThreads>(__popc(bits), warp_sums, &total);
    if (threadIdx.x == 0) tile_starts[tile] = total;
  }
}

__global__ void __launch_bounds__(kScanTilesThreads)
    AddTiles(uint64_t* const tile_starts, const uint64_t tile_count) {
  __shared__ uint32_t warp_sums[kScanTilesThreads / kLanes];
  uint64_t before = 0;
  for (uint64_t begin = 0; begin < tile_count; begin += kScanTilesThreads) {
    const uint64_t tile = begin + threadIdx.x;
    const uint32_t count = tile < tile_count ? static_cast<uint32_t>(tile_starts[tile]) : 0;
    uint32_t total = 0;
    const uint32_t sum = BlockExclusiveSum<kScanTilesThreads>(count, warp_sums, &total);
    if (tile < tile_count) tile_starts[tile] = before + sum;
    before += total;
  }
  if (threadIdx.x == 0) tile_starts[tile_count] = before;
}

// The group that element i is in.
__device__ uint64_t GroupOf(const SelectionGroups& groups, uint64_t i) {
  if (groups.offsets == nullptr) return i / groups.group_size;
  uint64_t first = 0;  // Begins at i or before.
  uint64_t last = groups.group_count;
  while (last - first > 1) {
    const uint64_t middle = first + (last - first) / 2;
    if (groups.offsets[middle] <= i) {
      first = middle;
    } else {
      last = middle;
    }
  }
  return first;
}

template <class U>
__global__ void __launch_bounds__(kSelectThreads)
    WriteSelected(const void* const input, const uint8_t* const mask, const uint64_t element_count,
                  const uint64_t* const tile_starts, const SelectionGroups groups,
                  void* const selected) {
  __shared__ U elements[kSelectionTile];
  __shared__ uint16_t bits_of[kSelectThreads];
  __shared__ uint16_t rank_of[kSelectThreads];
  __shared__ uint32_t warp_sums[kSelectThreads / kLanes];
  const U* const from = static_cast<const U*>(input);
  U* const to = static_cast<U*>(selected);
  const uint64_t tiles = (element_count + kSelectionTile - 1) / kSelectionTile;
  for (uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const uint64_t tile_begin = tile * kSelectionTile;
    const uint64_t start = tile_starts[tile];
    const uint32_t bits =
        SelectedBits(mask, tile_begin + threadIdx.x * kThreadElements, element_count);
    uint32_t total = 0;
    const uint32_t rank = BlockExclusiveSum<kSelectThreads>(__popc(bits), warp_sums, &total);
    bits_of[threadIdx.x] = static_cast<uint16_t>(bits);
    rank_of[threadIdx.x] = static_cast<uint16_t>(rank);
    __syncthreads();
    // Neighbouring threads read neighbouring elements, and write such.
    for (uint32_t i = threadIdx.x; i < kSelectionTile; i += kSelectThreads) {
      const uint32_t its_bits = bits_of[i / kThreadElements];
      const uint32_t bit = 1u << i % kThreadElements;
      if ((its_bits & bit) == 0) continue;
      const uint32_t place = rank_of[i / kThreadElements] + __popc(its_bits & (bit - 1));
      const U element = from[tile_begin + i];
      if (groups.has_initial) {
        to[start + place + GroupOf(groups, tile_begin + i) + 1] = element;
      } else {
        elements[place] = element;
      }
    }
    __syncthreads();
    if (groups.has_initial) continue;
    for (uint32_t i = threadIdx.x; i < total; i += kSelectThreads) to[start + i] = elements[i];
    __syncthreads();  // The next tile takes the same memory.
  }
}

template <class U>
__global__ void __launch_bounds__(kSelectThreads)
    SelectedOffsets(const uint8_t* const mask, const uint64_t element_count,
                    const uint64_t* const tile_starts, const SelectionGroups groups,
                    uint64_t* const selected_offsets, void* const selected) {
  const uint32_t lane = threadIdx.x % kLanes;
  const uint64_t warps = uint64_t{gridDim.x} * (kSelectThreads / kLanes);
  uint64_t group = uint64_t{blockIdx.x} * (kSelectThreads / kLanes) + threadIdx.x / kLanes;
  for (; group <= groups.group_count; group += warps) {
    const uint64_t begin =
        groups.offsets == nullptr ? group * groups.group_size : groups.offsets[group];
    const uint64_t tile = begin / kSelectionTile;
    uint32_t count = 0;
    for (uint64_t i = tile * kSelectionTile + lane * kThreadElements; i < begin;
         i += kLanes * kThreadElements) {
      count += __popc(SelectedBits(mask, i, begin));
    }
    uint32_t total = 0;
    WarpExclusiveSum(count, lane, &total);
    const uint64_t offset = tile_starts[tile] + total + (groups.has_initial ? group : 0);
    if (lane != 0) continue;
    selected_offsets[group] = offset;
    if (groups.has_initial && group < groups.group_count) {
      static_cast<U*>(selected)[offset] = static_cast<U>(groups.initial);
    }
  }
}

__global__ void __launch_bounds__(kSelectThreads)
    FindSelected(const uint8_t* const mask, const uint64_t element_count,
                 const uint64_t* const tile_starts, const uint64_t tile_count,
                 const uint64_t* const ranks, const uint64_t count, uint64_t* const places) {
  const uint32_t lane = threadIdx.x % kLanes;
  const uint64_t warps = uint64_t{gridDim.x} * (kSelectThreads / kLanes);
  uint64_t place = uint64_t{blockIdx.x} * (kSelectThreads / kLanes) + threadIdx.x / kLanes;
  for (; place < count; place += warps) {
    const uint64_t rank = ranks[place];
    // The last tile that begins with no more elements before it.
    uint64_t tile = 0;
    uint64_t after = tile_count;
    while (after - tile > 1) {
      const uint64_t middle = tile + (after - tile) / 2;
      if (tile_starts[middle] <= rank) {
        tile = middle;
      } else {
        after = middle;
      }
    }
    uint64_t before = tile_starts[tile];
    const uint64_t end = TileEnd(tile, element_count);
    for (uint64_t begin = tile * kSelectionTile; begin < end && before <= rank;
         begin += kLanes * kThreadElements) {
      const uint64_t first = begin + lane * kThreadElements;
      uint32_t bits = SelectedBits(mask, first, end);
      uint32_t total = 0;
      const uint64_t own = before + WarpExclusiveSum(__popc(bits), lane, &total);
      if (own <= rank && rank < own + __popc(bits)) {
        for (uint64_t left = rank - own; left > 0; --left) bits &= bits - 1;
        places[place] = first + __ffs(static_cast<int>(bits)) - 1;
      }
      before += total;
    }
  }
}

template <class U>
__global__ void __launch_bounds__(kSelectThreads)
    Replace(const uint64_t element_count, const uint64_t replacement, const void* const input,
            const uint8_t* const mask, void* const output) {
  const uint64_t threads = uint64_t{gridDim.x} * kSelectThreads;
  for (uint64_t i = uint64_t{blockIdx.x} * kSelectThreads + threadIdx.x; i < element_count;
       i += threads) {
    static_cast<U*>(output)[i] =
        mask[i] != 0 ? static_cast<const U*>(input)[i] : static_cast<U>(replacement);
  }
}

}  // namespace

CountTilesKernel FindCountTilesKernel() { return CountTiles; }
AddTilesKernel FindAddTilesKernel() { return AddTiles; }
FindSelectedKernel FindFindSelectedKernel() { return FindSelected; }

WriteSelectedKernel FindWriteSelectedKernel(uint64_t element_bytes) {
  switch (element_bytes) {
    case 1: return WriteSelected<uint8_t>;
    case 2: return WriteSelected<uint16_t>;
    case 4: return WriteSelected<uint32_t>;
  }
  return WriteSelected<uint64_t>;
}

SelectedOffsetsKernel FindSelectedOffsetsKernel(uint64_t element_bytes) {
  switch (element_bytes) {
    case 1: return SelectedOffsets<uint8_t>;
    case 2: return SelectedOffsets<uint16_t>;
    case 4: return SelectedOffsets<uint32_t>;
  }
  return SelectedOffsets<uint64_t>;
}

ReplaceKernel FindReplaceKernel(uint64_t element_bytes) {
  switch (element_bytes) {
    case 1: return Replace<uint8_t>;
    case 2: return Replace<uint16_t>;
    case 4: return Replace<uint32_t>;
  }
  return Replace<uint64_t>;
}

}  // namespace gridfold::kernels::cuda
