// Extremes of rows of a few elements, a lane each. What bounds them is how many instructions an
// element takes, since they write as much as they read, or more: so the loop over a row's elements
// is unrolled, and what is asked for is known before it.
#include <cuda_pipeline.h>

#include "kernels/cuda/reduce/groups/row_extremes.cuh"
#include "kernels/cuda/reduce/groups/row_window.cuh"
#include "kernels/cuda/reduce/plan/brief_extremes.h"

namespace gridfold::kernels::cuda {

namespace {

// An extreme of a row, of elements that come in order.
template <class S, bool kIsMax, bool kIgnoresNan>
struct BriefExtreme {
  S value;
  uint32_t index = 0;

  __device__ void Add(S x, uint32_t i) {
    const bool is_taken = i == 0 || IsBefore(x);
    value = is_taken ? x : value;
    index = is_taken ? i : index;
  }
  __device__ bool IsNone() const { return kIgnoresNan && IsNan(value); }

 private:
  // NaNs are before all numbers, or behind them.
  __device__ bool IsBefore(S x) const {
    const bool is_more = kIsMax ? value < x : x < value;
    if constexpr (!std::is_floating_point_v<S>) return is_more;
    return kIgnoresNan ? !IsNan(x) && (is_more || IsNan(value))
                       : !IsNan(value) && (is_more || IsNan(x));
  }
};

// Rows of a warp's turns.
template <class T, bool kIgnoresNan>
class BriefRows {
 public:
  using Memory = typename RowWindow<T>::Memory;

  __device__ explicit BriefRows(const ReductionParameters& parameters)
      : parameters_(parameters),
        min_(parameters, Statistic::kMin, Statistic::kArgmin),
        max_(parameters, Statistic::kMax, Statistic::kArgmax),
        counts_(CountSlots(parameters)) {}

  // A row that begins at a byte of a window.
  __device__ void Take(const Memory& memory, uint32_t byte, uint64_t row) const {
    const uint32_t size = static_cast<uint32_t>(parameters_.group_size);
    const T* const elements =
        reinterpret_cast<const T*>(reinterpret_cast<const char*>(memory) + byte);
    BriefExtreme<S, false, kIgnoresNan> least;
    BriefExtreme<S, true, kIgnoresNan> greatest;
#pragma unroll
    for (uint32_t i = 0; i < BriefExtremeTuning::kElementsMax; ++i) {
      if (i == size) break;
      const S x = ToCompute(elements[i]);
      least.Add(x, i);
      greatest.Add(x, i);
    }
    if (counts_ != nullptr) counts_[row] = size;
    const bool is_none = least.IsNone();
    Write(min_, row, least.value, is_none ? kNoIndex : least.index);
    Write(max_, row, greatest.value, is_none ? kNoIndex : greatest.index);
    if (parameters_.states == nullptr) return;
    auto& state = static_cast<ReductionState<T, kExtremesPart>*>(parameters_.states)[row];
    auto& part = state.template Part<kExtremesPart>();
    part = {};
    if (is_none) return;
    part.min = {least.value, least.index};
    part.max = {greatest.value, greatest.index};
  }

 private:
  using S = ComputeType<T>;

  __device__ static void Write(const ExtremeSlots& slots, uint64_t row, S value, uint64_t index) {
    const bool is_none = kIgnoresNan && index == kNoIndex;
    if (slots.values != nullptr) slots.values[row] = is_none ? kNanSlot : Slot(value);
    if (slots.indices == nullptr) return;
    slots.indices[row] = index;
    if (!is_none) return;
    // A failure is noted as WriteValues does it.
    auto* const failure = reinterpret_cast<unsigned long long*>(slots.failure);
    if (row < __ldcg(failure)) atomicMin(failure, static_cast<unsigned long long>(row));
  }

  const ReductionParameters& parameters_;
  ExtremeSlots min_;
  ExtremeSlots max_;
  uint64_t* counts_;
};

// Begins to load [begin, end), which fits a window, and what else of the array, which ends at
// `array_end`, is in its last vector.
template <class T>
__device__ inline void LoadTurn(const Warp& warp, typename RowWindow<T>::Memory& memory,
                                const T* begin, const T* end, const T* array_end) {
  constexpr uint32_t kBytes = ReduceTuning::kVectorBytes;
  const uint32_t lane = warp.thread_rank();
  const uint32_t shift = RowWindow<T>::ShiftOf(begin);
  const T* const first = begin - shift / sizeof(T);
  const uint32_t count = static_cast<uint32_t>(end - first);
  const uint32_t vectors =
      static_cast<uint32_t>(min(uint64_t{(count + kVectorSize<T> - 1) / kVectorSize<T>},
                                static_cast<uint64_t>(array_end - first) / kVectorSize<T>));
#pragma unroll
  for (uint32_t k = 0; k <= ExtremeTuning::kTurnBytes / (ReduceTuning::kWarpThreads * kBytes);
       ++k) {
    const uint32_t v = k * ReduceTuning::kWarpThreads + lane;
    if (v < vectors) {
      __pipeline_memcpy_async(&memory[v], reinterpret_cast<const uint4*>(first) + v, kBytes);
    }
  }
  // The array's last elements, which are fewer than a vector has.
  const uint32_t i = vectors * kVectorSize<T> + lane;
  if (i >= shift / sizeof(T) && i < count) reinterpret_cast<T*>(memory)[i] = first[i];
}

template <class T, bool kIgnoresNan>
__device__ inline void TakeTurns(const Warp& warp, const ReductionParameters& parameters,
                                 const TileWork& work, typename RowWindow<T>::Memory (&windows)[2],
                                 uint64_t warp_of_grid, uint64_t warps) {
  using Window = RowWindow<T>;
  const BriefRows<T, kIgnoresNan> rows(parameters);
  const uint64_t size = parameters.group_size;
  const uint64_t step = warps * work.turn_groups;
  const auto rows_of = [&](uint64_t first) {
    const uint64_t left = first < parameters.group_count ? parameters.group_count - first : 0;
    return static_cast<uint32_t>(min(left, uint64_t{work.turn_groups}));
  };
  const auto begin_of = [&](uint64_t first) {
    return static_cast<const T*>(parameters.elements) + first * size;
  };
  const auto load = [&](uint64_t first, uint32_t which) {
    const uint32_t count = rows_of(first);
    if (count > 0) {
      const T* const begin = begin_of(first);
      LoadTurn(warp, windows[which], begin, begin + count * size, begin_of(parameters.group_count));
    }
    __pipeline_commit();
  };
  uint64_t first = warp_of_grid * work.turn_groups;
  load(first, 0);
#pragma unroll 1
  for (uint32_t which = 0; first < parameters.group_count; first += step, which ^= 1) {
    load(first + step, which ^ 1);
    __pipeline_wait_prior(1);
    warp.sync();
    const uint32_t row_bytes = static_cast<uint32_t>(size * sizeof(T));
    const uint32_t shift = Window::ShiftOf(begin_of(first));
    const uint32_t count = rows_of(first);
#pragma unroll 1
    for (uint32_t k = warp.thread_rank(); k < count; k += ReduceTuning::kWarpThreads) {
      rows.Take(windows[which], shift + k * row_bytes, first + k);
    }
    warp.sync();
  }
}

template <class T>
__global__ void __launch_bounds__(ExtremeTuning::kThreads, ExtremeTuning::kResidentBlocks)
    ReduceBriefExtremes(const __grid_constant__ ReductionParameters parameters,
                        const __grid_constant__ TileWork work) {
  constexpr uint32_t kWarps = ExtremeTuning::kThreads / ReduceTuning::kWarpThreads;
  __shared__ typename RowWindow<T>::Memory windows[kWarps][2];
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(cg::this_thread_block());
  const uint32_t rank = warp.meta_group_rank();
  const uint64_t warp_of_grid = uint64_t{blockIdx.x} * kWarps + rank;
  const uint64_t warps = uint64_t{gridDim.x} * kWarps;
  if (FloatingElement<T> && parameters.rules.ignore_nan) {
    TakeTurns<T, FloatingElement<T>>(warp, parameters, work, windows[rank], warp_of_grid, warps);
  } else {
    TakeTurns<T, false>(warp, parameters, work, windows[rank], warp_of_grid, warps);
  }
}

}  // namespace

template <class T>
BriefExtremesKernel GetBriefExtremesKernel() {
  return ReduceBriefExtremes<T>;
}

template BriefExtremesKernel GetBriefExtremesKernel<int8_t>();
template BriefExtremesKernel GetBriefExtremesKernel<uint8_t>();
template BriefExtremesKernel GetBriefExtremesKernel<int16_t>();
template BriefExtremesKernel GetBriefExtremesKernel<uint16_t>();
template BriefExtremesKernel GetBriefExtremesKernel<int32_t>();
template BriefExtremesKernel GetBriefExtremesKernel<uint32_t>();
template BriefExtremesKernel GetBriefExtremesKernel<int64_t>();
template BriefExtremesKernel GetBriefExtremesKernel<uint64_t>();
template BriefExtremesKernel GetBriefExtremesKernel<Float16>();
template BriefExtremesKernel GetBriefExtremesKernel<Bfloat16>();
template BriefExtremesKernel GetBriefExtremesKernel<float>();
template BriefExtremesKernel GetBriefExtremesKernel<double>();

}  // namespace gridfold::kernels::cuda
