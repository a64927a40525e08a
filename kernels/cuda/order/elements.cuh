// How warps see the elements of a group.
#ifndef GRIDFOLD_KERNELS_CUDA_ORDER_ELEMENTS_CUH_
#define GRIDFOLD_KERNELS_CUDA_ORDER_ELEMENTS_CUH_

#include <cstdint>

#include "kernels/cuda/order/arguments.h"
#include "kernels/numerics/order/order_key.h"

namespace gridfold::kernels::cuda {

inline constexpr uint32_t kWarpLanes = 32;
inline constexpr uint32_t kAllLanes = 0xFFFF'FFFFu;

__device__ inline uint32_t LaneId() { return threadIdx.x % kWarpLanes; }
__device__ inline uint32_t LanesBelow() { return (1u << LaneId()) - 1; }

// The key of an element.
template <class T>
struct ElementKeys {
  KeyKind kind;

  __device__ OrderKey<T> operator()(T x) const {
    if (kind.is_selection) return ToSelectionKey(x, kind.smallest, kind.ignores_nan);
    return ToOrderKey(x);
  }
};
// Keys themselves.
template <class Key>
struct SameKeys {
  __device__ Key operator()(Key key) const { return key; }
};

// Elements of a vector of 16 bytes.
template <class E>
inline constexpr uint32_t kVectorElements = 16 / sizeof(E);

// Calls visit_one(element, index, is_valid) and visit_vector(elements, index of the first,
// is_valid) for all elements that warp `warp` of `warp_count` takes, by all lanes of a warp
// together: those with none have is_valid false.
template <class E, class VisitOne, class VisitVector>
__device__ void ForEachVector(const E* elements, uint64_t count, uint64_t warp, uint64_t warp_count,
                              VisitOne visit_one, VisitVector visit_vector) {
  constexpr uint32_t kInFlight = 4;
  const uint32_t lane = LaneId();
  const uint32_t misaligned =
      static_cast<uint32_t>(reinterpret_cast<uintptr_t>(elements) % 16 / sizeof(E));
  uint64_t head = misaligned == 0 ? 0 : kVectorElements<E> - misaligned;
  if (head > count) head = count;
  const uint64_t vector_count = (count - head) / kVectorElements<E>;
  const uint64_t tail_begin = head + vector_count * kVectorElements<E>;
  if (warp == warp_count - 1) {
    // Fewer than 32 elements stand before the vectors and behind them, unless they are of one byte.
    for (uint64_t begin = 0; begin < head + (count - tail_begin); begin += kWarpLanes) {
      const uint64_t i = begin + lane;
      const uint64_t index = i < head ? i : tail_begin + (i - head);
      const bool is_valid = i < head + (count - tail_begin);
      visit_one(is_valid ? elements[index] : E{}, index, is_valid);
    }
  }
  const uint4* const vectors = reinterpret_cast<const uint4*>(elements + head);
  const uint64_t step = warp_count * kWarpLanes;
  for (uint64_t first = warp * kWarpLanes; first < vector_count; first += kInFlight * step) {
    uint4 loaded[kInFlight];
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) {
      const uint64_t v = first + k * step + lane;
      loaded[k] = v < vector_count ? vectors[v] : uint4{};
    }
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) {
      if (first + k * step >= vector_count) break;
      const uint64_t v = first + k * step + lane;
      visit_vector(reinterpret_cast<const E*>(&loaded[k]), head + v * kVectorElements<E>,
                   v < vector_count);
    }
  }
}

// Calls visit(element, index, is_valid) for each of them.
template <class E, class Visit>
__device__ void ForEachElement(const E* elements, uint64_t count, uint64_t warp,
                               uint64_t warp_count, Visit visit) {
  ForEachVector(elements, count, warp, warp_count, visit,
                [&](const E* values, uint64_t index, bool is_valid) {
#pragma unroll
                  for (uint32_t j = 0; j < kVectorElements<E>; ++j) {
                    visit(values[j], index + j, is_valid);
                  }
                });
}

// The warps of a grid's first blocks, of kOrderBlockThreads, which share `count` elements: as many
// blocks as have a turn of vectors for each thread, for others would only add what they count.
class SharingWarps {
 public:
  __device__ explicit SharingWarps(uint64_t count)
      : blocks_(min(uint64_t{gridDim.x}, count / kBlockElements + 1)) {}

  __device__ bool has_block() const { return blockIdx.x < blocks_; }
  __device__ uint64_t own() const {
    return uint64_t{blockIdx.x} * kBlockWarps + threadIdx.x / kWarpLanes;
  }
  __device__ uint64_t count() const { return blocks_ * kBlockWarps; }

 private:
  static constexpr uint32_t kBlockWarps = kOrderBlockThreads / kWarpLanes;
  static constexpr uint64_t kBlockElements = uint64_t{16} * kOrderBlockThreads;

  const uint64_t blocks_;
};

// The places of those lanes of a warp that take one, behind those that `cursor` says are taken. By
// all lanes, of which some take one.
__device__ inline uint64_t TakePlaces(uint64_t* cursor, uint32_t taking) {
  unsigned long long first = 0;
  if (LaneId() == 0) {
    first = atomicAdd(reinterpret_cast<unsigned long long*>(cursor),
                      static_cast<unsigned long long>(__popc(taking)));
  }
  return __shfl_sync(kAllLanes, first, 0) + __popc(taking & LanesBelow());
}

__device__ inline void AddTo(uint64_t* counter, uint64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(counter), static_cast<unsigned long long>(value));
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_ORDER_ELEMENTS_CUH_
