// This kernel answers statistics of rows of one element (numerics/statistics/single_value.h): a
// thread looks at its element once, and no sum is made of it unless it is NaN or an infinity.
#include <cstdint>

#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/plan/singles.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/statistics/reduction_state.h"
#include "kernels/numerics/statistics/single_value.h"

namespace gridfold::kernels::cuda {

namespace {

// A row of what is not finite, by its state. Not inlined: it is long and seldom needed.
template <class T>
__device__ __noinline__ void FinishState(const ReductionParameters& parameters, uint64_t row,
                                         T element) {
  FullState<T> state;
  state.Add(element, 0, parameters.rules.ignore_nan);
  WriteValues(parameters, row, 1, state);
}

template <class T>
__device__ inline void FinishSingle(const ReductionParameters& parameters, uint64_t row,
                                    T element) {
  const auto x = ToCompute(element);
  if constexpr (FloatingElement<T>) {
    if (!IsFinite(x)) return FinishState(parameters, row, element);
  }
#pragma unroll 1
  for (uint32_t i = 0; i < parameters.statistic_count; ++i) {
    uint64_t* const slots = parameters.slots + parameters.rows[i] * parameters.group_count;
    VisitSingleValue<ComputeType<T>>(parameters.statistics[i],
                                     [&](auto slot_of) { slots[row] = slot_of(x); });
  }
}

template <class T>
__global__ void __launch_bounds__(SingleTuning::kThreads)
    ReduceSingles(const __grid_constant__ ReductionParameters parameters) {
  const T* const elements = static_cast<const T*>(parameters.elements);
  const uint64_t step = uint64_t{gridDim.x} * SingleTuning::kThreads;
#pragma unroll 1
  for (uint64_t row = uint64_t{blockIdx.x} * SingleTuning::kThreads + threadIdx.x;
       row < parameters.group_count; row += step) {
    FinishSingle<T>(parameters, row, elements[parameters.FirstOfRow(row)]);
  }
}

}  // namespace

template <class T>
SinglesKernel GetSinglesKernel() {
  return ReduceSingles<T>;
}

template SinglesKernel GetSinglesKernel<int8_t>();
template SinglesKernel GetSinglesKernel<uint8_t>();
template SinglesKernel GetSinglesKernel<int16_t>();
template SinglesKernel GetSinglesKernel<uint16_t>();
template SinglesKernel GetSinglesKernel<int32_t>();
template SinglesKernel GetSinglesKernel<uint32_t>();
template SinglesKernel GetSinglesKernel<int64_t>();
template SinglesKernel GetSinglesKernel<uint64_t>();
template SinglesKernel GetSinglesKernel<Float16>();
template SinglesKernel GetSinglesKernel<Bfloat16>();
template SinglesKernel GetSinglesKernel<float>();
template SinglesKernel GetSinglesKernel<double>();

}  // namespace gridfold::kernels::cuda
