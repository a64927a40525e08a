// A thread keeps sums of float64 columns in units, and answers are made of them here.
//
// Elements are split at two fixed places, as in reduce/core/windows.cuh, and each of the three
// parts is summed as multiples of a unit of its own: in a float64 that begins at an anchor, from
// which on its bits count units. Counts are joined as integers. All parts together are a
// fixed-point number of 128 bits, which is rounded once.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_DOUBLE_UNITS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_DOUBLE_UNITS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/core/pairs.cuh"
#include "kernels/cuda/reduce/core/windows.cuh"
#include "kernels/cuda/reduce/core/words.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/pair_tuning.h"
#include "kernels/numerics/arithmetic/exact_quotient.h"
#include "kernels/numerics/arithmetic/wide_integer.h"
#include "kernels/numerics/sums/expansion_sum.h"
#include "kernels/numerics/sums/pair_sum.h"

namespace gridfold::kernels::cuda {

// Where elements are split. Those of biased exponents up to B are below 2^E, E = B - 1022. With
// units of 2^(E + m - 51), and d = 52 - m bits from each unit to the next: 2^m parts are at most
// 2^51 units together, so that a float64 counts them from its anchor on, in whose binade it stays.
// With 2^t rows, the units of each part fit an int64 where m >= t - 11, and all of them 127 bits
// where 155 + t - 3 m <= 126.
class ColumnSplit {
 public:
  ColumnSplit() = default;
  // `thread_rows`: those of a thread, at most. `largest`: the upper half of a float64's magnitude.
  __device__ ColumnSplit(uint64_t rows, uint64_t thread_rows, uint32_t largest) {
    const int t = 64 - __clzll(static_cast<long long>(rows));
    const int n = 64 - __clzll(static_cast<long long>(thread_rows));
    const int m = max(max(n, t - 11), (t + 31) / 3);
    const int span = 102 - 3 * m;  // The smallest are multiples of the last unit.
    distance_ = 52 - m;
    // Half of the room that ordinary data leaves is for larger elements.
    const int slack = max((span - kOrdinarySpan) / 2, kSlackMin);
    const int biased = static_cast<int>(largest >> 20);
    if (biased < kBiasedMin || biased > kBiasedMax || span <= kSlackMin) return;  // Zeros alone.
    const int biased_max = biased + slack;
    unit_ = biased_max - 1022 - 53 - span;
    limit_ = static_cast<uint32_t>(biased_max + 1) << 20;
    least_less_one_ = (static_cast<uint32_t>(biased_max - span) << 20) - 1;
  }

  __device__ bool Takes(const MagnitudeRange& range) const {
    return range.largest < limit_ && range.smallest_less_one >= least_less_one_;
  }
  // With which the i-th part begins, the last unit's being 0.
  __device__ double Anchor(int i) const { return 1.5 * PowerOfTwo(52 + unit_ + i * distance_); }
  __device__ int unit() const { return unit_; }
  __device__ int distance() const { return distance_; }

 private:
  // Anchors and the last unit are normal numbers, and sums finite.
  static constexpr int kBiasedMin = 300;
  static constexpr int kBiasedMax = 1900;
  static constexpr int kOrdinarySpan = 36;
  static constexpr int kSlackMin = 2;

  int unit_ = 0;
  int distance_ = 0;
  uint32_t limit_ = 1;
  uint32_t least_less_one_ = 0;
};

// Units of each part of a column's sum.
struct alignas(16) ColumnUnits {
  int64_t parts[3];  // From the last.
  uint64_t others;   // Not 0 where an element is anything but a negative zero.

  __device__ void Merge(const ColumnUnits& other) {
#pragma unroll
    for (int i = 0; i < 3; ++i) parts[i] += other.parts[i];
    others |= other.others;
  }
  // The sum, in the last unit.
  __device__ Int128 Sum(int distance) const {
    return (((Int128{parts[2]} << distance) + parts[1]) << distance) + parts[0];
  }
};

// x units, rounded once.
__device__ inline double RoundedUnits(Int128 x, int unit) {
  const Uint128 magnitude = MagnitudeOfInteger(x);
  uint64_t top = static_cast<uint64_t>(magnitude);
  if (const uint64_t upper = static_cast<uint64_t>(magnitude >> 64); upper != 0) {
    const int zeros = __clzll(static_cast<long long>(upper));
    const Uint128 shifted = magnitude << zeros;
    top = static_cast<uint64_t>(shifted >> 64) | (static_cast<uint64_t>(shifted) != 0 ? 1 : 0);
    unit += 64 - zeros;
  }
  const double rounded = __ull2double_rn(top) * PowerOfTwo(unit);
  return x < 0 ? -rounded : rounded;
}

static_assert(sizeof(ColumnUnits) == PairTuning::kDoubleColumnPartialBytes);

// What a thread has of its columns.
class DoubleColumns {
 public:
  static constexpr uint32_t kSize = kVectorSize<double>;

  DoubleColumns() = default;
  __device__ explicit DoubleColumns(const ColumnSplit& split) : split_(split) {
#pragma unroll
    for (uint32_t k = 0; k < kSize; ++k) {
#pragma unroll
      for (int i = 0; i < 3; ++i) parts_[k][i] = split.Anchor(i);
    }
  }

  // Adds rows if the split takes them; returns whether it does.
  template <uint32_t kRows>
  __device__ bool Add(const uint4 (&raw)[kRows]) {
    double values[kRows][kSize];
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) {
      const auto batch = BatchOf<double>(raw[r]);
#pragma unroll
      for (uint32_t k = 0; k < kSize; ++k) values[r][k] = batch.values[k];
    }
    bool has_zero = false;
    holds_ = holds_ && split_.Takes(RangeOfElements(values, has_zero));
    if (!holds_) return false;
    NoteOthers(values, has_zero);
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) {
#pragma unroll
      for (uint32_t k = 0; k < kSize; ++k) AddOne(values[r][k], parts_[k]);
    }
    return true;
  }

  __device__ const ColumnSplit& split() const { return split_; }
  __device__ bool holds() const { return holds_; }
  __device__ ColumnUnits Units(uint32_t k) const {
    ColumnUnits units;
    units.others = others_ >> k & 1;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      units.parts[i] = __double_as_longlong(parts_[k][i]) - __double_as_longlong(split_.Anchor(i));
    }
    return units;
  }

 private:
  template <uint32_t kRows>
  __device__ void NoteOthers(const double (&values)[kRows][kSize], bool has_zero) {
    if (!has_zero) {
      others_ = (1u << kSize) - 1;
      return;
    }
#pragma unroll
    for (uint32_t k = 0; k < kSize; ++k) {
      uint32_t bits = 0;
#pragma unroll
      for (uint32_t r = 0; r < kRows; ++r) bits |= BitsOtherThanOfNegativeZero(values[r][k]);
      others_ |= bits != 0 ? 1u << k : 0;
    }
  }
  __device__ static void AddOne(double x, double (&parts)[3]) {
    const double high = parts[2] + x;
    const double rest = x - (high - parts[2]);
    const double middle = parts[1] + rest;
    parts[0] += rest - (middle - parts[1]);
    parts[2] = high;
    parts[1] = middle;
  }

  ColumnSplit split_;
  bool holds_ = true;
  uint32_t others_ = 0;  // As of ColumnUnits: bit k of the k-th column.
  double parts_[kSize][3];
};

// A column's sum in units of 2^unit, where more than the sum is asked for. Functions that are not
// inlined are seldom needed.
class UnitSum {
 public:
  __device__ UnitSum(const ColumnUnits& units, int distance, int unit)
      : sum_(units.Sum(distance)), unit_(unit), has_others_(units.others != 0) {}

  // Not inlined: sums alone are asked for most.
  __device__ __noinline__ static void Finish(const ReductionParameters& parameters, uint64_t column,
                                             const ColumnUnits& units, int distance, int unit) {
    const UnitSum sum(units, distance, unit);
#pragma unroll 1
    for (uint32_t i = 0; i < parameters.statistic_count; ++i) {
      parameters.slots[parameters.rows[i] * parameters.group_count + column] =
          sum.ValueOf(parameters.statistics[i], parameters.group_size);
    }
    if (parameters.states != nullptr) {
      static_cast<SumOnlyState<double>*>(parameters.states)[column] = sum.State();
    }
  }

 private:
  __device__ uint64_t ValueOf(Statistic statistic, uint64_t size) const {
    if (statistic == Statistic::kCount) return size;
    const double value = !has_others_                    ? -0.0
                         : statistic == Statistic::kMean ? Mean(size)
                                                         : RoundedUnits(sum_, unit_);
    return static_cast<uint64_t>(__double_as_longlong(value));
  }

  // The mean, from the sum as pieces of 42 bits, which are numbers.
  __device__ double Mean(uint64_t size) const {
    constexpr int kPieceBits = 42;
    constexpr uint64_t kPiece = (uint64_t{1} << kPieceBits) - 1;
    const auto number = [&](auto piece, int i) {
      return static_cast<double>(piece) * PowerOfTwo(unit_ + i * kPieceBits);
    };
    PairSum pair{number(static_cast<int64_t>(sum_ >> 2 * kPieceBits), 2), 0};
    pair.Add(number(static_cast<uint64_t>(sum_ >> kPieceBits) & kPiece, 1));
    const SumAndError low =
        SumAndError::Of(pair.low, number(static_cast<uint64_t>(sum_) & kPiece, 0));
    double mean;
    if (MeanDivisor(size).Divide({pair.high, low.sum}, mean, fabs(low.error))) return mean;
    return Quotient(sum_, unit_, size);
  }
  __device__ __noinline__ static double Quotient(Int128 sum, int unit, uint64_t size) {
    const Uint128 magnitude = MagnitudeOfInteger(sum);
    const uint64_t limbs[2] = {static_cast<uint64_t>(magnitude),
                               static_cast<uint64_t>(magnitude >> 64)};
    const double mean =
        RoundToDouble(LeadingQuotient(LimbMagnitude::OfUnsigned(limbs, 2), unit, size));
    return sum < 0 ? -mean : mean;
  }

  __device__ SumOnlyState<double> State() const {
    SumOnlyState<double> state;
    auto& exact = state.Part<kSumPart>().sum;
    exact.AddFlags(has_others_ ? kSawOtherThanNegativeZero : 0);
    exact.AddInteger(MagnitudeOfInteger(sum_), unit_ - ExactSum<double, 1>::kLowestExponent,
                     sum_ < 0);
    return state;
  }

  Int128 sum_;
  int unit_;
  bool has_others_;
};

// Writes what is asked for of a column.
template <bool kSumsAlone>
__device__ inline void FinishUnits(const ReductionParameters& parameters, uint64_t column,
                                   const ColumnSplit& split, const ColumnUnits& units) {
  if constexpr (kSumsAlone) {
    OnlySums(parameters)[column] =
        units.others == 0 ? -0.0 : RoundedUnits(units.Sum(split.distance()), split.unit());
  } else {
    UnitSum::Finish(parameters, column, units, split.distance(), split.unit());
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_DOUBLE_UNITS_CUH_
