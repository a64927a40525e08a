// The strategy for bins that fit one block's shared memory.
#include <cooperative_groups.h>

#include "kernels/cuda/histogram_counters.cuh"
#include "kernels/cuda/histogram_sampler.cuh"
#include "kernels/cuda/histogram_strategy.h"

namespace gridfold::kernels::cuda {

namespace {

// Counters of a block. The copies of a counter stand side by side, each for other lanes of a warp.
template <class Adder>
class SharedCounters {
 public:
  using Private = typename Adder::Private;
  using Total = typename Adder::Total;

  __device__ SharedCounters(const HistogramArguments& arguments, Private* counters)
      : arguments_(arguments), counters_(counters), copy_(threadIdx.x & (arguments.copies - 1)) {}

  __device__ uint32_t size() const { return arguments_.bins_per_block * arguments_.copies; }

  __device__ void Clear() {
    for (uint32_t i = threadIdx.x; i < size(); i += blockDim.x) counters_[i] = 0;
  }

  __device__ void Add(uint64_t bin, uint64_t sample) {
    Adder::AddSample(counters_, bin * arguments_.copies + copy_, arguments_, sample);
  }

  // Adds all copies to the totals in device memory and clears them.
  __device__ void Flush() {
    Total* const totals = static_cast<Total*>(arguments_.counters);
    for (uint32_t bin = threadIdx.x; bin < arguments_.bins_per_block; bin += blockDim.x) {
      Total total = 0;
      for (uint32_t c = 0; c < arguments_.copies; ++c) {
        Private& counter = counters_[bin * arguments_.copies + c];
        total += counter;
        counter = 0;
      }
      if (total != 0) atomicAdd(&totals[bin], total);
    }
  }

 private:
  const HistogramArguments& arguments_;
  Private* const counters_;
  const uint32_t copy_;
};

template <class T, class Adder>
__global__ void __launch_bounds__(kHistogramThreads)
    CountInShared(const HistogramArguments arguments) {
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  const auto block = cooperative_groups::this_thread_block();
  using Private = typename Adder::Private;
  SharedCounters<Adder> counters(arguments, reinterpret_cast<Private*>(shared));
  counters.Clear();
  const double* const edges = CopyEdges(
      arguments,
      reinterpret_cast<double*>(shared + HistogramPartBytes(counters.size() * sizeof(Private))));
  block.sync();

  Sampler<T> sampler(arguments, edges);
  for (uint64_t begin = 0; begin < sampler.steps(); begin += arguments.steps_per_flush) {
    const uint64_t end = min(begin + arguments.steps_per_flush, uint64_t{sampler.steps()});
    sampler.ForEach(
        static_cast<uint32_t>(begin), static_cast<uint32_t>(end),
        [&](uint64_t bin, uint32_t step) { counters.Add(bin, sampler.SampleAt(step)); });
    block.sync();
    counters.Flush();
    block.sync();
  }
  sampler.ReportOutcomes();
}

}  // namespace

HistogramKernel FindSharedHistogramKernel(ElementType type, bool weighted) {
  return VisitElementType(type, [&](auto tag) -> HistogramKernel {
    using T = typename decltype(tag)::type;
    if (weighted) return CountInShared<T, WeightAdder>;
    return CountInShared<T, CountAdder>;
  });
}

}  // namespace gridfold::kernels::cuda
