// What a NaN, an integer overflow and a sample outside the bins do. See proto/gridfold/v1.
#ifndef GRIDFOLD_KERNELS_TYPES_POLICIES_H_
#define GRIDFOLD_KERNELS_TYPES_POLICIES_H_

#include <cstdint>

namespace gridfold::kernels {

enum class NanPolicy : uint8_t { kPropagate, kIgnore };
enum class OverflowPolicy : uint8_t { kError, kWrap };
enum class OutOfRangePolicy : uint8_t { kDrop, kClamp };

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_TYPES_POLICIES_H_
