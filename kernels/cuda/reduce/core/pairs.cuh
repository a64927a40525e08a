// A thread sums floating-point elements in pairs of doubles, in registers, for groups of which
// nothing but the sum is needed.
//
// Floats, and smaller elements, whose magnitudes lie within some binades of each other, as they
// nearly always do, are added some at a time in double precision, which then rounds nothing, and
// such sums are kept as a pair (numerics/sums/pair_sum.h). Once the elements are read, their range
// of magnitudes tells whether that was exact. Float64 elements are kept as a pair that knows what
// it lost. Where the pair does not tell the value that is asked for, the elements are read again
// and added in words (words.cuh).
//
// Example, floats 1.5, 2^20 and 2^-3:
//
//   24 bits of each element, and 23 binades from 2^-3 to 2^20: a double's 53 bits hold every sum
//   with 2^60 instead of 2^20 they may not: the range says so, and the group goes to words
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_PAIRS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_PAIRS_CUH_

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/core/windows.cuh"
#include "kernels/cuda/reduce/core/words.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/statistics/reduction_state.h"
#include "kernels/numerics/sums/expansion_sum.h"
#include "kernels/numerics/sums/pair_sum.h"

namespace gridfold::kernels::cuda {

// Bits from the last of the smallest of a range of elements, as floats, to the first of the
// largest; more than any sum has room for where one of them is not finite.
template <class T = float>
__device__ inline int SpanBits(const MagnitudeRange& range) {
  using Format = SingleWords<T>;
  constexpr int kBoundless = 1 << 16;
  if (range.largest == 0) return 0;
  if (range.largest >= __float_as_uint(std::numeric_limits<float>::infinity())) return kBoundless;
  // Subnormal numbers have the exponent of the smallest normal ones.
  const auto exponent = [](uint32_t magnitude) {
    return max(static_cast<int>(magnitude >> 23),
               Format::kLowestExponent + 126 + Format::kPrecision);
  };
  return exponent(range.largest) - exponent(range.smallest_less_one + 1) + Format::kPrecision;
}

// Whether a double holds every sum of some of `kCount` elements of a range, as floats, if all are
// finite. The difference of their bits bounds that of their exponents; it is 1 where all are zeros.
template <uint32_t kCount, class T = float>
__device__ inline bool DoubleHolds(const MagnitudeRange& range) {
  constexpr uint32_t kBinades =
      std::numeric_limits<double>::digits - SingleWords<T>::kPrecision - std::bit_width(kCount);
  return range.largest - range.smallest_less_one <= kBinades << 23;
}

// Whether a double holds every sum of some of any number of floats of a range, and all are finite.
__device__ inline bool DoubleHoldsAll(const MagnitudeRange& range, uint32_t count) {
  const int binades = std::numeric_limits<double>::digits - std::numeric_limits<float>::digits -
                      (std::numeric_limits<uint32_t>::digits - __clz(static_cast<int>(count)));
  return range.largest < __float_as_uint(std::numeric_limits<float>::infinity()) && binades >= 0 &&
         range.largest - range.smallest_less_one <= static_cast<uint32_t>(binades) << 23;
}

// The range over the lanes of a warp, in all of them.
__device__ inline MagnitudeRange RangeOfWarp(const MagnitudeRange& range) {
  return {__reduce_max_sync(~0u, range.largest), __reduce_min_sync(~0u, range.smallest_less_one)};
}

__device__ inline PairSum PairOfLane(const Warp& warp, const PairSum& pair, uint32_t distance) {
  return {warp.shfl_xor(pair.high, distance), warp.shfl_xor(pair.low, distance)};
}

// What threads add up at most times on the way of an element to the sum of a group that so many of
// them share.
__device__ inline uint32_t ChainOf(uint32_t count, uint32_t threads) {
  return count / threads + 64;
}

// The range of the elements of some vectors.
template <class T>
class VectorMagnitudes {
 public:
  __device__ void Add(const uint4& raw) {
#pragma unroll
    for (const float x : BatchOf<T>(raw).values) range_.Add(MagnitudeBits(x));
  }
  __device__ MagnitudeRange Range() const { return range_; }

 private:
  MagnitudeRange range_;
};
// Two at a time, before they are converted.
template <HalfElement T>
class VectorMagnitudes<T> {
 public:
  __device__ void Add(const uint4& raw) {
#pragma unroll
    for (const uint32_t pair : {raw.x, raw.y, raw.z, raw.w}) {
      const uint32_t magnitudes = pair & 0x7FFF'7FFFu;
      largest_ = __vmaxu2(largest_, magnitudes);
      smallest_less_one_ = __viaddmin_u16x2(magnitudes, ~uint32_t{0}, smallest_less_one_);
    }
  }
  __device__ MagnitudeRange Range() const {
    const uint32_t largest = max(largest_ & kMask, largest_ >> 16);
    const uint32_t smallest_less_one = min(smallest_less_one_ & kMask, smallest_less_one_ >> 16);
    MagnitudeRange range{BitsOf(largest), ~uint32_t{0}};
    if (smallest_less_one != kMask) range.smallest_less_one = BitsOf(smallest_less_one + 1) - 1;
    return range;
  }

 private:
  static constexpr uint32_t kMask = 0xFFFF;
  // The bits of a magnitude, as a float has them.
  __device__ static uint32_t BitsOf(uint32_t magnitude) {
    return MagnitudeBits(ToCompute(std::bit_cast<T>(static_cast<uint16_t>(magnitude))));
  }

  uint32_t largest_ = 0;  // Of the elements in either half of what is loaded.
  uint32_t smallest_less_one_ = ~uint32_t{0};
};

// The sum of vectors of floats, or smaller elements, in doubles, before a pair takes it.
template <class T>
struct PlainSums {
  VectorMagnitudes<T> magnitudes;
  double sums[2] = {-0.0, -0.0};

  __device__ void Add(const uint4& raw) {
    magnitudes.Add(raw);
    const auto batch = BatchOf<T>(raw);
#pragma unroll
    for (uint32_t i = 0; i < kVectorSize<T>; ++i) {
      sums[i % 2] += static_cast<double>(batch.values[i]);
    }
  }
};

// A sum as a pair, and what tells whether it is exact.
struct RangedPair {
  PairSum pair;
  MagnitudeRange range;

  // Adds `kCount` elements.
  template <uint32_t kCount>
  __device__ void Add(const float (&values)[kCount]) {
    MagnitudeRange of_values;
    double sum = -0.0;
#pragma unroll
    for (uint32_t i = 0; i < kCount; ++i) {
      of_values.Add(MagnitudeBits(values[i]));
      sum += static_cast<double>(values[i]);
    }
    if (Take<kCount>(of_values, sum)) return;
#pragma unroll
    for (uint32_t i = 0; i < kCount; ++i) pair.Add(values[i]);
  }
  // Adds the sum of kCount elements if it is exact; returns whether it is. Else they are to be
  // added to the pair one by one.
  template <uint32_t kCount>
  __device__ bool Take(const MagnitudeRange& of_elements, double sum) {
    range.Merge(of_elements);
    if (!DoubleHolds<kCount>(of_elements)) return false;
    pair.Add(sum);
    return true;
  }

  // Joins the sums of each `width` neighbouring lanes, which are of `count` elements together, in
  // all of them. Returns whether doubles did: then it is their sum.
  __device__ bool JoinLanes(const Warp& warp, uint32_t width, uint32_t count) {
    if (width == ReduceTuning::kWarpThreads) {
      range = RangeOfWarp(range);
    } else {
#pragma unroll 1
      for (uint32_t distance = width / 2; distance > 0; distance /= 2) {
        range.Merge({warp.shfl_xor(range.largest, distance),
                     warp.shfl_xor(range.smallest_less_one, distance)});
      }
    }
    const bool is_plain = warp.all(DoubleHoldsAll(range, count));
#pragma unroll 1
    for (uint32_t distance = width / 2; distance > 0; distance /= 2) {
      if (is_plain) {
        pair.high += warp.shfl_xor(pair.high, distance);
      } else {
        pair.Merge(PairOfLane(warp, pair, distance));
      }
    }
    return is_plain;
  }

  // Whether it is the sum of `count` elements; `chain` as in PairHolds.
  __device__ bool Holds(uint32_t count, uint32_t chain) const {
    return PairHolds(SpanBits(range), count, chain);
  }
};

// A lane's pair of float64 elements.
struct LanePair : CheckedPair {
  template <uint32_t kCount>
  __device__ void Add(const double (&values)[kCount]) {
#pragma unroll
    for (const double x : values) CheckedPair::Add(x);
  }
  __device__ void MergeLane(const Warp& warp, const LanePair& given, uint32_t distance) {
    CheckedPair other;
    other.high = warp.shfl_xor(given.high, distance);
    other.low = warp.shfl_xor(given.low, distance);
    other.lost = warp.shfl_xor(given.lost, distance);
    Merge(other);
  }
  __device__ bool JoinLanes(const Warp& warp, uint32_t width, uint32_t) {
#pragma unroll 1
    for (uint32_t distance = width / 2; distance > 0; distance /= 2) {
      MergeLane(warp, *this, distance);
    }
    return false;
  }
};

template <class T>
using GroupSum = std::conditional_t<sizeof(T) == sizeof(double), LanePair, RangedPair>;

// A vector of elements that add nothing.
template <class T, class Vector = uint4>
__device__ inline Vector NegativeZeros() {
  constexpr uint32_t kUpper = HalfElement<T> ? 0x8000'8000u : 0x8000'0000u;
  constexpr uint32_t kLower = sizeof(T) == 8 ? 0 : kUpper;
  if constexpr (sizeof(Vector) == sizeof(uint32_t)) {
    return kUpper;
  } else if constexpr (sizeof(Vector) == sizeof(uint2)) {
    return {kLower, kUpper};
  } else {
    return {kLower, kUpper, kLower, kUpper};
  }
}

template <class T>
using SumOnlyState = ReductionState<T, kSumPart>;

// Joins the states of lanes that are multiples of `distance` apart, in all of them.
template <class T>
__device__ inline void MergeStates(const Warp& warp, uint32_t distance, SumOnlyState<T>& state) {
  auto& sum = state.template Part<kSumPart>().sum;
#pragma unroll 1
  for (; distance < ReduceTuning::kWarpThreads; distance *= 2) {
    std::remove_reference_t<decltype(sum)> other;
#pragma unroll
    for (int i = 0; i < other.kLimbs; ++i) {
      other.mutable_limbs()[i] = warp.shfl_xor(sum.limbs()[i], distance);
    }
    other.AddFlags(warp.shfl_xor(sum.flags(), distance));
    sum.Merge(other);
  }
}

// The sum of every `stride`-th of some elements, of any kind. Not inlined: it is long and seldom
// needed. Words are in the thread's local memory.
template <class T>
__device__ __noinline__ SumOnlyState<T> SumInWords(const T* first, uint64_t stride,
                                                   uint64_t count) {
  using Words = SingleWords<T>;
  int64_t storage[Words::kCount];
  const WordColumn words{storage, 1};
  SumOnlyState<T> state;
  auto& sum = state.template Part<kSumPart>().sum;
#pragma unroll 1
  while (count > 0) {
    const uint64_t part = count < ReduceTuning::kAdditionsMax ? count : ReduceTuning::kAdditionsMax;
    Words::Reset(words);
#pragma unroll 4
    for (uint64_t i = 0; i < part; ++i) Words::Add(words, ToCompute(first[i * stride]));
    uint32_t flags = 0;
#pragma unroll 1
    for (uint32_t i = 0; i < Words::kUsed; ++i) words[i] = Words::Integer(i, words[i], flags);
    sum.AddFlags(flags);
#pragma unroll 1
    for (uint32_t i = 0; i < Words::kUsed && sum.is_finite(); ++i) {
      if (words[i] != 0) Words::AddTo(sum, i, words[i]);
    }
    first += part * stride;
    count -= part;
  }
  return state;
}

// sum / size of a sum of T. Not inlined, as what follows: seldom needed.
template <class T>
struct PairMean {
  __device__ __noinline__ static double Of(double high, double low, uint64_t size) {
    return ExactSumOf<ComputeType<T>>({high, low}).Quotient(size);
  }
};

template <class T>
__device__ __noinline__ void StorePairState(void* states, uint64_t group, double high, double low) {
  SumOnlyState<T> state;
  state.template Part<kSumPart>().sum = ExactSumOf<ComputeType<T>>({high, low});
  static_cast<SumOnlyState<T>*>(states)[group] = state;
}

// The value of a statistic that needs nothing but the sum, as it is answered; no mean.
__device__ inline uint64_t ValueOfPlainPair(Statistic statistic, uint64_t size,
                                            const PairSum& sum) {
  if (statistic == Statistic::kCount) return size;
  const double value = size == 0      ? 0.0
                       : sum.low == 0 ? sum.high  // A negative zero, maybe.
                                      : sum.high + sum.low;
  return static_cast<uint64_t>(__double_as_longlong(value));
}
// Means by a function that is not inlined, which leaves more registers to what is around it, or
// where that has enough, mostly inlined.
template <class T>
struct MeanApart {
  __device__ __noinline__ static double Of(double high, double low, uint64_t size) {
    double mean;
    const bool is_divided = MeanDivisor(size).Divide({high, low}, mean);
    return is_divided ? mean : ExactSumOf<ComputeType<T>>({high, low}).Quotient(size);
  }
};
template <class T>
struct MeanInlined {
  __device__ static double Of(double high, double low, uint64_t size) {
    double mean;
    if (!MeanDivisor(size).Divide({high, low}, mean)) mean = PairMean<T>::Of(high, low, size);
    return mean;
  }
};
template <class Mean>
__device__ inline uint64_t ValueOfPair(Statistic statistic, uint64_t size, const PairSum& sum) {
  if (statistic != Statistic::kMean) return ValueOfPlainPair(statistic, size, sum);
  return static_cast<uint64_t>(__double_as_longlong(Mean::Of(sum.high, sum.low, size)));
}

// A double as it is answered: all NaNs have the same bits.
__device__ inline double Answered(double x) {
  return __longlong_as_double(static_cast<int64_t>(Slot(x)));
}

// Where sums of groups are written if nothing else is asked for; else null.
__device__ inline double* OnlySums(const ReductionParameters& parameters) {
  if (!parameters.AskForOnly(Statistic::kSum)) return nullptr;
  return reinterpret_cast<double*>(parameters.slots) + parameters.rows[0] * parameters.group_count;
}

// Writes all that is asked for of a group of `size` elements with an exact sum.
template <class T, class Mean = MeanInlined<T>>
__device__ inline void FinishPair(const ReductionParameters& parameters, uint64_t group,
                                  uint64_t size, const PairSum& sum) {
#pragma unroll 1
  for (uint32_t i = 0; i < parameters.statistic_count; ++i) {
    parameters.slots[parameters.rows[i] * parameters.group_count + group] =
        ValueOfPair<Mean>(parameters.statistics[i], size, sum);
  }
  if (parameters.states != nullptr) {
    StorePairState<T>(parameters.states, group, sum.high, sum.low);
  }
}

// Writes what is asked for of a group whose sum may not be exact, if that is certain; returns
// whether it is.
template <class T>
__device__ inline bool TryFinish(const ReductionParameters& parameters, uint64_t group,
                                 uint64_t size, const RangedPair& sum, bool holds, uint32_t chain) {
  if (!holds && !sum.Holds(static_cast<uint32_t>(size), chain)) return false;
  FinishPair<T>(parameters, group, size, sum.pair);
  return true;
}

// Writes the values, but not the states, of a group whose sum may not be exact, if they are
// certain; returns whether they are.
__device__ inline bool TryFinishValues(const ReductionParameters& parameters, uint64_t group,
                                       const MeanDivisor& divisor, uint64_t size,
                                       const CheckedPair& sum) {
  const double error = sum.Error();
  bool is_certain = true;
#pragma unroll 1
  for (uint32_t i = 0; i < parameters.statistic_count; ++i) {
    const Statistic statistic = parameters.statistics[i];
    uint64_t& slot = parameters.slots[parameters.rows[i] * parameters.group_count + group];
    if (statistic == Statistic::kCount) {
      slot = size;
      continue;
    }
    double value;
    is_certain = (statistic == Statistic::kMean ? divisor.Divide(sum.pair(), value, error)
                                                : sum.Round(error, value)) &&
                 is_certain;
    slot = static_cast<uint64_t>(__double_as_longlong(size == 0 ? 0.0 : value));
  }
  return is_certain;
}
template <class T>
__device__ inline bool TryFinish(const ReductionParameters& parameters, uint64_t group,
                                 uint64_t size, const LanePair& sum, bool, uint32_t) {
  if (!TryFinishValues(parameters, group, MeanDivisor(size), size, sum)) return false;
  if (parameters.states == nullptr) return true;
  if (!sum.IsExact()) return false;
  StorePairState<T>(parameters.states, group, sum.high, sum.low);
  return true;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_PAIRS_CUH_
