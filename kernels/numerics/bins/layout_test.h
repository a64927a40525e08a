// What tests of bins share: samples around an edge, and real numbers to compare them as.
#ifndef GRIDFOLD_KERNELS_NUMERICS_BINS_LAYOUT_TEST_H_
#define GRIDFOLD_KERNELS_NUMERICS_BINS_LAYOUT_TEST_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/numerics/arithmetic/element.h"

namespace gridfold::kernels {

using AllTypes = testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                                uint64_t, Float16, Bfloat16, float, double>;

// Samples and edges are all exact in long double, so its comparisons are those of real numbers.
using Real = long double;

template <class T>
Real RealOf(T x) {
  return static_cast<Real>(ToCompute(x));
}

// Lower and upper bounds of even bins: about 0 and far from it, wide and narrow, on grids of
// integers and on none, and at the ends of what some types hold.
inline const std::vector<std::pair<double, double>>& EvenBounds() {
  static const auto& bounds = *new std::vector<std::pair<double, double>>{
      {-1.0, 1.0},     {0.0, 1.0},   {0.0, 100.0},  {-1e6, 3.7e5},    {0.1, 0.3}, {1e6, 1e6 + 1},
      {-0.3, 0x1p-20}, {0.0, 1e-40}, {-3e38, 3e38}, {1e-300, 1e-299}, {5e8, 2e9}};
  return bounds;
}

// The value of T nearest to x, and the values next to it.
template <class T>
std::vector<T> ValuesAround(double x) {
  std::vector<T> values;
  if constexpr (HalfElement<T>) {
    const uint16_t bits = T::FromDouble(x).bits;
    for (int step = -2; step <= 2; ++step) values.push_back(T{static_cast<uint16_t>(bits + step)});
  } else if constexpr (std::is_floating_point_v<T>) {
    const T nearest = static_cast<T>(x);
    const T low = std::nextafter(nearest, std::numeric_limits<T>::lowest());
    values = {low, nearest, std::nextafter(nearest, std::numeric_limits<T>::max())};
  } else {
    const Real least = std::numeric_limits<T>::min();
    const Real most = std::numeric_limits<T>::max();
    for (int step = -2; step <= 2; ++step) {
      const Real value = std::floor(static_cast<Real>(x)) + step;
      if (value >= least && value <= most) values.push_back(static_cast<T>(value));
    }
  }
  return values;
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_BINS_LAYOUT_TEST_H_
