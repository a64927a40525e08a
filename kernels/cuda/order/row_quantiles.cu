// Quantiles of short groups: a warp holds the keys of a group in registers, and halves the interval
// in which the wanted key lies until that is the least or the largest key in it.
//
// Example, rank 2 of the keys 3 5 6 9: of [3, 9] the middle is 6, and three keys are no larger, so
// that [3, 6] is left; its rank is the last one of three, and its largest key the wanted one.
#include <type_traits>

#include "kernels/cuda/order/team_select.cuh"

namespace gridfold::kernels::cuda {

namespace {

// The least and the largest of the lanes' words.
__device__ uint32_t WarpMin(uint32_t word) { return __reduce_min_sync(kAllLanes, word); }
__device__ uint32_t WarpMax(uint32_t word) { return __reduce_max_sync(kAllLanes, word); }
__device__ uint64_t WarpMin(uint64_t word) {
#pragma unroll
  for (uint32_t apart = kWarpLanes / 2; apart > 0; apart /= 2) {
    const uint64_t other = __shfl_xor_sync(kAllLanes, static_cast<unsigned long long>(word), apart);
    word = other < word ? other : word;
  }
  return word;
}
__device__ uint64_t WarpMax(uint64_t word) { return ~WarpMin(~word); }

// A group's keys, of which each lane has kItems at most. All members are called by all lanes.
template <class T, uint32_t kItems>
class HeldKeys {
 public:
  using Key = OrderKey<T>;
  using Word = std::conditional_t<sizeof(Key) == 8, uint64_t, uint32_t>;

  __device__ HeldKeys(const T* elements, uint32_t count) : count_(count) {
    Word least = kAbsent;
    Word largest = 0;
    uint32_t nans = 0;
    T read[kItems];
#pragma unroll
    for (uint32_t k = 0; k < kItems; ++k) {
      const uint32_t i = k * kWarpLanes + LaneId();
      read[k] = i < count ? elements[i] : T{};
    }
#pragma unroll
    for (uint32_t k = 0; k < kItems; ++k) {
      const bool is_there = k * kWarpLanes + LaneId() < count;
      const Key key = ToOrderKey(read[k]);
      words_[k] = is_there ? Word{key} : kAbsent;
      nans += is_there && IsNanKey<T>(key) ? 1 : 0;
      if (is_there && words_[k] > largest) largest = words_[k];
      if (words_[k] < least) least = words_[k];
    }
    nan_count_ = __reduce_add_sync(kAllLanes, nans);
    least_ = WarpMin(least);
    largest_ = WarpMax(largest);
    first_ = least_;
  }

  __device__ uint32_t nan_count() const { return nan_count_; }

  // The key of a rank below the number of keys. Goes on from the last one where ranks ascend.
  __device__ Word Find(uint32_t rank) {
    if (rank < before_) {
      first_ = least_;
      before_ = 0;
    }
    Word last = largest_;
    uint32_t until = count_;  // Keys up to the last one.
    while (first_ < last && rank != before_ && rank + 1 != until) {
      const Word middle = first_ + (last - first_) / 2;
      const uint32_t up_to_middle = CountUpTo(middle);
      if (rank < up_to_middle) {
        last = middle;
        until = up_to_middle;
      } else {
        first_ = middle + 1;
        before_ = up_to_middle;
      }
    }
    return rank == before_ ? LeastFrom(first_) : LargestUpTo(last);
  }

  // The key of the rank after that of `key`, which is not the last one.
  __device__ Word FindNext(Word key, uint32_t rank) const {
    return rank + 1 < CountUpTo(key) ? key : LeastFrom(key + 1);
  }

 private:
  // In the place of keys that are not there: no other is larger, and ranks are below their number.
  static constexpr Word kAbsent = static_cast<Word>(~Word{0});

  __device__ uint32_t CountUpTo(Word bound) const {
    uint32_t count = 0;
#pragma unroll
    for (uint32_t k = 0; k < kItems; ++k) count += words_[k] <= bound ? 1 : 0;
    return __reduce_add_sync(kAllLanes, count);
  }
  __device__ Word LeastFrom(Word bound) const {
    Word least = kAbsent;
#pragma unroll
    for (uint32_t k = 0; k < kItems; ++k) {
      if (words_[k] >= bound && words_[k] < least) least = words_[k];
    }
    return WarpMin(least);
  }
  __device__ Word LargestUpTo(Word bound) const {
    Word largest = 0;
#pragma unroll
    for (uint32_t k = 0; k < kItems; ++k) {
      if (words_[k] <= bound && words_[k] > largest) largest = words_[k];
    }
    return WarpMax(largest);
  }

  Word words_[kItems];
  const uint32_t count_;
  uint32_t nan_count_;
  Word least_;
  Word largest_;
  // No key before the wanted one of the last rank is left out from here on, and so many are below.
  Word first_;
  uint32_t before_ = 0;
};

template <class T, uint32_t kItems>
__global__ void __launch_bounds__(kWarpTeamThreads)
    QuantilesOfRows(const QuantileArguments arguments) {
  const T* const elements = static_cast<const T*>(arguments.groups.elements);
  ForEachGroup<WarpTeam>(arguments.groups, [&](uint64_t g, const GroupPlace& place) {
    HeldKeys<T, kItems> keys(elements + place.begin, static_cast<uint32_t>(place.size));
    const uint64_t numbers = place.size - keys.nan_count();
    const bool is_nan = keys.nan_count() > 0 && !arguments.ignores_nan;
    for (uint32_t t = 0; t < arguments.target_count; ++t) {
      const QuantileTarget target = arguments.targets[t];
      uint64_t slot = kNanSlot;
      if (!is_nan && HasPlace(target, numbers)) {
        const QuantilePlace at = PlaceOf(target, numbers, arguments.method);
        const auto rank = static_cast<uint32_t>(at.lower);
        const auto lower = keys.Find(rank);
        const auto upper = at.upper == at.lower ? lower : keys.FindNext(lower, rank);
        slot = TargetSlot<T>(target, at.weight, arguments.method, static_cast<OrderKey<T>>(lower),
                             static_cast<OrderKey<T>>(upper));
      }
      if (LaneId() == 0) arguments.slots[t * arguments.groups.group_count + g] = slot;
    }
  });
}

}  // namespace

QuantileKernel FindRowQuantileKernel(ElementType type, uint64_t largest_group) {
  return VisitElementType(type, [largest_group](auto tag) -> QuantileKernel {
    using T = typename decltype(tag)::type;
    if (largest_group <= 2 * kWarpLanes) return QuantilesOfRows<T, 2>;
    if (largest_group <= 8 * kWarpLanes) return QuantilesOfRows<T, 8>;
    if (largest_group <= 16 * kWarpLanes) return QuantilesOfRows<T, 16>;
    return QuantilesOfRows<T, 32>;
  });
}

}  // namespace gridfold::kernels::cuda
