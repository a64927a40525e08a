// Weights of samples as float64, whatever their type.
#ifndef GRIDFOLD_KERNELS_CPU_WEIGHTS_H_
#define GRIDFOLD_KERNELS_CPU_WEIGHTS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/element_type.h"

namespace gridfold::kernels {

// Converts elements [first, first + count) of an array of `type`, at any byte address, to the
// nearest doubles.
void LoadAsDoubles(const std::byte* array, ElementType type, uint64_t first, uint64_t count,
                   double* values);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CPU_WEIGHTS_H_
