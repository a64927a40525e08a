#include "kernels/cuda/bykey/block.cuh"
#include "kernels/cuda/bykey/kernels.h"

namespace gridfold::kernels::cuda {

namespace {

template <class Number>
__device__ uint32_t DigitOf(const SortPass& pass, Number number) {
  return static_cast<uint32_t>(number >> pass.first_bit) & pass.mask;
}

// Counts in several tables, which lanes take in turn, so that those with the same digit wait for
// few others.
template <class Number>
__global__ void __launch_bounds__(kKeyThreads)
    CountDigits(const SortPass pass, const void* const numbers, uint64_t* const counts) {
  constexpr uint32_t kTables = 8;
  constexpr uint32_t kItems = 8;  // Read together.
  __shared__ uint32_t counted[kDigits * kTables];
  for (uint32_t i = threadIdx.x; i < kDigits * kTables; i += kKeyThreads) counted[i] = 0;
  __syncthreads();
  const Chunk chunk = ChunkOf(pass.chunks);
  const Number* const all = static_cast<const Number*>(numbers);
  const uint32_t table = threadIdx.x % kTables;
  for (uint64_t turn = chunk.begin; turn < chunk.end; turn += kKeyThreads * kItems) {
    Number read[kItems];
#pragma unroll
    for (uint32_t k = 0; k < kItems; ++k) {
      const uint64_t i = turn + k * kKeyThreads + threadIdx.x;
      read[k] = i < chunk.end ? all[i] : Number{0};
    }
#pragma unroll
    for (uint32_t k = 0; k < kItems; ++k) {
      if (turn + k * kKeyThreads + threadIdx.x >= chunk.end) continue;
      atomicAdd(&counted[DigitOf(pass, read[k]) * kTables + table], 1u);
    }
  }
  __syncthreads();
  uint32_t sum = 0;
#pragma unroll
  for (uint32_t t = 0; t < kTables; ++t) sum += counted[threadIdx.x * kTables + t];
  counts[threadIdx.x * uint64_t{gridDim.x} + blockIdx.x] = sum;
}

__global__ void __launch_bounds__(kKeyThreads)
    ScanCounts(uint64_t* const counts, const uint64_t list_length, uint64_t* const totals) {
  uint64_t* const list = counts + blockIdx.x * list_length;
  uint64_t sum = 0;
  for (uint64_t turn = 0; turn < list_length; turn += kKeyThreads) {
    const uint64_t i = turn + threadIdx.x;
    uint64_t total;
    const uint64_t before = SumBefore(i < list_length ? list[i] : uint64_t{0}, &total);
    if (i < list_length) list[i] = sum + before;
    sum += total;
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = sum;
}

// A block takes its chunk tile by tile. Each warp ranks its consecutive elements of the tile among
// the equal digits before them in the warp; running sums over warps and digits make that a place
// in the tile, which is brought in order in shared memory, so that runs of equal digits are written
// together.
template <class Number, class Payload>
__global__ void __launch_bounds__(kKeyThreads, 2)
    Sort(const SortPass pass, const SortArrays arrays, const uint64_t* const counts,
         const uint64_t* const totals) {
  constexpr uint32_t kExchangeBytes =
      kSortTile * (sizeof(Number) > sizeof(Payload) ? sizeof(Number) : sizeof(Payload));
  __shared__ alignas(8) unsigned char exchange[kExchangeBytes];
  __shared__ uint32_t warp_counts[kKeyWarps][kDigits];
  __shared__ uint32_t tile_begins[kDigits];
  __shared__ uint32_t next[kDigits];  // Where the digit's next element goes, of all.
  Number* const tile_numbers = reinterpret_cast<Number*>(exchange);
  Payload* const tile_payload = reinterpret_cast<Payload*>(exchange);

  const uint32_t digit_of_thread = threadIdx.x;
  uint64_t all;
  const uint64_t before_digit = SumBefore(totals[digit_of_thread], &all);
  next[digit_of_thread] = static_cast<uint32_t>(
      before_digit + counts[digit_of_thread * uint64_t{gridDim.x} + blockIdx.x]);

  const Chunk chunk = ChunkOf(pass.chunks);
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t warp = threadIdx.x / 32;
  const uint32_t lanes_below = (1u << lane) - 1;
  for (uint64_t tile = chunk.begin; tile < chunk.end; tile += kSortTile) {
    const uint64_t rest = chunk.end - tile;
    const uint32_t in_tile = rest < kSortTile ? static_cast<uint32_t>(rest) : kSortTile;
    const uint32_t first = warp * (32 * kSortItems) + lane;

    // What is past the end counts as of the last digit, behind all elements of that.
    Number numbers[kSortItems];
    Payload payload[kSortItems];
#pragma unroll
    for (uint32_t k = 0; k < kSortItems; ++k) {
      const uint32_t i = first + k * 32;
      const bool is_element = i < in_tile;
      numbers[k] = is_element ? static_cast<const Number*>(arrays.numbers)[tile + i]
                              : static_cast<Number>(~Number{0});
      if (arrays.payload == nullptr) {
        payload[k] = static_cast<Payload>(tile + i);
      } else {
        payload[k] =
            is_element ? static_cast<const Payload*>(arrays.payload)[tile + i] : Payload{0};
      }
    }
#pragma unroll
    for (uint32_t w = 0; w < kKeyWarps; ++w) warp_counts[w][threadIdx.x] = 0;
    __syncthreads();

    uint32_t places[kSortItems];
#pragma unroll
    for (uint32_t k = 0; k < kSortItems; ++k) {
      const uint32_t digit = DigitOf(pass, numbers[k]);
      const uint32_t peers = __match_any_sync(kAllLanes, digit);
      const uint32_t before = warp_counts[warp][digit];
      __syncwarp();
      const uint32_t rank = __popc(peers & lanes_below);
      if (rank == 0) warp_counts[warp][digit] = before + __popc(peers);
      __syncwarp();
      places[k] = before + rank;
    }
    __syncthreads();

    uint32_t of_digit = 0;
#pragma unroll
    for (uint32_t w = 0; w < kKeyWarps; ++w) {
      const uint32_t count = warp_counts[w][digit_of_thread];
      warp_counts[w][digit_of_thread] = of_digit;
      of_digit += count;
    }
    uint32_t in_all;
    tile_begins[digit_of_thread] = SumBefore(of_digit, &in_all);
    __syncthreads();

#pragma unroll
    for (uint32_t k = 0; k < kSortItems; ++k) {
      const uint32_t digit = DigitOf(pass, numbers[k]);
      places[k] += tile_begins[digit] + warp_counts[warp][digit];
      tile_numbers[places[k]] = numbers[k];
    }
    __syncthreads();
    uint32_t targets[kSortItems];
#pragma unroll
    for (uint32_t k = 0; k < kSortItems; ++k) {
      const uint32_t i = k * kKeyThreads + threadIdx.x;
      if (i >= in_tile) continue;
      const Number number = tile_numbers[i];
      const uint32_t digit = DigitOf(pass, number);
      targets[k] = next[digit] + (i - tile_begins[digit]);
      static_cast<Number*>(arrays.sorted_numbers)[targets[k]] = number;
    }
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < kSortItems; ++k) tile_payload[places[k]] = payload[k];
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < kSortItems; ++k) {
      const uint32_t i = k * kKeyThreads + threadIdx.x;
      if (i < in_tile) static_cast<Payload*>(arrays.sorted_payload)[targets[k]] = tile_payload[i];
    }
    next[digit_of_thread] += of_digit;
    __syncthreads();
  }
}

template <class Unit>
__global__ void __launch_bounds__(kKeyThreads)
    Gather(const void* const elements, const uint32_t* const places, const uint64_t count,
           void* const moved) {
  for (uint64_t i = FirstElement(); i < count; i += ElementStep()) {
    static_cast<Unit*>(moved)[i] = static_cast<const Unit*>(elements)[places[i]];
  }
}

__global__ void __launch_bounds__(kKeyThreads)
    MapPlaces(const uint32_t* const places, uint64_t* const positions, const uint64_t count) {
  for (uint64_t i = FirstElement(); i < count; i += ElementStep()) {
    positions[i] = places[positions[i]];
  }
}

}  // namespace

CountDigitsKernel FindCountDigitsKernel(bool is_narrow) {
  return is_narrow ? CountDigits<uint32_t> : CountDigits<uint64_t>;
}

ScanCountsKernel FindScanCountsKernel() { return ScanCounts; }

SortKernel FindSortKernel(bool has_narrow_numbers, bool has_narrow_payload) {
  if (has_narrow_numbers) {
    return has_narrow_payload ? Sort<uint32_t, uint32_t> : Sort<uint32_t, uint64_t>;
  }
  return has_narrow_payload ? Sort<uint64_t, uint32_t> : Sort<uint64_t, uint64_t>;
}

GatherKernel FindGatherKernel(uint64_t element_bytes) {
  switch (element_bytes) {
    case 1: return Gather<uint8_t>;
    case 2: return Gather<uint16_t>;
    case 4: return Gather<uint32_t>;
  }
  return Gather<uint64_t>;
}

MapPlacesKernel FindMapPlacesKernel() { return MapPlaces; }

}  // namespace gridfold::kernels::cuda
