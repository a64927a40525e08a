// Blocks look at a few samples, by which they learn whether a part of the bins is busy
// (histogram/plan/deal.h). All look at the same samples, and so they agree.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COUNT_SURVEY_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COUNT_SURVEY_CUH_

#include <cstdint>

#include "kernels/cuda/histogram/place/counters.cuh"
#include "kernels/cuda/histogram/place/locators.cuh"
#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/cuda/histogram/plan/deal.h"

namespace gridfold::kernels::cuda {

// Each warp of a block looks at as many samples side by side as it has lanes.
template <class T, class Locator>
class PartSurvey {
 public:
  __device__ explicit PartSurvey(const HistogramArguments& arguments) : arguments_(arguments) {}

  // Requires that there are samples. They are on their way until they are weighed.
  __device__ void Load() {
    const uint64_t last = arguments_.sample_count - 1;
    const uint64_t warp = threadIdx.x / kWarpLanes;
    const uint64_t first_of_warp = arguments_.sample_count / kHistogramWarps * warp;
    point_ = PointAt<T, Locator::kArrays>(arguments_, min(first_of_warp + Lane(), last));
  }

  // Adds to the weights that BusyPartOf takes, in the block's shared memory.
  __device__ void Weigh(uint32_t* weights) const {
    const Locator locator(arguments_, BinRange::Whole(arguments_));
    const int32_t number = locator.NumberOf(locator.Guess(point_));
    const uint32_t bin = static_cast<uint32_t>(number - locator.zero());
    const uint32_t part = bin / arguments_.bins_per_block;
    const uint32_t lanes_before = (uint32_t{1} << Lane()) - 1;
    const bool is_first = (__match_any_sync(~0u, bin) & lanes_before) == 0;
    if (is_first && part < arguments_.part_count) atomicAdd(&weights[part], 1);
  }

 private:
  __device__ static uint32_t Lane() { return threadIdx.x % kWarpLanes; }

  const HistogramArguments& arguments_;
  SamplePoint<T> point_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COUNT_SURVEY_CUH_
