// The kernel that finds the extremes of the finite samples. For histogram_range.c* only.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_RANGE_KERNEL_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_RANGE_KERNEL_H_

#include <bit>
#include <cstdint>
#include <optional>

#include "kernels/types/element_type.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels::cuda {

// An unsigned number that orders as the finite double it stands for does; never 0 nor ~0.
GRIDFOLD_HD inline uint64_t OrderedKey(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  return bits >> 63 != 0 ? ~bits : bits | uint64_t{1} << 63;
}
inline double FromOrderedKey(uint64_t key) {
  return std::bit_cast<double>(key >> 63 != 0 ? key & ~(uint64_t{1} << 63) : ~key);
}

// Keys of the bounds for a channel's finite samples; as they start where there is none.
struct ExtremeKeys {
  uint64_t smallest = ~uint64_t{0};
  uint64_t largest = 0;

  std::optional<double> Smallest() const {
    return smallest == ~uint64_t{0} ? std::nullopt : std::optional(FromOrderedKey(smallest));
  }
  std::optional<double> Largest() const {
    return largest == 0 ? std::nullopt : std::optional(FromOrderedKey(largest));
  }
};

struct RangeArguments {
  const void* samples = nullptr;
  uint64_t sample_count = 0;
  uint32_t channel_count = 1;
  ExtremeKeys* keys = nullptr;  // One for each channel, in its initial state.
};

inline constexpr int kRangeThreads = 256;

// A kernel that brings `keys` up to date; a grid of at least one thread for each channel.
using RangeKernel = void (*)(RangeArguments);
RangeKernel FindRangeKernel(ElementType type);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_RANGE_KERNEL_H_
