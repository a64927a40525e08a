// Quantiles as NumPy defines them: between which of the sorted elements one lies, and what it is
// then. In float64, whatever the type of the elements, with the bits of NumPy on float64 arrays but
// for two cases:
//   - differences of 64-bit integers do not wrap around;
//   - between finite elements whose difference is past the largest float64 it is the sum of the
//     weighted elements; between an infinity and a number it is that infinity. NumPy's own
//     arithmetic leaves an infinity or a NaN there.
#ifndef GRIDFOLD_KERNELS_NUMERICS_ORDER_QUANTILE_H_
#define GRIDFOLD_KERNELS_NUMERICS_ORDER_QUANTILE_H_

#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/order/order_key.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

// What a quantile is that lies between two elements.
enum class QuantileMethod : uint8_t {
  kLinear,    // Interpolated.
  kLower,     // The one below.
  kHigher,    // The one above.
  kNearest,   // The nearer one; halfway, the one whose place is even.
  kMidpoint,  // Interpolated halfway.
  kMean,      // Half of their rounded sum, as NumPy's median.
};

// Whether values are float64, whatever the elements are.
constexpr bool Interpolates(QuantileMethod method) {
  return method == QuantileMethod::kLinear || method == QuantileMethod::kMidpoint ||
         method == QuantileMethod::kMean;
}

// A quantile, or the element at a place of the sorted group.
struct QuantileTarget {
  bool is_rank = false;
  double quantile = 0;
  uint64_t rank = 0;
};

// The places of two elements among the sorted ones, and the weight of the upper one.
struct QuantilePlace {
  uint64_t lower = 0;
  uint64_t upper = 0;
  double weight = 0;
};

// Whether a group of so many numbers has a value for the target: else it is NaN.
GRIDFOLD_HD inline bool HasPlace(const QuantileTarget& target, uint64_t count) {
  return target.is_rank ? target.rank < count : count > 0;
}

// Requires HasPlace.
GRIDFOLD_HD inline QuantilePlace PlaceOf(const QuantileTarget& target, uint64_t count,
                                         QuantileMethod method) {
  if (target.is_rank) return {target.rank, target.rank, 0};
  const uint64_t last = count - 1;
  const double place = static_cast<double>(last) * target.quantile;
  uint64_t below = static_cast<uint64_t>(place);
  if (below >= last) return {last, last, 0};
  const double rest = place - static_cast<double>(below);
  if (rest == 0) return {below, below, 0};
  const uint64_t above = below + 1;
  switch (method) {
    case QuantileMethod::kLinear: return {below, above, rest};
    case QuantileMethod::kLower: return {below, below, 0};
    case QuantileMethod::kHigher: return {above, above, 0};
    case QuantileMethod::kNearest:
      if (rest > 0.5 || (rest == 0.5 && below % 2 != 0)) below = above;
      return {below, below, 0};
    case QuantileMethod::kMidpoint:
    case QuantileMethod::kMean: return {below, above, 0.5};
  }
  return {};
}

namespace order_internal {

// Where one of the two is infinite, or their difference.
GRIDFOLD_HD inline double BetweenFarOnes(double lower, double upper, double weight) {
  if (!IsFinite(lower) && !IsFinite(upper)) return std::bit_cast<double>(kNanSlot);
  if (!IsFinite(lower)) return lower;
  if (!IsFinite(upper)) return upper;
  return lower * (1 - weight) + upper * weight;
}

// As _lerp of NumPy.
GRIDFOLD_HD inline double Interpolate(double lower, double upper, double difference,
                                      double weight) {
  return weight < 0.5 ? lower + difference * weight : upper - difference * (1 - weight);
}

}  // namespace order_internal

// The value between elements of these keys, as the 8 bytes of a float64.
template <class T>
GRIDFOLD_HD inline uint64_t BetweenSlot(OrderKey<T> lower_key, OrderKey<T> upper_key, double weight,
                                        QuantileMethod method) {
  const double lower = static_cast<double>(FromOrderKey<T>(lower_key));
  const double upper = static_cast<double>(FromOrderKey<T>(upper_key));
  if (lower_key == upper_key) return std::bit_cast<uint64_t>(lower);
  double value = 0;
  if (method == QuantileMethod::kMean) {
    const double sum = lower + upper;
    value = IsFinite(sum) ? sum / 2 : order_internal::BetweenFarOnes(lower, upper, 0.5);
  } else if constexpr (IntegerElement<T>) {
    const auto difference = static_cast<double>(static_cast<OrderKey<T>>(upper_key - lower_key));
    value = order_internal::Interpolate(lower, upper, difference, weight);
  } else {
    const double difference = upper - lower;
    value = IsFinite(difference) ? order_internal::Interpolate(lower, upper, difference, weight)
                                 : order_internal::BetweenFarOnes(lower, upper, weight);
  }
  return std::bit_cast<uint64_t>(value);
}

// The value of a target, given the keys at its places, as 8 bytes: those of an element, or of a
// float64 where the method interpolates.
template <class T>
GRIDFOLD_HD inline uint64_t TargetSlot(const QuantileTarget& target, double weight,
                                       QuantileMethod method, OrderKey<T> lower_key,
                                       OrderKey<T> upper_key) {
  if (target.is_rank || !Interpolates(method)) return ElementSlot(FromOrderKey<T>(lower_key));
  return BetweenSlot<T>(lower_key, upper_key, weight, method);
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_ORDER_QUANTILE_H_
