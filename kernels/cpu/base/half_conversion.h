// Arrays of 16-bit floating-point elements to float, which holds them exactly.
#ifndef GRIDFOLD_KERNELS_CPU_BASE_HALF_CONVERSION_H_
#define GRIDFOLD_KERNELS_CPU_BASE_HALF_CONVERSION_H_

#include <cstddef>
#include <cstdint>

#include "kernels/types/half.h"

namespace gridfold::kernels::cpu {

// Converts `count` elements at any byte address, with the best instructions of the processor.
template <class Half>
void ConvertToFloats(const std::byte* elements, uint64_t count, float* converted);

extern template void ConvertToFloats<Float16>(const std::byte*, uint64_t, float*);
extern template void ConvertToFloats<Bfloat16>(const std::byte*, uint64_t, float*);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_BASE_HALF_CONVERSION_H_
