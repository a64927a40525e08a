// The pass over all elements of a sampled group, which counts the keys of each region and keeps
// those of some (narrow.h).
#include "kernels/cuda/order/keep.cuh"
#include "kernels/cuda/order/narrow.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint32_t kThreads = kOrderBlockThreads;
constexpr uint32_t kWarps = kThreads / kWarpLanes;

// Adds to what is known of a region other than the first. The last one may be that of NaNs.
__device__ void AddToRegion(const KeepArguments& arguments, uint32_t region, uint64_t count) {
  if (count == 0) return;
  AddTo(&arguments.regions->counts[region], count);
  if (arguments.has_nan_keys && region == arguments.regions->start_count) {
    AddTo(&arguments.state->nan_count, count);
  }
}

// Regions with at most `kStarts` starts, one of them kept: a thread compares keys with all starts.
template <class Key, uint32_t kStarts>
class FewRegions {
 public:
  struct Shared {};

  __device__ FewRegions(Shared&, const KeyRegions& regions) : start_count_(regions.start_count) {
#pragma unroll
    for (uint32_t s = 0; s < kStarts; ++s) {
      starts_[s] = s < start_count_ ? static_cast<Key>(regions.starts[s]) : kLargest;
    }
    for (uint32_t r = 0; r <= start_count_; ++r) {
      if (regions.is_kept[r] == 0) continue;
      keeps_ = true;
      kept_begin_ = r > 0 ? static_cast<Key>(regions.starts[r - 1]) : Key{0};
      const Key last = r < start_count_ ? static_cast<Key>(regions.starts[r] - 1) : kLargest;
      kept_span_ = last - kept_begin_;
    }
  }

  // Counts keys, and says by bits which are to be kept. Keys of the first region are not counted.
  template <uint32_t kKeys>
  __device__ uint32_t Look(const Key (&keys)[kKeys]) {
    uint32_t kept = 0;
#pragma unroll
    for (uint32_t j = 0; j < kKeys; ++j) {
#pragma unroll
      for (uint32_t s = 0; s < kStarts; ++s) from_[s] += keys[j] >= starts_[s] ? 1 : 0;
      kept |= static_cast<Key>(keys[j] - kept_begin_) <= kept_span_ ? 1u << j : 0;
    }
    return keeps_ ? kept : 0;
  }

  __device__ void Finish(const KeepArguments& arguments) {
#pragma unroll
    for (uint32_t s = 0; s < kStarts; ++s) {
      if (s >= start_count_) break;
      const uint32_t further =
          s + 1 < kStarts && s + 1 < start_count_ ? from_[(s + 1) % kStarts] : 0;
      const uint32_t count = __reduce_add_sync(kAllLanes, from_[s] - further);
      if (LaneId() == 0) AddToRegion(arguments, s + 1, count);
    }
  }

 private:
  static constexpr Key kLargest = static_cast<Key>(~Key{0});

  const uint32_t start_count_;
  Key starts_[kStarts];
  uint32_t from_[kStarts] = {};  // Keys from each start on.
  bool keeps_ = false;
  Key kept_begin_ = 0;
  Key kept_span_ = 0;
};

// Any regions, which a key finds by halving. A counter of each lane, so that no two add to the same
// one at a time; an array with 2^32 keys of a block and lane would have 2^37 elements.
template <class Key>
class ManyRegions {
 public:
  struct Shared {
    Key starts[kRegionsMax];
    uint32_t is_kept[kRegionsMax];
    uint32_t counts[kRegionsMax][kWarpLanes];
  };

  // By all threads of a block.
  __device__ ManyRegions(Shared& shared, const KeyRegions& regions)
      : shared_(shared), start_count_(regions.start_count) {
    while (room_ <= start_count_) room_ *= 2;
    // Behind the starts stand the largest keys: whoever goes past them is in the last region.
    for (uint32_t r = threadIdx.x; r < room_; r += kThreads) {
      shared_.starts[r] = r < start_count_ ? static_cast<Key>(regions.starts[r]) : kLargest;
      shared_.is_kept[r] = regions.is_kept[min(r, start_count_)];
    }
    for (uint32_t i = threadIdx.x; i < room_ * kWarpLanes; i += kThreads) {
      shared_.counts[i / kWarpLanes][i % kWarpLanes] = 0;
    }
    __syncthreads();
  }

  template <uint32_t kKeys>
  __device__ uint32_t Look(const Key (&keys)[kKeys]) {
    uint32_t region[kKeys] = {};
    for (uint32_t half = room_ / 2; half > 0; half /= 2) {
#pragma unroll
      for (uint32_t j = 0; j < kKeys; ++j) {
        region[j] += shared_.starts[region[j] + half - 1] <= keys[j] ? half : 0;
      }
    }
    uint32_t kept = 0;
#pragma unroll
    for (uint32_t j = 0; j < kKeys; ++j) {
      atomicAdd(&shared_.counts[region[j]][LaneId()], 1u);
      kept |= shared_.is_kept[region[j]] << j;
    }
    return kept;
  }

  // By all threads of a block.
  __device__ void Finish(const KeepArguments& arguments) {
    __syncthreads();
    for (uint32_t r = 1 + threadIdx.x / kWarpLanes; r < room_; r += kWarps) {
      const uint64_t count = WarpSum(shared_.counts[r][LaneId()]);
      if (LaneId() == 0) AddToRegion(arguments, min(r, start_count_), count);
    }
  }

 private:
  static constexpr Key kLargest = static_cast<Key>(~Key{0});

  __device__ static uint64_t WarpSum(uint64_t value) {
#pragma unroll
    for (uint32_t apart = kWarpLanes / 2; apart > 0; apart /= 2) {
      value += __shfl_xor_sync(kAllLanes, value, apart);
    }
    return value;
  }

  Shared& shared_;
  const uint32_t start_count_;
  uint32_t room_ = 2;  // Regions, with those that nothing falls into; a power of two.
};

// Keys of the way that they are wanted for.
template <class T, KeepForm kForm>
__device__ OrderKey<T> KeyOf(T x, const KeyKind& kind) {
  if constexpr (kForm == KeepForm::kTop) return ToSelectionKey(x, kind.smallest, kind.ignores_nan);
  return ToOrderKey(x);
}

template <class Key, KeepForm kForm>
struct RegionsOfForm {
  using Type = ManyRegions<Key>;
};
template <class Key>
struct RegionsOfForm<Key, KeepForm::kOneTarget> {
  using Type = FewRegions<Key, 5>;  // Two starts of either bound, and that of NaNs.
};
template <class Key>
struct RegionsOfForm<Key, KeepForm::kTop> {
  using Type = FewRegions<Key, 2>;
};

template <class T, KeepForm kForm>
__global__ void __launch_bounds__(kThreads) KeepRegions(const KeepArguments arguments) {
  using Key = OrderKey<T>;
  using Regions = typename RegionsOfForm<Key, kForm>::Type;
  using Keeper = WarpKeeper<Key, kForm == KeepForm::kTop>;
  constexpr uint32_t kKeys = kVectorElements<T>;
  __shared__ typename Keeper::Buffer buffers[kWarps];
  __shared__ typename Regions::Shared shared;
  Regions regions(shared, *arguments.regions);
  Keeper keeper(buffers[threadIdx.x / kWarpLanes],
                {static_cast<Key*>(arguments.kept), arguments.kept_indices, arguments.kept_room,
                 &arguments.state->kept_count});
  // Where there is no element, the key is one of the first region, which is not counted.
  const auto look = [&](const Key(&keys)[kKeys], uint64_t index, uint32_t valid) {
    const uint32_t kept = regions.Look(keys) & valid;
    if (!__any_sync(kAllLanes, kept != 0)) return;
#pragma unroll
    for (uint32_t j = 0; j < kKeys; ++j) keeper.Add(keys[j], index + j, (kept >> j & 1) != 0);
  };
  const SharingWarps warps(arguments.count);
  ForEachVector(
      static_cast<const T*>(arguments.elements), arguments.count, warps.own(), warps.count(),
      [&](T x, uint64_t index, bool is_valid) {
        const Key keys[kKeys] = {is_valid ? KeyOf<T, kForm>(x, arguments.kind) : Key{0}};
        look(keys, index, is_valid ? 1 : 0);
      },
      [&](const T* values, uint64_t index, bool is_valid) {
        Key keys[kKeys];
#pragma unroll
        for (uint32_t j = 0; j < kKeys; ++j) {
          keys[j] = is_valid ? KeyOf<T, kForm>(values[j], arguments.kind) : Key{0};
        }
        look(keys, index, is_valid ? (1u << kKeys) - 1 : 0);
      });
  keeper.Flush();
  regions.Finish(arguments);
}

}  // namespace

void (*FindKeepKernel(ElementType type, KeepForm form))(KeepArguments) {
  return VisitElementType(type, [form](auto tag) -> void (*)(KeepArguments) {
    using T = typename decltype(tag)::type;
    if constexpr (sizeof(T) >= 4) {
      switch (form) {
        case KeepForm::kOneTarget: return KeepRegions<T, KeepForm::kOneTarget>;
        case KeepForm::kTargets: return KeepRegions<T, KeepForm::kTargets>;
        case KeepForm::kTop: return KeepRegions<T, KeepForm::kTop>;
      }
    }
    return nullptr;
  });
}

}  // namespace gridfold::kernels::cuda
