// Runs of equal elements, and what else one look at all elements tells.
#include <type_traits>

#include "kernels/cuda/bykey/block.cuh"
#include "kernels/cuda/bykey/kernels.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/arithmetic/ordered_key.h"

namespace gridfold::kernels::cuda {

namespace {

// Elements of a thread that are read together, which keeps memory busy.
constexpr uint32_t kItems = 8;
constexpr uint32_t kTurn = kKeyThreads * kItems;

// What the lane before this one has; of lane 0, what the last lane has.
template <class T>
__device__ T FromLaneBefore(T x) {
  const uint32_t lane_before = (threadIdx.x + 31) % 32;
  if constexpr (sizeof(T) == 8) {
    return static_cast<T>(__shfl_sync(kAllLanes, static_cast<unsigned long long>(x), lane_before));
  } else {
    return static_cast<T>(__shfl_sync(kAllLanes, static_cast<uint32_t>(x), lane_before));
  }
}

// A thread's elements of a turn of its block, of which a whole one has kTurn. A warp's follow one
// another, lane by lane for each of its kItems.
template <bool kIsWhole>
struct TurnPlace {
  uint64_t first;  // The thread's first element; the others follow 32 apart.
  uint32_t left;   // Elements from there on.

  __device__ TurnPlace(uint64_t turn, uint64_t end)
      : first(turn + threadIdx.x / 32 * (32 * kItems) + threadIdx.x % 32),
        left(end <= first ? 0 : static_cast<uint32_t>(end - first < kTurn ? end - first : kTurn)) {}
  __device__ bool has(uint32_t k) const { return kIsWhole || k * 32 < left; }
  // Whether the first element is the first of all, with which a run begins.
  __device__ bool is_first_of_all() const { return first == 0 && has(0); }
};

// Calls visit(place) for the turns of a chunk, of which the last one may not be whole.
template <class Visit>
__device__ void ForEachTurn(const Chunk& chunk, Visit visit) {
  uint64_t turn = chunk.begin;
  for (; turn + kTurn <= chunk.end; turn += kTurn) visit(TurnPlace<true>(turn, chunk.end));
  if (turn < chunk.end) visit(TurnPlace<false>(turn, chunk.end));
}

// Calls visit(k, element, the one before it, whether there is an element) for the kItems elements
// that the thread has there. The first of all has itself before it. All lanes of a warp call it.
template <class T, class Place, class Visit>
__device__ void ForEachThere(const T* const all, const Place& place, Visit visit) {
  const bool is_first_lane = threadIdx.x % 32 == 0;
  T elements[kItems];
#pragma unroll
  for (uint32_t k = 0; k < kItems; ++k) {
    elements[k] = place.has(k) ? all[place.first + k * 32] : T{0};
  }
  T of_last_lane = elements[0];
  if (is_first_lane && place.first > 0 && place.has(0)) of_last_lane = all[place.first - 1];
#pragma unroll
  for (uint32_t k = 0; k < kItems; ++k) {
    const T of_lane_before = FromLaneBefore(elements[k]);
    visit(k, elements[k], is_first_lane ? of_last_lane : of_lane_before, place.has(k));
    of_last_lane = of_lane_before;
  }
}

// What one or several threads have seen of the elements.
template <class T>
struct Seen {
  using Bits = std::make_unsigned_t<T>;

  T least;
  T largest;
  Bits varying;
  bool descends;

  __device__ void Merge(T other_least, T other_largest) {
    least = other_least < least ? other_least : least;
    largest = largest < other_largest ? other_largest : largest;
  }
};

template <class T>
__device__ T ShuffleDown(T x, uint32_t step) {
  if constexpr (sizeof(T) == 8) {
    return static_cast<T>(__shfl_down_sync(kAllLanes, static_cast<unsigned long long>(x), step));
  } else {
    return static_cast<T>(__shfl_down_sync(kAllLanes, static_cast<uint32_t>(x), step));
  }
}

// Adds what the threads of a warp have seen to the facts.
template <class T>
__device__ void AddTo(KeyFacts* const facts, Seen<T> seen) {
#pragma unroll
  for (uint32_t step = 16; step > 0; step /= 2) {
    seen.Merge(ShuffleDown(seen.least, step), ShuffleDown(seen.largest, step));
    seen.varying |= ShuffleDown(seen.varying, step);
  }
  const bool any_descends = __any_sync(kAllLanes, seen.descends);
  if (threadIdx.x % 32 != 0) return;
  atomicMax(AtomicWord(&facts->least_inverted), ~OrderedKey(seen.least));
  atomicMax(AtomicWord(&facts->largest), OrderedKey(seen.largest));
  if (seen.varying != 0) atomicOr(AtomicWord(&facts->varying_bits), seen.varying);
  if (any_descends) atomicOr(AtomicWord(&facts->has_descent), 1ull);
}

template <class T>
__global__ void __launch_bounds__(kKeyThreads)
    Survey(const KeyChunks chunks, const void* const elements, KeyFacts* const facts,
           uint64_t* const run_counts) {
  const Chunk chunk = ChunkOf(chunks);
  if (chunks.count == 0) {
    if (threadIdx.x == 0) run_counts[blockIdx.x] = 0;
    return;
  }
  using Bits = typename Seen<T>::Bits;
  const T* const all = static_cast<const T*>(elements);
  const T first = all[0];
  Seen<T> seen{.least = first, .largest = first, .varying = 0, .descends = false};
  uint32_t runs = 0;
  ForEachTurn(chunk, [&](const auto& place) {
    runs += place.is_first_of_all() ? 1 : 0;
    ForEachThere(all, place, [&](uint32_t, T element, T before, bool is_element) {
      if (!is_element) return;
      seen.Merge(element, element);
      seen.varying |= static_cast<Bits>(static_cast<Bits>(element) ^ static_cast<Bits>(first));
      seen.descends |= element < before;
      runs += element != before ? 1 : 0;
    });
  });
  AddTo(facts, seen);
  uint64_t total;
  SumBefore(uint64_t{runs}, &total);
  if (threadIdx.x == 0) run_counts[blockIdx.x] = total;
}

// Warps tell each other how many runs begin in a turn by words of which every other turn has its
// own, so that one barrier a turn is enough.
template <class T>
__global__ void __launch_bounds__(kKeyThreads, sizeof(T) == 8 ? 4 : 5)
    WriteRuns(const KeyChunks chunks, const RunArrays runs) {
  const Chunk chunk = ChunkOf(chunks);
  const T* const all = static_cast<const T*>(runs.elements);
  __shared__ uint32_t of_warps[2][kKeyWarps];
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t warp = threadIdx.x / 32;
  uint64_t run = runs.counts[blockIdx.x];
  uint32_t turn_parity = 0;
  ForEachTurn(chunk, [&](const auto& place) {
    const bool is_first_of_all = place.is_first_of_all();
    T elements[kItems];
    uint32_t begins[kItems];  // The lanes whose element k begins a run.
    uint32_t of_warp = 0;
    ForEachThere(all, place, [&](uint32_t k, T element, T before, bool is_element) {
      elements[k] = element;
      const bool begins_here = is_element && (element != before || (k == 0 && is_first_of_all));
      begins[k] = __ballot_sync(kAllLanes, begins_here);
      of_warp += __popc(begins[k]);
    });
    if (lane == 0) of_warps[turn_parity][warp] = of_warp;
    __syncthreads();
    uint64_t next = run;
#pragma unroll
    for (uint32_t w = 0; w < kKeyWarps; ++w) {
      const uint32_t begin_there = of_warps[turn_parity][w];
      next += w < warp ? begin_there : 0;
      run += begin_there;
    }
    turn_parity ^= 1;
#pragma unroll
    for (uint32_t k = 0; k < kItems; ++k) {
      if ((begins[k] >> lane & 1) != 0) {
        const uint64_t own = next + __popc(begins[k] & ((1u << lane) - 1));
        runs.numbers[own] = OrderedKey(elements[k]);
        runs.begins[own] = place.first + k * 32;
      }
      next += __popc(begins[k]);
    }
  });
  if (blockIdx.x == 0 && threadIdx.x == 0) runs.begins[runs.run_count] = chunks.count;
}

__global__ void __launch_bounds__(kKeyThreads)
    LargestRun(const uint64_t* const begins, const uint64_t run_count, KeyFacts* const facts) {
  uint64_t largest = 0;
  for (uint64_t i = FirstElement(); i < run_count; i += ElementStep()) {
    const uint64_t size = begins[i + 1] - begins[i];
    largest = largest > size ? largest : size;
  }
#pragma unroll
  for (uint32_t step = 16; step > 0; step /= 2) {
    const uint64_t other = ShuffleDown(largest, step);
    largest = largest > other ? largest : other;
  }
  if (threadIdx.x % 32 == 0) atomicMax(AtomicWord(&facts->largest_run), largest);
}

// find(tag) for integer types of elements; null for others.
template <class Kernel, class Find>
Kernel FindOfIntegers(ElementType type, Find find) {
  return VisitElementType(type, [&](auto tag) -> Kernel {
    using T = typename decltype(tag)::type;
    if constexpr (IntegerElement<T>) return find(tag);
    return nullptr;
  });
}

}  // namespace

SurveyKernel FindSurveyKernel(ElementType type) {
  return FindOfIntegers<SurveyKernel>(
      type, [](auto tag) -> SurveyKernel { return Survey<typename decltype(tag)::type>; });
}

WriteRunsKernel FindWriteRunsKernel(ElementType type) {
  return FindOfIntegers<WriteRunsKernel>(
      type, [](auto tag) -> WriteRunsKernel { return WriteRuns<typename decltype(tag)::type>; });
}

LargestRunKernel FindLargestRunKernel() { return LargestRun; }

}  // namespace gridfold::kernels::cuda
