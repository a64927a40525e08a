#include "kernels/cuda/bykey/block.cuh"
#include "kernels/cuda/bykey/kernels.h"
#include "kernels/numerics/arithmetic/ordered_key.h"
#include "kernels/numerics/bins/axes.h"

namespace gridfold::kernels::cuda {

namespace {

template <class T, class Number>
__global__ void __launch_bounds__(kKeyThreads)
    NumberKeys(const void* const keys, const uint64_t count, const uint64_t first,
               void* const numbers) {
  for (uint64_t i = FirstElement(); i < count; i += ElementStep()) {
    static_cast<Number*>(numbers)[i] =
        static_cast<Number>(OrderedKey(static_cast<const T*>(keys)[i]) - first);
  }
}

// Adds up what the threads of a warp have counted.
__device__ void AddCounted(uint32_t counted, uint64_t* const total) {
  const uint32_t of_warp = __reduce_add_sync(kAllLanes, counted);
  if (threadIdx.x % 32 == 0 && of_warp != 0) atomicAdd(AtomicWord(total), of_warp);
}

template <class T>
__global__ void __launch_bounds__(kKeyThreads)
    NumberAxis(const KeyAxisArguments arguments, uint32_t* const numbers, KeyFacts* const facts) {
  uint32_t counted[3] = {};
  uint32_t dropped = 0;
  uint64_t first_outside_inverted = 0;
  for (uint64_t i = FirstElement(); i < arguments.count; i += ElementStep()) {
    const int64_t located = LocateBin(arguments.bins, static_cast<const T*>(arguments.keys)[i]);
    const AxesPlace place = PlaceOnAxis(arguments.is_first ? kFirstAxis : numbers[i], located,
                                        arguments.bins.bin_count, arguments.policy);
    if (!arguments.is_last) {
      numbers[i] = place;
      continue;
    }
    const bool is_dropped = BinOf(place) == kInNoBin;
    numbers[i] = is_dropped ? arguments.dropped : BinOf(place);
    dropped += is_dropped ? 1 : 0;
    const int64_t outcome = OutcomeOf(place);
    if (outcome == 0) continue;
    counted[0] += outcome == kUnderflowBin ? 1 : 0;
    counted[1] += outcome == kOverflowBin ? 1 : 0;
    counted[2] += outcome == kNanBin ? 1 : 0;
    first_outside_inverted = first_outside_inverted > ~i ? first_outside_inverted : ~i;
  }
  for (uint32_t k = 0; k < 3; ++k) AddCounted(counted[k], &facts->outcomes[k]);
  AddCounted(dropped, &facts->dropped_count);
  if (first_outside_inverted != 0) {
    atomicMax(AtomicWord(&facts->first_outside_inverted), first_outside_inverted);
  }
}

}  // namespace

NumberKeysKernel FindNumberKeysKernel(ElementType type, bool is_narrow) {
  return VisitElementType(type, [is_narrow](auto tag) -> NumberKeysKernel {
    using T = typename decltype(tag)::type;
    if constexpr (IntegerElement<T>) {
      return is_narrow ? NumberKeys<T, uint32_t> : NumberKeys<T, uint64_t>;
    }
    return nullptr;
  });
}

NumberAxisKernel FindNumberAxisKernel(ElementType type) {
  return VisitElementType(
      type, [](auto tag) -> NumberAxisKernel { return NumberAxis<typename decltype(tag)::type>; });
}

}  // namespace gridfold::kernels::cuda
