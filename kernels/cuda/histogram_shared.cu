// The strategy for bins that fit one block's shared memory.
#include <cooperative_groups.h>

#include "kernels/cuda/histogram_sampler.cuh"
#include "kernels/cuda/histogram_strategy.h"

namespace gridfold::kernels::cuda {

namespace {

// Counters of a block. The copies of a counter stand side by side, each for other lanes of a warp.
// They have 32 bits and are added up before they can overflow.
class SharedCounters {
 public:
  __device__ SharedCounters(const HistogramArguments& arguments, uint32_t* counters)
      : arguments_(arguments), counters_(counters), copy_(threadIdx.x & (arguments.copies - 1)) {}

  __device__ uint32_t size() const { return arguments_.bins_per_block * arguments_.copies; }

  __device__ void Clear() {
    for (uint32_t i = threadIdx.x; i < size(); i += blockDim.x) counters_[i] = 0;
  }

  // The hardware joins additions of 1 to one word of shared memory by itself.
  __device__ void AddSample(uint64_t bin) {
    atomicAdd(&counters_[bin * arguments_.copies + copy_], 1u);
  }

  // Adds all copies to the totals in device memory and clears them.
  __device__ void Flush() {
    auto* const totals = reinterpret_cast<unsigned long long*>(arguments_.counters);
    for (uint32_t bin = threadIdx.x; bin < arguments_.bins_per_block; bin += blockDim.x) {
      unsigned long long total = 0;
      for (uint32_t c = 0; c < arguments_.copies; ++c) {
        uint32_t& counter = counters_[bin * arguments_.copies + c];
        total += counter;
        counter = 0;
      }
      if (total != 0) atomicAdd(&totals[bin], total);
    }
  }

 private:
  const HistogramArguments& arguments_;
  uint32_t* const counters_;
  const uint32_t copy_;
};

template <class T>
__global__ void __launch_bounds__(kHistogramThreads)
    CountInShared(const HistogramArguments arguments) {
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  const auto block = cooperative_groups::this_thread_block();
  SharedCounters counters(arguments, reinterpret_cast<uint32_t*>(shared));
  counters.Clear();
  const double* const edges = CopyEdges(
      arguments,
      reinterpret_cast<double*>(shared + HistogramPartBytes(counters.size() * sizeof(uint32_t))));
  block.sync();

  Sampler<T> sampler(arguments, edges);
  for (uint64_t begin = 0; begin < sampler.steps(); begin += arguments.steps_per_flush) {
    const uint64_t end = min(begin + arguments.steps_per_flush, uint64_t{sampler.steps()});
    sampler.ForEach(static_cast<uint32_t>(begin), static_cast<uint32_t>(end),
                    [&](uint64_t bin, uint32_t) { counters.AddSample(bin); });
    block.sync();
    counters.Flush();
    block.sync();
  }
  sampler.ReportOutcomes();
}

}  // namespace

HistogramKernel FindSharedHistogramKernel(ElementType type) {
  return VisitElementType(type, [](auto tag) -> HistogramKernel {
    return CountInShared<typename decltype(tag)::type>;
  });
}

}  // namespace gridfold::kernels::cuda
