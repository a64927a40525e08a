// A thread sums elements of any kind in words of its own (words.cuh) in the block's dynamic shared
// memory. Kernels do so where pairs do not hold a sum.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_THREAD_WORDS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_THREAD_WORDS_CUH_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce/core/join.cuh"
#include "kernels/cuda/reduce/core/pairs.cuh"
#include "kernels/cuda/reduce/core/words.cuh"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/sums/exact_sum.h"

namespace gridfold::kernels::cuda {

// Adds elements *at(0) to *at(count - 1) to words. While some are added the next kInFlight are
// under way.
template <class T, uint32_t kInFlight, class At>
__device__ inline void AddToWords(WordColumn words, uint32_t count, At at) {
  using Bits = std::conditional_t<HalfElement<T>, uint16_t, uint32_t>;
  constexpr T kNegativeZero = std::bit_cast<T>(static_cast<Bits>(1u << (8 * sizeof(T) - 1)));
  T ahead[kInFlight];
  const auto load = [&](uint32_t first) {
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) {
      ahead[k] = kNegativeZero;  // Which adds nothing.
      if (first + k < count) ahead[k] = *at(first + k);
    }
  };
  load(0);
#pragma unroll 1
  for (uint32_t first = 0; first < count; first += kInFlight) {
    T taken[kInFlight];
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) taken[k] = ahead[k];
    if (first + kInFlight < count) load(first + kInFlight);
#pragma unroll
    for (const T x : taken) SingleWords<T>::Add(words, ToCompute(x));
  }
}

// Reads words as integers in their units, of which they have less than 2^51.
template <class T>
class WordReader {
  using Words = SingleWords<T>;
  // Bits of an element, from the last of a word's smallest to the first of its largest.
  static constexpr int kElementBits =
      std::is_same_v<T, Float16> ? 40 : Words::kPrecision + (1 << Words::kClassBits) - 1;

 public:
  // Elements that a word takes.
  static constexpr uint32_t kAdditionsMax = 1u << (51 - kElementBits);
  static_assert(kAdditionsMax <= ReduceTuning::kAdditionsMax);

  // Every word once. Of infinities and NaN, which the last has, an integer says nothing.
  __device__ int64_t Read(WordColumn words, uint32_t i) {
    // One after the other: read all at once they take the registers of what called for the sum.
    asm volatile("" ::: "memory");
    const int64_t bits = words[i];
    const double word = __longlong_as_double(bits);
    if (i + 1 == Words::kUsed) flags_ |= ExactSumFlagsOf(word);
    other_bits_ |= bits ^ Words::kUntouched;
    // An addition moves the integer to the last bits.
    const double anchor = 1.5 * PowerOfTwo(52 + Words::Unit(i));
    return __double_as_longlong(word + anchor) - __double_as_longlong(anchor);
  }

  // After all words.
  __device__ uint32_t flags() const {
    return flags_ | (other_bits_ != 0 ? kSawOtherThanNegativeZero : 0);
  }

 private:
  int64_t other_bits_ = 0;
  uint32_t flags_ = 0;
};

// The sum that words stand for: integer(i) gives word i as an integer, below 2^63 in size. Limb
// after limb, in registers.
template <class T, class Integer>
__device__ inline ExactSum<float, 1> SumOfIntegers(Integer integer) {
  using Words = SingleWords<T>;
  using Sum = ExactSum<float, 1>;
  Sum sum;
  Int128 rest = 0;  // From the limb's first bit on: below 2^127, of four words at most.
  int limb = 0;
  const auto end_limb = [&] {
    sum.mutable_limbs()[limb++] = static_cast<uint64_t>(rest);
    rest >>= kLimbBits;
  };
#pragma unroll
  for (uint32_t i = 0; i < Words::kUsed; ++i) {
    const int position = Words::Unit(i) - Sum::kLowestExponent;
#pragma unroll
    while (limb < position / kLimbBits) end_limb();
    rest += Int128{integer(i)} << position % kLimbBits;
  }
#pragma unroll
  while (limb < Sum::kLimbs) end_limb();
  return sum;
}

// A sum rounded once, as ExactSum::Rounded does it: without branches, of limbs in registers.
__device__ inline double RoundedInRegisters(const ExactSum<float, 1>& sum) {
  using Sum = ExactSum<float, 1>;
  if (!sum.is_finite()) return Answered(sum.NotFiniteValue());
  const uint64_t sign =
      static_cast<uint64_t>(static_cast<int64_t>(sum.limbs()[Sum::kLimbs - 1]) >> (kLimbBits - 1));
  // The first limb of the magnitude that is not 0, what is behind it, and its place.
  uint64_t leading = 0;
  uint64_t next = 0;
  bool has_rest = false;
  int place = 0;
  uint64_t below = 0;    // The limb before.
  bool is_used = false;  // Whether a limb before that is not 0.
  uint64_t carry = sign & 1;
#pragma unroll
  for (int i = 0; i < Sum::kLimbs; ++i) {
    const uint64_t limb = (sum.limbs()[i] ^ sign) + carry;
    carry = carry != 0 && limb == 0 ? 1 : 0;
    if (limb != 0) {
      leading = limb;
      next = below;
      has_rest = is_used;
      place = i;
    }
    is_used = is_used || below != 0;
    below = limb;
  }
  const double rounded = RoundToDouble({Uint128{leading} << kLimbBits | next,
                                        Sum::kLowestExponent + (place - 1) * kLimbBits, has_rest});
  return sign != 0 || sum.flags() == 0 ? -rounded : rounded;
}

// Writes what is asked for of a group with such a sum.
template <class T>
__device__ inline void FinishExactSum(const ReductionParameters& parameters, uint64_t group,
                                      uint64_t size, const ExactSum<ComputeType<T>, 1>& sum) {
  if constexpr (sizeof(T) < sizeof(double)) {
    if (double* const only_sums = OnlySums(parameters); only_sums != nullptr) {
      only_sums[group] = size == 0 ? 0.0 : RoundedInRegisters(sum);
      return;
    }
  }
  SumOnlyState<T> state;
  state.template Part<kSumPart>().sum = sum;
  FinishGroup(parameters, group, size, state);
}

// Sums every `stride`-th of some elements, of any kind: group `group`. Not inlined: it is long and
// seldom needed.
template <class T, uint32_t kInFlight>
__device__ __noinline__ void SumThreadInWords(const ReductionParameters& parameters, uint64_t group,
                                              const T* first, uint64_t stride, uint64_t count) {
  constexpr uint64_t kPart = WordReader<T>::kAdditionsMax;
  const WordColumn words = WordsOf(cg::this_thread_block());
  ExactSum<float, 1> sum;
#pragma unroll 1
  for (uint64_t begin = 0; begin < count; begin += kPart) {
    SingleWords<T>::Reset(words);
    AddToWords<T, kInFlight>(words, static_cast<uint32_t>(min(count - begin, kPart)),
                             [&](uint32_t i) { return first + (begin + i) * stride; });
    WordReader<T> reader;
    auto part = SumOfIntegers<T>([&](uint32_t i) { return reader.Read(words, i); });
    part.AddFlags(reader.flags());
    sum.Merge(part);
  }
  FinishExactSum<T>(parameters, group, count, sum);
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_THREAD_WORDS_CUH_
