// Extremes of rows of some KiB, a warp each. A row passes through registers, without shared
// memory, so that many warps fit a multiprocessor: while some compare, the others' rows are on
// their way. What a row takes besides its elements is what bounds it, so both extremes are found
// together, and the hardware reduces keys over a warp.
#include "kernels/cuda/reduce/groups/row_extremes.cuh"
#include "kernels/cuda/reduce/groups/row_window.cuh"
#include "kernels/cuda/reduce/groups/vector_bytes.cuh"
#include "kernels/cuda/reduce/plan/warp_extremes.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint32_t kAllLanes = ~0u;

// The first of the greatest keys of all lanes, in each of them.
template <class T>
__device__ inline PlacedKey<T> BestOfWarp(const PlacedKey<T>& placed) {
  PlacedKey<T> best;
  best.key = __reduce_max_sync(kAllLanes, placed.key);
  if constexpr (!kIsShortInteger<T>) {
    best.place = __reduce_max_sync(kAllLanes, placed.key == best.key ? placed.place : 0);
  }
  return best;
}

// A row, of which each lane has some vectors. They count from the one that the first element is in.
template <class T, bool kIgnoresNan>
class WarpRow {
 public:
  __device__ WarpRow(const T* elements, uint32_t size, uint32_t lane)
      : elements_(elements),
        size_(size),
        shift_(RowWindow<T>::ShiftOf(elements) / sizeof(T)),
        lane_(lane) {}

  // The extremes of this lane.
  __device__ GroupExtremes<T> Extremes() const {
    constexpr uint32_t kInFlight = WarpExtremeTuning::kVectorsInFlight;
    const uint32_t first = (shift_ == 0 ? 0 : 1) + lane_;
    const uint32_t end = (shift_ + size_) / kSize;
    // Elements that are not in whole vectors.
    const uint32_t tail = end * kSize - shift_ + lane_;
    const bool has_head = shift_ != 0 && lane_ < kSize - shift_;
    const bool has_tail = tail < size_;
    const T head_element = has_head ? elements_[lane_] : T{};
    const T tail_element = has_tail ? elements_[tail] : T{};
    const uint4* const at = reinterpret_cast<const uint4*>(elements_ - shift_) + first;
    LaneExtremes<T, kIgnoresNan> extremes{{true, true}};
    bool is_begun = false;
    // Every lane has some of a row's vectors.
#pragma unroll 1
    for (int left = static_cast<int>((end - first + kLanes - 1) / kLanes); left > 0;
         left -= kInFlight) {
      uint4 raw[kInFlight];
#pragma unroll
      for (uint32_t k = 0; k < kInFlight; ++k) raw[k] = at[Step(left, k)];
      if (!is_begun && has_tail) extremes.Add(VectorOf(tail_element), end);
      is_begun = true;
#pragma unroll
      for (uint32_t k = 0; k < kInFlight; ++k) extremes.Add(raw[k], first + Step(left, k));
    }
    if (has_head) extremes.Add(VectorOf(head_element), 0);
    return extremes.Placed();
  }

  // The place of the k-th vector from the end of those that are left, or of the first: once more,
  // instead of a branch.
  __device__ static uint32_t Step(int left, uint32_t k) {
    return static_cast<uint32_t>(max(left - 1 - static_cast<int>(k), 0)) * kLanes;
  }

 private:
  static constexpr uint32_t kLanes = ReduceTuning::kWarpThreads;
  static constexpr uint32_t kSize = kVectorSize<T>;

  const T* elements_;
  uint32_t size_;
  uint32_t shift_;
  uint32_t lane_;
};

template <class T, bool kIgnoresNan>
__device__ inline void TakeRows(const Warp& warp, const ReductionParameters& parameters) {
  constexpr uint32_t kSize = kVectorSize<T>;
  constexpr uint32_t kWarps = WarpExtremeTuning::kThreads / ReduceTuning::kWarpThreads;
  const RowExtremes<T> rows(warp, parameters);
  uint64_t* const counts = CountSlots(parameters);
  const uint32_t lane = warp.thread_rank();
  const uint32_t size = static_cast<uint32_t>(parameters.group_size);
  // The upper half of the warp looks for the maximum.
  const bool is_max = lane >= ReduceTuning::kWarpThreads / 2;
  const uint64_t step = uint64_t{gridDim.x} * kWarps;
#pragma unroll 1
  for (uint64_t row = uint64_t{blockIdx.x} * kWarps + warp.meta_group_rank();
       row < parameters.group_count; row += step) {
    const T* const elements = static_cast<const T*>(parameters.elements) + row * size;
    const GroupExtremes<T> own = WarpRow<T, kIgnoresNan>(elements, size, lane).Extremes();
    const PlacedKey<T> min = BestOfWarp<T>(own.min);
    const PlacedKey<T> max = BestOfWarp<T>(own.max);
    const PlacedKey<T> placed = is_max ? max : min;
    const uint32_t shift = RowWindow<T>::ShiftOf(elements) / sizeof(T);
    const uint32_t i = (kFirstPlace - placed.Place()) * kSize + lane % kSize - shift;
    const bool exists = placed.Place() != 0 && i < size;
    const T element = exists ? elements[i] : T{};
    const bool has = exists && KeyHolders<T>(placed, is_max).Of(VectorOf(element)) != 0;
    const uint32_t half = is_max ? 0xFFFF'0000u : 0xFFFFu;
    const uint32_t holders = warp.ballot(has) & half;
    // The first that holds it, or the first of the half where there is none.
    const uint32_t writer =
        static_cast<uint32_t>(__ffs(static_cast<int>(holders == 0 ? half : holders)) - 1);
    if (counts != nullptr && lane == 0) counts[row] = size;
    if (lane == writer && rows.AsksFor(is_max)) {
      rows.Finish(row, is_max, ToCompute(element), has ? i : kNoIndex);
    }
  }
}

template <class T>
__global__ void __launch_bounds__(WarpExtremeTuning::kThreads, WarpExtremeTuning::kResidentBlocks)
    ReduceWarpExtremes(const __grid_constant__ ReductionParameters parameters,
                       const __grid_constant__ TileWork) {
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(cg::this_thread_block());
  if (FloatingElement<T> && parameters.rules.ignore_nan) {
    TakeRows<T, FloatingElement<T>>(warp, parameters);
  } else {
    TakeRows<T, false>(warp, parameters);
  }
}

}  // namespace

template <class T>
requires(sizeof(T) <= 4) WarpExtremesKernel GetWarpExtremesKernel() {
  return ReduceWarpExtremes<T>;
}

template WarpExtremesKernel GetWarpExtremesKernel<int8_t>();
template WarpExtremesKernel GetWarpExtremesKernel<uint8_t>();
template WarpExtremesKernel GetWarpExtremesKernel<int16_t>();
template WarpExtremesKernel GetWarpExtremesKernel<uint16_t>();
template WarpExtremesKernel GetWarpExtremesKernel<int32_t>();
template WarpExtremesKernel GetWarpExtremesKernel<uint32_t>();
template WarpExtremesKernel GetWarpExtremesKernel<Float16>();
template WarpExtremesKernel GetWarpExtremesKernel<Bfloat16>();
template WarpExtremesKernel GetWarpExtremesKernel<float>();

}  // namespace gridfold::kernels::cuda
