#include "kernels/cuda/bykey/block.cuh"
#include "kernels/cuda/bykey/kernels.h"
#include "kernels/numerics/arithmetic/ordered_key.h"
#include "kernels/numerics/bins/axes.h"

namespace gridfold::kernels::cuda {

namespace {

template <class T>
__global__ void __launch_bounds__(kKeyThreads)
    KeyExtremes(const void* const keys, const uint64_t count, KeyFacts* const facts) {
  uint64_t least_inverted = 0;
  uint64_t largest = 0;
  for (uint64_t i = FirstElement(); i < count; i += ElementStep()) {
    const uint64_t number = OrderedKey(static_cast<const T*>(keys)[i]);
    least_inverted = least_inverted > ~number ? least_inverted : ~number;
    largest = largest > number ? largest : number;
  }
#pragma unroll
  for (uint32_t step = 16; step > 0; step /= 2) {
    const uint64_t other_least = __shfl_down_sync(kAllLanes, least_inverted, step);
    const uint64_t other_largest = __shfl_down_sync(kAllLanes, largest, step);
    least_inverted = least_inverted > other_least ? least_inverted : other_least;
    largest = largest > other_largest ? largest : other_largest;
  }
  if (threadIdx.x % 32 != 0) return;
  atomicMax(AtomicWord(&facts->least_inverted), least_inverted);
  atomicMax(AtomicWord(&facts->largest), largest);
}

template <class T, class Number>
__global__ void __launch_bounds__(kKeyThreads)
    NumberKeys(const void* const keys, const uint64_t count, const uint64_t least,
               void* const numbers) {
  for (uint64_t i = FirstElement(); i < count; i += ElementStep()) {
    static_cast<Number*>(numbers)[i] =
        static_cast<Number>(OrderedKey(static_cast<const T*>(keys)[i]) - least);
  }
}

// Adds up what the threads of a warp have counted.
__device__ void AddOutcomes(uint64_t* const outcomes, const uint32_t (&counted)[3]) {
#pragma unroll
  for (uint32_t k = 0; k < 3; ++k) {
    const uint32_t of_warp = __reduce_add_sync(kAllLanes, counted[k]);
    if (threadIdx.x % 32 == 0 && of_warp != 0) atomicAdd(AtomicWord(&outcomes[k]), of_warp);
  }
}

template <class T>
__global__ void __launch_bounds__(kKeyThreads)
    NumberAxis(const KeyAxisArguments arguments, uint32_t* const numbers, KeyFacts* const facts) {
  uint32_t counted[3] = {};
  uint64_t first_outside_inverted = 0;
  for (uint64_t i = FirstElement(); i < arguments.count; i += ElementStep()) {
    const int64_t located = LocateBin(arguments.bins, static_cast<const T*>(arguments.keys)[i]);
    const AxesPlace place = PlaceOnAxis(arguments.is_first ? kFirstAxis : numbers[i], located,
                                        arguments.bins.bin_count, arguments.policy);
    if (!arguments.is_last) {
      numbers[i] = place;
      continue;
    }
    numbers[i] = BinOf(place) == kInNoBin ? arguments.dropped : BinOf(place);
    const int64_t outcome = OutcomeOf(place);
    if (outcome == 0) continue;
    counted[0] += outcome == kUnderflowBin ? 1 : 0;
    counted[1] += outcome == kOverflowBin ? 1 : 0;
    counted[2] += outcome == kNanBin ? 1 : 0;
    first_outside_inverted = first_outside_inverted > ~i ? first_outside_inverted : ~i;
  }
  AddOutcomes(facts->outcomes, counted);
  if (first_outside_inverted != 0) {
    atomicMax(AtomicWord(&facts->first_outside_inverted), first_outside_inverted);
  }
}

template <class Number>
__global__ void __launch_bounds__(kKeyThreads)
    Survey(const void* const numbers, const uint64_t count, KeyFacts* const facts) {
  const Number* const all = static_cast<const Number*>(numbers);
  Number varying = 0;
  bool descends = false;
  for (uint64_t i = FirstElement(); i < count; i += ElementStep()) {
    const Number number = all[i];
    varying |= number ^ all[0];
    descends |= i > 0 && number < all[i - 1];
  }
#pragma unroll
  for (uint32_t step = 16; step > 0; step /= 2) {
    varying |= __shfl_down_sync(kAllLanes, varying, step);
  }
  const bool any_descends = __any_sync(kAllLanes, descends);
  if (threadIdx.x % 32 != 0) return;
  if (varying != 0) atomicOr(AtomicWord(&facts->varying_bits), varying);
  if (any_descends) atomicOr(AtomicWord(&facts->has_descent), 1ull);
}

}  // namespace

KeyExtremesKernel FindKeyExtremesKernel(ElementType type) {
  return VisitElementType(type, [](auto tag) -> KeyExtremesKernel {
    using T = typename decltype(tag)::type;
    if constexpr (IntegerElement<T>) return KeyExtremes<T>;
    return nullptr;
  });
}

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

SurveyKernel FindSurveyKernel(bool is_narrow) {
  return is_narrow ? Survey<uint32_t> : Survey<uint64_t>;
}

}  // namespace gridfold::kernels::cuda
