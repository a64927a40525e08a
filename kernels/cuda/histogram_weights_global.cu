// Sums of weights in device memory.
#include <cooperative_groups.h>

#include "kernels/cuda/histogram_sampler.cuh"
#include "kernels/cuda/histogram_strategy.h"
#include "kernels/cuda/histogram_weights.cuh"

namespace gridfold::kernels::cuda {

namespace {

// The sums of the bins of one pass.
class GlobalSums {
 public:
  __device__ explicit GlobalSums(const HistogramArguments& arguments) : arguments_(arguments) {}

  __device__ bool Has(uint64_t bin) const {
    return bin - arguments_.first_bin < arguments_.pass_bin_count;
  }

  __device__ void AddFlags(uint64_t bin, uint32_t flags) {
    atomicOr(WordOf(bin, arguments_.weight_layout.words - 1),
             static_cast<unsigned long long>(flags));
  }

  __device__ void AddDigit(uint64_t bin, uint32_t digit, int64_t value) {
    atomicAdd(WordOf(bin, digit), static_cast<unsigned long long>(value));
  }

 private:
  __device__ unsigned long long* WordOf(uint64_t bin, uint32_t word) const {
    return reinterpret_cast<unsigned long long*>(arguments_.counters) +
           (bin - arguments_.first_bin) * arguments_.weight_layout.words + word;
  }

  const HistogramArguments& arguments_;
};

template <class T>
__global__ void __launch_bounds__(kHistogramThreads)
    SumInGlobal(const __grid_constant__ HistogramArguments arguments) {
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  const double* const edges = CopyEdges(arguments, reinterpret_cast<double*>(shared));
  cooperative_groups::this_thread_block().sync();
  GlobalSums sums(arguments);
  Sampler<T> sampler(arguments, edges);
  sampler.ForEach(0, sampler.steps(), [&](uint64_t bin, uint32_t step) {
    if (!sums.Has(bin)) return;
    AddWeight(sums, bin, LoadWeight(arguments, sampler.SampleAt(step)), arguments.flags_kept);
  });
  if (arguments.outcomes != nullptr) sampler.ReportOutcomes();
}

}  // namespace

HistogramKernel FindGlobalWeightsKernel(ElementType type) {
  return VisitElementType(
      type, [](auto tag) -> HistogramKernel { return SumInGlobal<typename decltype(tag)::type>; });
}

}  // namespace gridfold::kernels::cuda
