// A sampler reads samples and places them, which all histogram kernels have in common.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_SAMPLER_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_SAMPLER_CUH_

#include <cstdint>

#include "kernels/cuda/histogram/place/outcomes.cuh"
#include "kernels/cuda/histogram/place/walk.cuh"
#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/numerics/bins/layout.h"

namespace gridfold::kernels::cuda {

// Samples whose loads are in flight together.
inline constexpr int kSamplerItems = 4;

template <class T>
class Sampler {
 public:
  // `shared_edges` is where the block has copied the tables of edges; null where it has not.
  __device__ Sampler(const HistogramArguments& arguments, const double* shared_edges)
      : Sampler(arguments, shared_edges, arguments.few_channels) {}
  // `few_channels` stand for those of the arguments.
  __device__ Sampler(const HistogramArguments& arguments, const double* shared_edges,
                     const ChannelBins* few_channels)
      : arguments_(arguments),
        shared_edges_(shared_edges),
        few_channels_(few_channels),
        walk_(arguments.sample_count, arguments.channel_count,
              BlockShare::Of(arguments.part_count)),
        x_bins_(BinsOf(walk_.channel)) {}

  __device__ uint32_t steps() const { return walk_.steps; }
  __device__ uint64_t SampleAt(uint32_t step) const { return walk_.SampleAt(step); }

  // Reads the samples of kSamplerItems steps; those that are not there have any value.
  __device__ void Load(uint32_t step, T (&samples)[kSamplerItems]) const {
    const T* next = static_cast<const T*>(arguments_.samples) + walk_.SampleAt(step);
#pragma unroll
    for (int k = 0; k < kSamplerItems; ++k, next += walk_.stride) {
      if (step + k < walk_.sample_steps) samples[k] = *next;
    }
  }

  // Calls visit(k, bin) for kSamplerItems steps: the counter that the sample of step + k adds to,
  // or a negative number where there is none, nor a sample before `step_end`. Counts outcomes.
  template <class Visit>
  __device__ void Place(uint32_t step, uint32_t step_end, const T (&samples)[kSamplerItems],
                        Visit&& visit) {
    const uint32_t sample_end = min(step_end, walk_.sample_steps);
#pragma unroll
    for (int k = 0; k < kSamplerItems; ++k) {
      visit(k, step + k < sample_end ? CounterOf(samples[k], step + k) : -1);
    }
  }

  // Places all samples of the steps [step_begin, step_end): calls visit(bin, step) for those that
  // are in a bin. The next samples are on their way while the last ones are placed.
  template <class Visit>
  __device__ void ForEach(uint32_t step_begin, uint32_t step_end, Visit&& visit) {
    T next[kSamplerItems];
    Load(step_begin, next);
    for (uint32_t step = step_begin; step < step_end; step += kSamplerItems) {
      T samples[kSamplerItems];
#pragma unroll
      for (int k = 0; k < kSamplerItems; ++k) samples[k] = next[k];
      Load(step + kSamplerItems, next);
      Place(step, step_end, samples, [&](int k, int64_t bin) {
        if (bin >= 0) visit(static_cast<uint64_t>(bin), step + k);
      });
    }
  }

  // Adds this thread's outcomes to those of the channel, in device memory; once, at the end.
  __device__ void ReportOutcomes() const { ReportOutcomes(arguments_.outcomes); }
  // Adds them to [channel][kOutcomeCount] counters in any memory, of 32 or 64 bits.
  template <class Counter>
  __device__ void ReportOutcomes(Counter* outcomes) const {
    outcomes_.Report(outcomes, walk_.channel);
  }

 private:
  __device__ ChannelBins BinsOf(uint32_t channel) const {
    ChannelBins bins =
        arguments_.channels != nullptr ? arguments_.channels[channel] : few_channels_[channel];
    if (shared_edges_ != nullptr && bins.layout.kind == BinKind::kTable) {
      bins.layout.edges = shared_edges_ + (bins.layout.edges - arguments_.edges);
    }
    return bins;
  }

  // The counter that sample x of a step adds to, or a negative number.
  __device__ int64_t CounterOf(T x, uint32_t step) {
    const int64_t located = LocateBin(x_bins_.layout, x);
    Placement placement;
    if (arguments_.y_samples == nullptr) {
      placement = kernels::Place(located, x_bins_.layout.bin_count, arguments_.out_of_range_policy);
    } else {
      // Not kept in registers, which one dimension has better use for.
      const BinLayout y_layout = BinsOf(1).layout;
      const T y = static_cast<const T*>(arguments_.y_samples)[walk_.SampleAt(step)];
      placement = Place2d(located, LocateBin(y_layout, y), x_bins_.layout.bin_count,
                          y_layout.bin_count, arguments_.out_of_range_policy);
    }
    outcomes_.Count(placement.outcome);
    return placement.bin < 0 ? -1 : static_cast<int64_t>(x_bins_.first_bin) + placement.bin;
  }

  const HistogramArguments& arguments_;
  const double* const shared_edges_;
  const ChannelBins* const few_channels_;
  const SampleWalk walk_;
  const ChannelBins x_bins_;
  Outcomes outcomes_;
};

// Copies the tables of edges to `shared` where the arguments say so; null where they do not. All
// threads of the block; needs a barrier after.
__device__ inline const double* CopyEdges(const HistogramArguments& arguments, double* shared) {
  if (!arguments.edges_in_shared) return nullptr;
  for (uint64_t e = threadIdx.x; e < arguments.edge_count; e += blockDim.x) {
    shared[e] = arguments.edges[e];
  }
  return shared;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLACE_SAMPLER_CUH_
