#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>
#include <limits>
#include <type_traits>

#include "kernels/cuda/benchmark/cub.h"
#include "kernels/numerics/arithmetic/element.h"

namespace gridfold::kernels::cuda {

namespace {

// In the type of the results, which CUB takes from the initial value.
template <class In, class Out>
CubCall Scan(ScanOperation operation, ScanMode mode, const In* input, uint64_t count, Out* output) {
  if (operation == ScanOperation::kSum && mode == ScanMode::kInclusive) {
    return [=](void* scratch, size_t& bytes, cudaStream_t stream) {
      return cub::DeviceScan::InclusiveScanInit(scratch, bytes, input, output,
                                                ::cuda::std::plus<>{}, Out{}, count, stream);
    };
  }
  if (operation == ScanOperation::kSum) {
    return [=](void* scratch, size_t& bytes, cudaStream_t stream) {
      return cub::DeviceScan::ExclusiveScan(scratch, bytes, input, output, ::cuda::std::plus<>{},
                                            Out{}, count, stream);
    };
  }
  if (operation == ScanOperation::kMax && mode == ScanMode::kInclusive && std::is_same_v<In, Out>) {
    return [=](void* scratch, size_t& bytes, cudaStream_t stream) {
      return cub::DeviceScan::InclusiveScan(scratch, bytes, input, output, ::cuda::maximum<>{},
                                            count, stream);
    };
  }
  return nullptr;
}

}  // namespace

CubCall CubScan(ScanOperation operation, ScanMode mode, ElementType input_type,
                ElementType output_type, const void* input, uint64_t count, void* output) {
  return VisitElementType(input_type, [&](auto tag) -> CubCall {
    using T = typename decltype(tag)::type;
    if constexpr (HalfElement<T> || std::is_unsigned_v<T>) {
      return nullptr;
    } else {
      using Wide = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
      const T* const elements = static_cast<const T*>(input);
      if (output_type == input_type) {
        return Scan(operation, mode, elements, count, static_cast<T*>(output));
      }
      return Scan(operation, mode, elements, count, static_cast<Wide*>(output));
    }
  });
}

}  // namespace gridfold::kernels::cuda
