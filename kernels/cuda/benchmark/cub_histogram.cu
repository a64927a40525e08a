#include <cub/device/device_histogram.cuh>
#include <cuda/std/array>

#include "kernels/cuda/benchmark/cub.h"

namespace gridfold::kernels::cuda {

namespace {

template <class Level, class Sample>
CubCall EvenBins(const Sample* samples, int sample_count, int bin_count, Level lower, Level upper,
                 uint32_t* counts) {
  return [=](void* scratch, size_t& bytes, cudaStream_t stream) {
    return cub::DeviceHistogram::HistogramEven(scratch, bytes, samples, counts, bin_count + 1,
                                               lower, upper, sample_count, stream);
  };
}

template <class Level, class Sample>
CubCall EvenBinsOfFourChannels(const Sample* samples, int sample_count, int bin_count, Level lower,
                               Level upper, uint32_t* counts) {
  return [=](void* scratch, size_t& bytes, cudaStream_t stream) {
    ::cuda::std::array<uint32_t*, 4> channel_counts;
    ::cuda::std::array<int, 4> level_counts;
    ::cuda::std::array<Level, 4> lower_levels;
    ::cuda::std::array<Level, 4> upper_levels;
    for (int c = 0; c < 4; ++c) {
      channel_counts[c] = counts + c * bin_count;
      level_counts[c] = bin_count + 1;
      lower_levels[c] = lower;
      upper_levels[c] = upper;
    }
    return cub::DeviceHistogram::MultiHistogramEven<4, 4>(scratch, bytes, samples, channel_counts,
                                                          level_counts, lower_levels, upper_levels,
                                                          sample_count / 4, stream);
  };
}

template <class Level, class Sample>
CubCall EvenHistogram(const void* samples, uint64_t sample_count, uint32_t bin_count, double lower,
                      double upper, uint32_t channel_count, uint32_t* counts) {
  const auto call =
      channel_count == 4 ? &EvenBinsOfFourChannels<Level, Sample> : &EvenBins<Level, Sample>;
  return call(static_cast<const Sample*>(samples), static_cast<int>(sample_count),
              static_cast<int>(bin_count), static_cast<Level>(lower), static_cast<Level>(upper),
              counts);
}

}  // namespace

CubCall CubEvenHistogram(ElementType type, const void* samples, uint64_t sample_count,
                         uint32_t bin_count, double lower, double upper, uint32_t channel_count,
                         uint32_t* counts) {
  if (type == ElementType::kFloat32) {
    return EvenHistogram<float, float>(samples, sample_count, bin_count, lower, upper,
                                       channel_count, counts);
  }
  if (type == ElementType::kInt32) {
    return EvenHistogram<int, int>(samples, sample_count, bin_count, lower, upper, channel_count,
                                   counts);
  }
  if (type == ElementType::kUint8) {
    return EvenHistogram<int, uint8_t>(samples, sample_count, bin_count, lower, upper,
                                       channel_count, counts);
  }
  return nullptr;
}

CubCall CubEdgesHistogram(const float* samples, uint64_t sample_count, const float* edges,
                          uint32_t bin_count, uint32_t* counts) {
  return [=](void* scratch, size_t& bytes, cudaStream_t stream) {
    return cub::DeviceHistogram::HistogramRange(scratch, bytes, samples, counts,
                                                static_cast<int>(bin_count) + 1, edges,
                                                static_cast<int>(sample_count), stream);
  };
}

}  // namespace gridfold::kernels::cuda
