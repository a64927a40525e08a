// What a NaN, an integer overflow and a sample outside the bins do. See proto/gridfold/v1.
#ifndef GRIDFOLD_KERNELS_TYPES_POLICIES_H_
#define GRIDFOLD_KERNELS_TYPES_POLICIES_H_

#include <cstdint>

namespace gridfold::kernels {

// Accumulators hold these numbers.
enum class NanPolicy : uint8_t { kPropagate = 0, kIgnore = 1 };
enum class OverflowPolicy : uint8_t { kError = 0, kWrap = 1 };
enum class OutOfRangePolicy : uint8_t { kDrop = 0, kClamp = 1 };

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_TYPES_POLICIES_H_
