// std::min, std::max and std::clamp by value, for headers of kernels: <algorithm> takes a third of
// a second of each of their translation units. Host and device.
#ifndef GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_MIN_MAX_H_
#define GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_MIN_MAX_H_

#include "kernels/types/host_device.h"

namespace gridfold::kernels {

template <class T>
GRIDFOLD_HD constexpr T Min(T a, T b) {
  return b < a ? b : a;
}

template <class T>
GRIDFOLD_HD constexpr T Max(T a, T b) {
  return a < b ? b : a;
}

// Requires !(high < low).
template <class T>
GRIDFOLD_HD constexpr T Clamp(T x, T low, T high) {
  return Min(Max(x, low), high);
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_MIN_MAX_H_
