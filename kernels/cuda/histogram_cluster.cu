// The strategy for bins that fit the shared memory of a cluster's blocks together.
//
// Each block counts its own range of bins, of all samples of the cluster. A sample is read and
// located once, by one block; its bin's number is left in that block's shared memory, from where
// the others read it, many in one access. (A remote atomic addition for each sample takes the
// network between multiprocessors several times as long.)
#include <cooperative_groups.h>

#include "kernels/cuda/histogram_sampler.cuh"
#include "kernels/cuda/histogram_strategy.h"

namespace gridfold::kernels::cuda {

namespace {

static_assert(kClusterItems == kSamplerItems && kClusterItems == 4, "bin numbers move as a uint4");

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

// In no block's range.
constexpr uint32_t kNoBin = ~uint32_t{0};

// Counters of the bins [first, first + size) in a block's shared memory.
struct BinRange {
  uint32_t* counters;
  uint32_t first;
  uint32_t size;

  __device__ void Clear() {
    for (uint32_t i = threadIdx.x; i < size; i += blockDim.x) counters[i] = 0;
  }

  __device__ void Add(uint32_t bin) {
    const uint32_t offset = bin - first;
    if (offset < size) atomicAdd(&counters[offset], 1u);
  }

  // Adds the counters to the totals in device memory and clears them.
  __device__ void Flush(const HistogramArguments& arguments) {
    auto* const totals = reinterpret_cast<unsigned long long*>(arguments.counters) + first;
    for (uint32_t i = threadIdx.x; i < size; i += blockDim.x) {
      if (counters[i] != 0) atomicAdd(&totals[i], static_cast<unsigned long long>(counters[i]));
      counters[i] = 0;
    }
  }
};

// Counts the samples of the steps [begin, end). `exchange` has room for two uint4 of each thread:
// one is read by the cluster while the other is written.
template <class T>
__device__ void CountSteps(const cooperative_groups::cluster_group& cluster, Sampler<T>& sampler,
                           uint32_t begin, uint32_t end, BinRange& range, uint4* exchange) {
  T next[kSamplerItems];
  sampler.Load(begin, next);
  uint32_t slot = threadIdx.x;
  for (uint32_t step = begin; step < end; step += kSamplerItems) {
    T samples[kSamplerItems];
#pragma unroll
    for (int k = 0; k < kSamplerItems; ++k) samples[k] = next[k];
    sampler.Load(step + kSamplerItems, next);
    uint32_t bins[kSamplerItems];
    sampler.Place(step, end, samples, [&](int k, int64_t bin) {
      bins[k] = bin < 0 ? kNoBin : static_cast<uint32_t>(bin);
    });
    exchange[slot] = make_uint4(bins[0], bins[1], bins[2], bins[3]);
    // Also: whoever reads the other half has read it before arriving here, so it may be written
    // next.
    cluster.sync();
    const uint32_t size = cluster.num_blocks();
    // Each block begins with itself, so that not all ask the same one at once.
    uint32_t peer = cluster.block_rank();
    for (uint32_t r = 0; r < size; ++r) {
      const uint4 found = cluster.map_shared_rank(exchange, peer)[slot];
      range.Add(found.x);
      range.Add(found.y);
      range.Add(found.z);
      range.Add(found.w);
      peer = peer + 1 == size ? 0 : peer + 1;
    }
    slot = slot < blockDim.x ? slot + blockDim.x : slot - blockDim.x;
  }
}

template <class T>
__device__ void CountAll(const HistogramArguments& arguments) {
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  const auto block = cooperative_groups::this_thread_block();
  const auto cluster = cooperative_groups::this_cluster();
  unsigned char* part = shared;
  BinRange range{.counters = reinterpret_cast<uint32_t*>(part),
                 .first = cluster.block_rank() * arguments.bins_per_block,
                 .size = arguments.bins_per_block};
  part += HistogramPartBytes(range.size * sizeof(uint32_t));
  const double* const edges = CopyEdges(arguments, reinterpret_cast<double*>(part));
  if (edges != nullptr) part += HistogramPartBytes(arguments.edge_count * sizeof(double));
  uint4* const exchange = reinterpret_cast<uint4*>(part);
  range.Clear();
  block.sync();

  Sampler<T> sampler(arguments, edges);
  for (uint64_t begin = 0; begin < sampler.steps(); begin += arguments.steps_per_flush) {
    const uint64_t end = min(begin + arguments.steps_per_flush, uint64_t{sampler.steps()});
    CountSteps(cluster, sampler, static_cast<uint32_t>(begin), static_cast<uint32_t>(end), range,
               exchange);
    cluster.sync();  // Nobody reads this block's bin numbers any more.
    range.Flush(arguments);
    block.sync();
  }
  sampler.ReportOutcomes();
}

#else

// Never launched: there are no clusters before compute capability 9.0.
template <class T>
__device__ void CountAll(const HistogramArguments&) {}

#endif

template <class T>
__global__ void __launch_bounds__(kHistogramThreads)
    CountInCluster(const HistogramArguments arguments) {
  CountAll<T>(arguments);
}

}  // namespace

HistogramKernel FindClusterHistogramKernel(ElementType type) {
  return VisitElementType(type, [](auto tag) -> HistogramKernel {
    return CountInCluster<typename decltype(tag)::type>;
  });
}

}  // namespace gridfold::kernels::cuda
