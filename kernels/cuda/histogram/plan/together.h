// Histograms in one launch, whose blocks meet: all that is cleared, looked up, counted and joined
// for an answer, without a word of the host. For arrays that a few blocks read in the time that
// further launches would take.
//
//   one cluster   counts in each block's shared memory, which the blocks then add up through
//                 distributed shared memory and store: nothing is cleared before, and no atomics
//   one grid      all blocks of a cooperative launch: they clear the answer before they meet, and
//                 add to it behind
//
// Where ranges are automatic the blocks find their samples' extremes, meet, and all resolve the
// range from the extremes of all, by the rule of numerics/bins/automatic_range.h.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_TOGETHER_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_TOGETHER_H_

#include <cstdint>

#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/cuda/histogram/plan/extreme_keys.h"
#include "kernels/types/element_type.h"

namespace gridfold::kernels::cuda {

static_assert(kHistogramTogetherBinsMax == kFewChannels);
inline constexpr uint64_t kTogetherBlocksMax = 256;  // Of a launch.

// What the kernels are given beside the bins and samples. Their `histogram.counters` and `outcomes`
// need not be clear; `counters` follow `outcomes`. Of at most kFewChannels channels.
struct TogetherArguments {
  HistogramArguments histogram;
  uint32_t bins_count = 1;  // Channels, or axes.
  bool needs_range = false;
  bool is_automatic[kFewChannels] = {};  // Those whose layout has nothing but bin_count.
  ExtremeKeys* block_keys = nullptr;     // [block][bins]; where a range is needed.
  ExtremeKeys* keys = nullptr;           // [bins], the extremes of all samples; where one is.
};

using TogetherKernel = void (*)(TogetherArguments);
TogetherKernel FindClusterTogetherKernel(ElementType type);
TogetherKernel FindGridTogetherKernel(ElementType type);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_TOGETHER_H_
