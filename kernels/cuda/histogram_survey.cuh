// A look at a few samples, by which blocks learn whether a part of the bins is busy
// (histogram_deal.h). All look at the same ones, and so they agree.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_SURVEY_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_SURVEY_CUH_

#include <cstdint>

#include "kernels/cuda/histogram_arguments.h"
#include "kernels/cuda/histogram_counters.cuh"
#include "kernels/cuda/histogram_deal.h"
#include "kernels/cuda/histogram_locators.cuh"

namespace gridfold::kernels::cuda {

// Each warp of a block looks at as many samples side by side as it has lanes.
template <class T, class Locator>
class PartSurvey {
 public:
  // The samples, of which there are some, are on their way from here on, if they are wanted.
  __device__ PartSurvey(const HistogramArguments& arguments, bool is_wanted)
      : arguments_(arguments) {
    if (!is_wanted) return;
    point_ = PointAt<T, Locator::kArrays>(arguments, OwnSample(arguments.sample_count));
  }

  // All threads of the block. `weights`: kHistogramPartsMax words of its shared memory, all 0.
  __device__ uint32_t BusyPart(uint32_t* weights) const {
    const Locator locator(arguments_, BinRange::Whole(arguments_));
    const int32_t number = locator.NumberOf(locator.Guess(point_));
    const uint32_t bin = static_cast<uint32_t>(number - locator.zero());
    const uint32_t part = bin / arguments_.bins_per_block;
    const uint32_t lanes_before = (uint32_t{1} << Lane()) - 1;
    const bool is_first = (__match_any_sync(~0u, bin) & lanes_before) == 0;
    if (is_first && part < arguments_.part_count) atomicAdd(&weights[part], 1);
    __syncthreads();
    return BusyPartOf(weights, arguments_.part_count, kHistogramThreads);
  }

 private:
  __device__ static uint32_t Lane() { return threadIdx.x % kWarpLanes; }

  __device__ static uint64_t OwnSample(uint64_t count) {
    return min(count / kHistogramWarps * (threadIdx.x / kWarpLanes) + Lane(), count - 1);
  }

  const HistogramArguments& arguments_;
  SamplePoint<T> point_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_SURVEY_CUH_
