// This file has the types that a scan's results may have, and what happens to results that do not
// fit.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_BASE_OUTPUT_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_BASE_OUTPUT_CUH_

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/scan/base/arguments.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/scans/operator.h"

namespace gridfold::kernels::cuda {

// The 64-bit type that AccumulatorType stands for.
template <class T>
using Accumulator = std::conditional_t<FloatingElement<T>, double,
                                       std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

// The largest type that results may have; those of extremes have the array's own.
template <class T, ScanOperation kOperation>
using WidestOutput = std::conditional_t<IsExtreme(kOperation), T, Accumulator<T>>;

// Calls f(TypeTag<Out>) with the type of the results: T's accumulator type or T itself.
template <class T, ScanOperation kOperation, class F>
GRIDFOLD_HD decltype(auto) VisitOutput(bool accumulator_output, F&& f) {
  using Widest = WidestOutput<T, kOperation>;
  if constexpr (!std::is_same_v<Widest, T>) {
    if (accumulator_output) return f(TypeTag<Widest>{});
  }
  return f(TypeTag<T>{});
}

__device__ inline void ReportOverflow(uint32_t* overflow_flag) {
  __nv_atomic_store_n(overflow_flag, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}
__device__ inline void ReportOverflow(const ScanArguments& arguments) {
  ReportOverflow(arguments.overflow_flag);
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_BASE_OUTPUT_CUH_
