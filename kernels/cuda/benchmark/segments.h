// Ragged segments for benchmarks.
#ifndef GRIDFOLD_KERNELS_CUDA_BENCHMARK_SEGMENTS_H_
#define GRIDFOLD_KERNELS_CUDA_BENCHMARK_SEGMENTS_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>

#include "kernels/contract/reduction.h"

namespace gridfold::kernels::cuda {

// Segments of the sizes that `next_size` gives, the last one of what is left.
inline GroupingSpec RaggedSegments(uint64_t element_count,
                                   const std::function<uint64_t(std::mt19937_64&)>& next_size) {
  std::mt19937_64 random(20261122);
  GroupingSpec grouping{GroupingKind::kSegments, {0}};
  while (grouping.offsets.back() < element_count) {
    const uint64_t end = grouping.offsets.back() + next_size(random);
    grouping.offsets.push_back(std::min(end, element_count));
  }
  return grouping;
}

// Any size up to twice the mean, and from `least` on.
inline GroupingSpec SegmentsOfMean(uint64_t element_count, uint64_t mean, uint64_t least = 0) {
  std::uniform_int_distribution<uint64_t> size(least, 2 * mean);
  return RaggedSegments(element_count, [&](std::mt19937_64& random) { return size(random); });
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_BENCHMARK_SEGMENTS_H_
