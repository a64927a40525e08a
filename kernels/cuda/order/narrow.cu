// From a sample to regions of keys, and from their counts to places among the kept keys (narrow.h).
#include "kernels/cuda/order/narrow.h"
#include "kernels/cuda/order/wanted.cuh"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint32_t kThreads = kOrderBlockThreads;

// Keeps the keys of the sample, in the place of all elements.
template <class T>
__global__ void __launch_bounds__(kThreads) GatherSample(const SampleArguments arguments) {
  const uint64_t size = uint64_t{1} << arguments.size_log2;
  const T* const elements = static_cast<const T*>(arguments.elements);
  OrderKey<T>* const kept = static_cast<OrderKey<T>*>(arguments.kept);
  const ElementKeys<T> to_key{arguments.kind};
  const uint64_t first = uint64_t{blockIdx.x} * kThreads + threadIdx.x;
#pragma unroll 4  // So many loads under way.
  for (uint64_t i = first; i < size; i += uint64_t{gridDim.x} * kThreads) {
    kept[i] = to_key(elements[SampledIndex(i, arguments.count, arguments.size_log2)]);
  }
  if (first == 0) {
    arguments.state->kept_count = size;
    arguments.state->reads_kept = 1;
  }
}

// Wants the sample's keys at the bounds of all targets. One block, of which two threads take one.
__global__ void __launch_bounds__(kWantedMax) WantBounds(const BoundsArguments arguments) {
  const uint64_t size = uint64_t{1} << arguments.size_log2;
  const uint32_t t = threadIdx.x / 2;
  const bool is_lower = threadIdx.x % 2 == 0;
  SampleBounds bounds;
  if (t < arguments.target_count) {
    bounds = arguments.targets != nullptr ? BoundsOfTarget(arguments.targets[t], arguments.count,
                                                           size, size - arguments.state->nan_count)
                                          : BoundsOfTop(arguments.selected, arguments.count, size);
    if (is_lower) arguments.regions->bounds[t] = bounds;
  }
  static_assert(kOpenRank == kNoRank);
  WantRanks(*arguments.state, is_lower ? bounds.lower : bounds.upper);
}

// Keys between which a target's lies, both included, and whether each was found more than once in
// the sample.
struct KeyBounds {
  uint64_t lower;
  uint64_t upper;
  bool lower_is_frequent;
  bool upper_is_frequent;
};

__device__ KeyBounds BoundsOf(const BoundsArguments& arguments, uint32_t target) {
  KeyBounds keys{0, arguments.key_max - (arguments.has_nan_keys ? 1 : 0), false, false};
  const SampleBounds& ranks = arguments.regions->bounds[target];
  if (ranks.lower != kOpenRank) {
    const WantedKey& wanted = WantedAt(*arguments.state, ranks.lower);
    keys.lower = wanted.key;
    keys.lower_is_frequent = wanted.equal > 1;
  }
  if (ranks.upper != kOpenRank) {
    const WantedKey& wanted = WantedAt(*arguments.state, ranks.upper);
    keys.upper = wanted.key;
    keys.upper_is_frequent = wanted.equal > 1;
  }
  return keys;
}

// Makes regions of targets' bounds: one begins at a lower bound and one behind an upper bound, and
// a frequent bound is a region of its own, since it may stand for any number of elements.
class RegionMaker {
 public:
  struct Shared {
    KeyBounds bounds[kSampledTargetsMax];
    uint64_t found[kRegionsMax];  // Starts as targets have them; 0 is none.
    bool is_first[kRegionsMax];   // Of those that are the same.
    uint64_t starts[kRegionsMax];
    uint32_t start_count;
  };

  __device__ RegionMaker(const BoundsArguments& arguments, Shared& shared)
      : arguments_(arguments), shared_(shared) {}

  // By a block of kRegionsMax threads.
  __device__ void Run() {
    const uint32_t i = threadIdx.x;
    if (i < arguments_.target_count) shared_.bounds[i] = BoundsOf(arguments_, i);
    if (i == 0) shared_.start_count = 0;
    __syncthreads();
    shared_.found[i] = FoundStart(i);
    __syncthreads();
    shared_.is_first[i] = IsFirst(i);
    __syncthreads();
    if (shared_.is_first[i]) PutInPlace(shared_.found[i]);
    __syncthreads();
    KeyRegions& regions = *arguments_.regions;
    regions.counts[i] = 0;
    if (i < shared_.start_count) regions.starts[i] = shared_.starts[i];
    if (i <= shared_.start_count) regions.is_kept[i] = IsKept(i) ? 1 : 0;
    if (i == 0) regions.start_count = shared_.start_count;
  }

 private:
  // Four of each target, and behind them that of NaNs.
  __device__ uint64_t FoundStart(uint32_t i) const {
    const uint32_t t = i / 4;
    if (t > arguments_.target_count) return 0;
    if (t == arguments_.target_count) {
      return i % 4 == 0 && arguments_.has_nan_keys ? arguments_.key_max : 0;
    }
    const KeyBounds& bounds = shared_.bounds[t];
    switch (i % 4) {
      case 0: return bounds.lower;
      case 1: return bounds.lower_is_frequent ? After(bounds.lower) : 0;
      case 2: return bounds.upper_is_frequent ? bounds.upper : 0;
      default: return After(bounds.upper);
    }
  }
  __device__ uint64_t After(uint64_t key) const { return key < arguments_.key_max ? key + 1 : 0; }

  __device__ bool IsFirst(uint32_t i) const {
    for (uint32_t j = 0; j < i; ++j) {
      if (shared_.found[j] == shared_.found[i]) return false;
    }
    return shared_.found[i] != 0;
  }

  __device__ void PutInPlace(uint64_t start) {
    uint32_t place = 0;
    for (uint32_t j = 0; j < kRegionsMax; ++j) {
      place += shared_.is_first[j] && shared_.found[j] < start ? 1 : 0;
    }
    shared_.starts[place] = start;
    atomicAdd(&shared_.start_count, 1u);
  }

  // Whether the region has several keys, all of them between the bounds of a target.
  __device__ bool IsKept(uint32_t r) const {
    const uint64_t first = r > 0 ? shared_.starts[r - 1] : 0;
    const uint64_t last = r < shared_.start_count ? shared_.starts[r] - 1 : arguments_.key_max;
    if (first == last) return false;
    for (uint32_t t = 0; t < arguments_.target_count; ++t) {
      const KeyBounds& bounds = shared_.bounds[t];
      if (first >= bounds.lower && last <= bounds.upper) return true;
    }
    return false;
  }

  const BoundsArguments& arguments_;
  Shared& shared_;
};

// One block.
__global__ void __launch_bounds__(kRegionsMax) MakeRegions(const BoundsArguments arguments) {
  __shared__ RegionMaker::Shared shared;
  RegionMaker(arguments, shared).Run();
  if (threadIdx.x != 0) return;
  DigitState& state = *arguments.state;  // The sample's, but for what was read of it.
  state.nan_count = 0;
  state.kept_count = 0;
  state.reads_kept = 0;
}

// The place of a wanted key among those that were kept.
class WantedPlacer {
 public:
  struct Shared {
    uint64_t counts[kRegionsMax];
    uint64_t before[kRegionsMax];       // Keys of the regions before,
    uint64_t kept_before[kRegionsMax];  // and those that were kept.
  };

  // By all threads of a block.
  __device__ WantedPlacer(const KeepArguments& arguments, Shared& shared)
      : arguments_(arguments), regions_(*arguments.regions), shared_(shared) {
    const uint32_t last = regions_.start_count;
    const uint32_t r = threadIdx.x;
    if (r <= last) shared_.counts[r] = r > 0 ? regions_.counts[r] : 0;
    __syncthreads();
    if (r == 0) {
      uint64_t others = 0;
      for (uint32_t i = 1; i <= last; ++i) others += shared_.counts[i];
      shared_.counts[0] = arguments.count - others;
    }
    __syncthreads();
    if (r <= last) {
      uint64_t before = 0;
      uint64_t kept_before = 0;
      for (uint32_t i = 0; i < r; ++i) {
        before += shared_.counts[i];
        kept_before += regions_.is_kept[i] != 0 ? shared_.counts[i] : 0;
      }
      shared_.before[r] = before;
      shared_.kept_before[r] = kept_before;
    }
    __syncthreads();
  }

  // False where the key was not kept, and is not the only one of its region.
  __device__ bool Place(WantedKey& wanted) const {
    uint32_t r = regions_.start_count;
    while (shared_.before[r] > wanted.rank) --r;
    const uint64_t in_region = wanted.rank - shared_.before[r];
    if (regions_.is_kept[r] != 0) {
      wanted.left = shared_.kept_before[r] + in_region;
      return true;
    }
    const uint64_t first = r > 0 ? regions_.starts[r - 1] : 0;
    const uint64_t last = r < regions_.start_count ? regions_.starts[r] - 1 : arguments_.key_max;
    if (first != last) return false;
    wanted.left = in_region;
    wanted.equal = shared_.counts[r];
    wanted.key = first;
    wanted.is_known = 1;
    return true;
  }

 private:
  const KeepArguments& arguments_;
  const KeyRegions& regions_;
  Shared& shared_;
};

// One block. Where a wanted key has no place, all are looked for among all elements.
__global__ void __launch_bounds__(kWantedMax) PlaceWanted(const KeepArguments arguments) {
  __shared__ WantedPlacer::Shared shared;
  DigitState& state = *arguments.state;
  const WantedPlacer placer(arguments, shared);
  const bool is_wanted = threadIdx.x < state.wanted_count;
  bool is_placed = state.kept_count <= arguments.kept_room;
  WantedKey wanted;
  if (is_wanted) {
    wanted = state.wanted[threadIdx.x];
    is_placed = placer.Place(wanted) && is_placed;
  }
  const bool are_placed = __syncthreads_and(is_placed ? 1 : 0) != 0;
  if (is_wanted && are_placed) state.wanted[threadIdx.x] = wanted;
  if (threadIdx.x != 0) return;
  state.is_narrowed = are_placed ? 1 : 0;
  state.reads_kept = state.is_narrowed;
  if (!are_placed) state.kept_count = 0;
}

}  // namespace

void (*FindGatherSampleKernel(ElementType type))(SampleArguments) {
  return VisitElementType(type, [](auto tag) -> void (*)(SampleArguments) {
    using T = typename decltype(tag)::type;
    if constexpr (sizeof(T) >= 4) return GatherSample<T>;
    return nullptr;
  });
}
void (*FindWantBoundsKernel())(BoundsArguments) { return WantBounds; }
void (*FindMakeRegionsKernel())(BoundsArguments) { return MakeRegions; }
void (*FindPlaceWantedKernel())(KeepArguments) { return PlaceWanted; }

}  // namespace gridfold::kernels::cuda
