// A sample of a large group: which elements it has, and between which of them a key of the group
// lies that stands at a known place. Plain C++.
//
//   SampledIndex(i, 1'000'000'000, 20)  // The i-th of 2^20 sampled elements, one of each even
//   part. BoundsOfQuantile(0.5, size)         // Ranks in the sample between which the median lies.
//
// The answers are exact whether the bounds hold or not; where they do not, the group is read again.
#ifndef GRIDFOLD_KERNELS_CUDA_ORDER_SAMPLE_H_
#define GRIDFOLD_KERNELS_CUDA_ORDER_SAMPLE_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/numerics/order/quantile.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels::cuda {

// Smaller groups are counted digit by digit: some twenty launches more take as long as reading
// this many elements of 4 bytes a few times.
inline constexpr uint64_t kSampledElementsMin = uint64_t{1} << 24;
// So that their places are 64-bit products.
inline constexpr uint64_t kSampledElementsMax = (uint64_t{1} << 44) - 1;
// An element of the sample costs the read of 32 bytes, so it has at most one of 64; and more than
// the larger number would cost more than what they spare of the elements between the bounds.
inline constexpr uint32_t kSampleLog2Min = 16;
inline constexpr uint32_t kSampleLog2Max = 20;
inline constexpr uint64_t kElementsPerSampled = 64;

// Targets of a sampled group: what lies between the bounds of more is most of it.
inline constexpr uint32_t kSampledTargetsMax = 24;

// How far from where they are expected bounds are taken, in standard deviations of a place in the
// sample; and beside that so many places, since at the ends these are not normally distributed.
inline constexpr double kMarginDeviations = 5;
inline constexpr double kMarginPlaces = 8;

// A bound that is left open.
inline constexpr uint64_t kOpenRank = ~uint64_t{0};

// Ranks in the sample.
struct SampleBounds {
  uint64_t lower = kOpenRank;
  uint64_t upper = kOpenRank;
};

// Elements of a sample of `count`, as a power of two, of which `room` are had room for.
constexpr uint32_t SampleLog2(uint64_t count, uint64_t room) {
  const uint64_t wanted = std::min(count / kElementsPerSampled, room);
  const auto log2 = static_cast<uint32_t>(std::bit_width(wanted | 1) - 1);
  return std::min(log2, kSampleLog2Max);
}

// Any bits, the same for the same `i`.
GRIDFOLD_HD inline uint32_t SampleHash(uint64_t i) {
  i += 0x9E37'79B9'7F4A'7C15u;
  i = (i ^ (i >> 30)) * 0xBF58'476D'1CE4'E5B9u;
  i = (i ^ (i >> 27)) * 0x94D0'49BB'1331'11EBu;
  return static_cast<uint32_t>(i >> 32);
}

// The element that is taken of part `i` of 2^size_log2 even ones. Requires as many elements, and
// no more than kSampledElementsMax.
GRIDFOLD_HD inline uint64_t SampledIndex(uint64_t i, uint64_t count, uint32_t size_log2) {
  const uint64_t begin = (i * count) >> size_log2;
  const uint64_t end = ((i + 1) * count) >> size_log2;
  return begin + ((SampleHash(i) * (end - begin)) >> 32);
}

namespace order_internal {

// `size` is how many keys have ranks; below `share` of them the wanted key is expected.
GRIDFOLD_HD inline double Margin(double size, double share) {
  const double variance = size * share * (1 - share);
  return kMarginPlaces + kMarginDeviations * std::sqrt(variance > 0 ? variance : 0);
}

GRIDFOLD_HD inline SampleBounds BoundsAround(double place, double margin, uint64_t size) {
  SampleBounds bounds;
  if (place >= margin) bounds.lower = static_cast<uint64_t>(place - margin);
  if (bounds.lower != kOpenRank && bounds.lower >= size) bounds.lower = size - 1;
  const double upper = std::ceil(place + margin);
  if (upper < static_cast<double>(size)) bounds.upper = static_cast<uint64_t>(upper);
  return bounds;
}

}  // namespace order_internal

// Of a quantile, where `size` keys of the sample are numbers.
GRIDFOLD_HD inline SampleBounds BoundsOfQuantile(double quantile, uint64_t size) {
  if (size == 0) return {};
  return order_internal::BoundsAround(static_cast<double>(size - 1) * quantile,
                                      order_internal::Margin(static_cast<double>(size), quantile),
                                      size);
}

// Of the key at `rank` of `count`, in a sample of `size`.
GRIDFOLD_HD inline SampleBounds BoundsOfRank(uint64_t rank, uint64_t count, uint64_t size) {
  const double share = static_cast<double>(rank) / static_cast<double>(count);
  const auto sampled = static_cast<double>(size);
  return order_internal::BoundsAround(share * sampled, order_internal::Margin(sampled, share),
                                      size);
}

GRIDFOLD_HD inline SampleBounds BoundsOfTarget(const QuantileTarget& target, uint64_t count,
                                               uint64_t size, uint64_t numbers) {
  return target.is_rank ? BoundsOfRank(target.rank, count, size)
                        : BoundsOfQuantile(target.quantile, numbers);
}

// Of the last one of the `selected` largest keys: nothing above it is left out.
GRIDFOLD_HD inline SampleBounds BoundsOfTop(uint64_t selected, uint64_t count, uint64_t size) {
  return {.lower = BoundsOfRank(count - selected, count, size).lower};
}

// About how many keys of a group lie between the bounds of its targets, at most.
inline uint64_t KeysBetweenBounds(uint32_t target_count, uint64_t count, uint32_t size_log2) {
  const double size = std::ldexp(1.0, static_cast<int>(size_log2));
  const double places = 2 * (order_internal::Margin(size, 0.5) + 1) * target_count;
  return static_cast<uint64_t>(places / size * static_cast<double>(count));
}
// About how many keys lie above the bound.
inline uint64_t KeysOfTop(uint64_t selected, uint64_t count, uint32_t size_log2) {
  const uint64_t size = uint64_t{1} << size_log2;
  const uint64_t lower = BoundsOfTop(selected, count, size).lower;
  const uint64_t places = lower == kOpenRank ? size : size - lower;
  return static_cast<uint64_t>(static_cast<double>(places) / static_cast<double>(size) *
                               static_cast<double>(count));
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_ORDER_SAMPLE_H_
