// The extremes of samples as unsigned numbers, of which atomics and shuffles take the smallest and
// the largest. Plain C++.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_EXTREME_KEYS_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_EXTREME_KEYS_H_

#include <bit>
#include <cstdint>
#include <optional>

#include "kernels/types/host_device.h"

namespace gridfold::kernels::cuda {

// An unsigned number that orders as the finite double it stands for does; never 0 nor ~0.
GRIDFOLD_HD inline uint64_t OrderedKey(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  return bits >> 63 != 0 ? ~bits : bits | uint64_t{1} << 63;
}
GRIDFOLD_HD inline double FromOrderedKey(uint64_t key) {
  return std::bit_cast<double>(key >> 63 != 0 ? key & ~(uint64_t{1} << 63) : ~key);
}

// Keys of the bounds for a channel's finite samples; as they start where there is none.
struct ExtremeKeys {
  static constexpr uint64_t kNoSmallest = ~uint64_t{0};
  static constexpr uint64_t kNoLargest = 0;

  uint64_t smallest = kNoSmallest;
  uint64_t largest = kNoLargest;

  std::optional<double> Smallest() const {
    return smallest == kNoSmallest ? std::nullopt : std::optional(FromOrderedKey(smallest));
  }
  std::optional<double> Largest() const {
    return largest == kNoLargest ? std::nullopt : std::optional(FromOrderedKey(largest));
  }
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_EXTREME_KEYS_H_
