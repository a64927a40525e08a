// A lane keeps several statistics of the rows of its column of float64 elements in registers
// (kernels.cuh).
//
// Elements of a window of binades are multiples of a unit. A few rows at a time, the sum of their
// elements and the sum of their squares are split at fixed places, from anchors on
// (reduce/core/windows.cuh), and the upper parts are added up as integers. The lower part of
// squares is rounded; the true value is the one nearest to it that agrees with what products of
// significands, in integers, tell modulo 2^64 (reduce/core/double_window.cuh). Elements outside the
// window are few: they are put on a list.
//
// Example of the last step, modulo 100 instead of 2^64:
//
//   rounded: 41,230 with an error below 50       products of integers: the value ends in 57
//   nearest number that ends in 57: 41,257
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_DOUBLE_MOMENT_COLUMNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_DOUBLE_MOMENT_COLUMNS_CUH_

#include <bit>
#include <cstdint>
#include <limits>

#include "kernels/cuda/reduce/columns/vectors.cuh"
#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/bounded_values.cuh"
#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/core/windows.cuh"
#include "kernels/cuda/reduce/core/words.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/arithmetic/wide_integer.h"
#include "kernels/numerics/statistics/bounded_moments.h"
#include "kernels/numerics/statistics/reduction_state.h"
#include "kernels/numerics/statistics/scaled_state.h"

namespace gridfold::kernels::cuda {

// Where the elements of a column may lie: below 2^E, and not below 2^(E - 1 - S). They are
// multiples of U = 2^(E - 53 - S), their squares of U^2. n = 8 of them are added up together.
//
// Sums are split at multiples of 2^(E - 48), of which a float64 counts those of n elements from its
// anchor on. What is left of an element is 2^(E - 49) at most, and of 2^14 elements, those of a
// thread, a float64 holds the sum: 4 + S + 14 <= 53.
//
// Squares are below 2^P, P = 2 E, and split at multiples of 2^(P - 49) = 2^(57 + 2 S) U^2. What is
// left is at most 2^(P - 50), rounded by 2^(P - 104), and n - 1 sums of it by 2^(P - 101) each:
// together by less than 2^(P - 98) = 2^(8 + 2 S) U^2, a quarter of 2^64 U^2.
class DoubleColumnWindow {
 public:
  static constexpr uint32_t kTogether = 8;
  static constexpr int kSpan = 27;  // S.

  DoubleColumnWindow() = default;
  // The window for elements whose largest magnitude is given, as the upper half of a float64.
  __device__ explicit DoubleColumnWindow(uint32_t largest) {
    const int biased = static_cast<int>(largest >> 20) + kSlack;
    limit_ = static_cast<uint32_t>(min(max(biased, kBiasedMin), kBiasedMax) + 1) << 20;
  }

  __device__ bool Takes(const MagnitudeRange& range) const {
    return range.largest < limit_ && range.smallest_less_one >= LeastLessOne();
  }
  // Whether an element that it does not take may be listed.
  __device__ bool TakesOnList(uint32_t magnitude) const {
    return magnitude < limit_ + (kListedAbove << 20) &&
           magnitude >= limit_ - ((1 + kSpan + kListedBelow) << 20);
  }
  // The exponent from which on shifts of significands are counted, modulo 32.
  __device__ uint32_t LeastBiased() const { return (limit_ >> 20) - 1 - kSpan; }
  __device__ double sum_anchor() const { return 1.5 * PowerOfTwo(52 + Exponent() - 48); }
  __device__ double square_anchor() const { return PowerOfTwo(52 + 2 * Exponent() - 49); }
  __device__ int unit() const { return Exponent() - 53 - kSpan; }
  // 2^-32 U^-2.
  __device__ double per_unit() const { return PowerOfTwo(-32 - 2 * unit()); }

  // Bits from U to where sums are split, and from U^2 to where squares are.
  static constexpr int kSumDistance = 5 + kSpan;
  static constexpr int kSquareDistance = 57 + 2 * kSpan;
  // Listed elements are multiples of 2^-kListedBelow U.
  static constexpr int kListedBelow = 64;
  static constexpr int kListedAbove = 24;

 private:
  static constexpr int kSlack = 2;
  // All units, anchors and statistics are normal numbers.
  static constexpr int kBiasedMin = 800;
  static constexpr int kBiasedMax = 1480;

  __device__ int Exponent() const { return static_cast<int>(limit_ >> 20) - 1023; }
  __device__ uint32_t LeastLessOne() const { return limit_ - ((1u + kSpan) << 20) - 1; }

  uint32_t limit_ = static_cast<uint32_t>(kBiasedMin + 1) << 20;
};

// Elements of a tile that its windows do not take.
class DoubleOutliers {
 public:
  struct Entry {
    double value;
    uint32_t column;  // Of the tile.
  };
  static_assert(sizeof(Entry) == MomentTuning::kDoubleOutlierBytes);

  __device__ DoubleOutliers(const ColumnWork& work, uint64_t tile) : work_(work), tile_(tile) {}

  // Returns whether there was room.
  __device__ bool Add(uint32_t column, double x) const {
    const uint32_t i = atomicAdd(&work_.outlier_counts[tile_], 1u);
    if (i >= work_.outliers_max) return false;
    Entries()[i] = {x, column};
    return true;
  }
  __device__ bool IsEmpty() const { return __ldcg(&work_.outlier_counts[tile_]) == 0; }
  // Calls f(value) for those of a column of the tile.
  template <class F>
  __device__ void ForEachOf(uint32_t column, F f) const {
    const uint32_t count = min(__ldcg(&work_.outlier_counts[tile_]), work_.outliers_max);
    const Entry* const entries = Entries();
    constexpr uint32_t kTogether = 8;
#pragma unroll 1
    for (uint32_t first = 0; first < count; first += kTogether) {
      uint32_t are_of = 0;
#pragma unroll
      for (uint32_t i = 0; i < kTogether; ++i) {
        if (entries[min(first + i, count - 1)].column == column) are_of |= 1u << i;
      }
      for (; are_of != 0; are_of &= are_of - 1) {
        const uint32_t i = first + static_cast<uint32_t>(__ffs(static_cast<int>(are_of))) - 1;
        if (i < count) f(entries[i].value);
      }
    }
  }

 private:
  __device__ Entry* Entries() const {
    return static_cast<Entry*>(work_.outliers) + tile_ * work_.outliers_max;
  }

  const ColumnWork& work_;
  uint64_t tile_;
};

// What is known of a column, or of some rows of it.
struct DoubleColumnMoments {
  struct Rest {
    uint64_t zeros = 0;
    int unit = std::numeric_limits<int>::min();  // U of its window is 2^unit.
    uint32_t has_others = 0;                     // Than negative zeros.

    __device__ void Merge(const Rest& other) {
      zeros += other.zeros;
      unit = max(unit, other.unit);
      has_others |= other.has_others;
    }
  };
  SumState<int64_t> sum;          // In U.
  SquaresState<int64_t> squares;  // In U^2.
  ExtremesState<double> extremes;
  Rest rest;

  template <class F>
  __device__ void ForEachPart(F f) {
    f(sum);
    f(squares);
    f(extremes);
    f(rest);
  }
  __device__ void Merge(const DoubleColumnMoments& other) {
    sum.Merge(other.sum);
    squares.Merge(other.squares);
    extremes.Merge(other.extremes);
    rest.Merge(other.rest);
  }
};
static_assert(sizeof(DoubleColumnMoments) == MomentTuning::kDoublePartialBytes);

class DoubleMomentColumns {
 public:
  using Element = double;
  using Partial = DoubleColumnMoments;
  using Word = ColumnVector<double>;
  static constexpr uint32_t kRows = ColumnVectorTuning::kRowsInFlight;
  static constexpr uint32_t kTogether = DoubleColumnWindow::kTogether;

  // `column`: of the tile.
  __device__ DoubleMomentColumns(const DoubleColumnWindow& window, const DoubleOutliers& outliers,
                                 uint32_t column)
      : window_(window), outliers_(outliers), column_(column) {}

  __device__ void Add(const Word (&rows)[kRows], uint32_t position, uint32_t count) {
#pragma unroll
    for (uint32_t first = 0; first < kRows; first += kTogether) {
      double x[kTogether];
#pragma unroll
      for (uint32_t r = 0; r < kTogether; ++r) x[r] = std::bit_cast<double>(rows[first + r]);
      if (count > first) AddSome(x, position + first, min(count - first, kTogether));
    }
  }
  // Whether the window and the list hold what was added so far.
  __device__ bool Holds() const { return !has_failed_ && !IsNan(low_); }

  // Where they are not asked for, places of extremes are any, but for those of zeros.
  // element_of(row) is an element of the column.
  template <class RowOf, class ElementOf>
  __device__ Partial PartialOf(bool has_places, RowOf row_of, ElementOf element_of) const {
    Partial partial;
    partial.rest = {zeros_, window_.unit(), has_others_};
    if (batches_ == 0) return partial;
    if (min_ != 0 || max_ != 0) partial.rest.has_others = 1;
    const auto from_anchor = [&](uint64_t units, double anchor) {
      return units - batches_ * static_cast<uint64_t>(__double_as_longlong(anchor));
    };
    const int64_t low = __double2ll_rz(low_ * PowerOfTwo(-window_.unit()));
    const int64_t high = static_cast<int64_t>(from_anchor(sum_, window_.sum_anchor()));
    partial.sum.sum = (Int128{high} << DoubleColumnWindow::kSumDistance) + low;
    const uint64_t rest = from_anchor(static_cast<uint64_t>(square_rest_ >> 64), kRestAnchor);
    const uint64_t squares = from_anchor(squares_, window_.square_anchor());
    constexpr int kShift = DoubleColumnWindow::kSquareDistance - 64;
    partial.squares.sum = {{static_cast<uint64_t>(square_rest_), rest,
                            static_cast<int64_t>(rest) < 0 ? ~uint64_t{0} : 0}};
    partial.squares.sum.Merge({{0, squares << kShift, squares >> (64 - kShift)}});
    const auto find = [&](double value, uint32_t position, auto& extreme) {
      extreme = {value, row_of(position)};
      if (!has_places && value != 0) return;
#pragma unroll 1
      for (uint32_t r = kTogether; r-- > 0;) {
        const uint64_t row = row_of(position + r);
        if (row == kNoIndex) continue;
        const double x = element_of(row);
        if (x == value) extreme = {x, row};
      }
    };
    find(min_, min_at_, partial.extremes.min);
    find(max_, max_at_, partial.extremes.max);
    return partial;
  }

  // Writes what is asked for of a column with all of its rows. Not inlined, so that registers that
  // it needs are not kept while rows are added.
  __device__ __noinline__ static void Finish(const ReductionParameters& parameters, uint64_t column,
                                             uint32_t tile_column, const Partial& partial,
                                             const DoubleOutliers& outliers) {
    if (parameters.states == nullptr && outliers.IsEmpty()) {
      const double unit = PowerOfTwo(partial.rest.unit);
      const BoundedMoments bounded{
          BoundedElements(partial.sum.sum, unit, partial.rest.has_others == 0),
          BoundedInteger(partial.squares.sum, unit * unit),
          partial.extremes.min.value == partial.extremes.max.value};
      const uint64_t nonzero = parameters.group_size - partial.rest.zeros;
      if (WriteBoundedValues(parameters, column, bounded, partial.extremes, nonzero)) return;
    }
    constexpr int kBelow = DoubleColumnWindow::kListedBelow;
    ScaledState state(partial.rest.unit - kBelow);
    auto& sum = state.Part<kSumPart>().sum;
    auto& squares = state.Part<kSquaresPart>().sum;
    const bool is_negative = partial.sum.sum < 0;
    sum.is_negative_zero = partial.rest.has_others == 0;
    sum.units.Add(MagnitudeOfInteger(partial.sum.sum), kBelow, is_negative);
    for (int i = 0; i < 3; ++i) {
      squares.units.Add(partial.squares.sum.limbs[i], 2 * kBelow + i * 64, false);
    }
    outliers.ForEachOf(tile_column, [&](double x) { state.AddMoments(x); });
    state.Part<kExtremesPart>() = partial.extremes;
    state.Part<kTallyPart>().nonzero = parameters.group_size - partial.rest.zeros;
    WriteValues(parameters, column, parameters.group_size, state);
    if (parameters.states != nullptr) {
      static_cast<ReductionState<double, kCorePartSet>*>(parameters.states)[column] =
          state.Expanded();
    }
  }

 private:
  // The anchor from which on multiples of 2^64 U^2 are counted.
  static constexpr double kRestAnchor = 0x1.8p52;

  // Adds the rows from `position` to `position` + `count`; the rows behind are as if they were not.
  __device__ void AddSome(double (&x)[kTogether], uint32_t position, uint32_t count) {
    if (count < kTogether) {
#pragma unroll
      for (uint32_t r = 1; r < kTogether; ++r) x[r] = r < count ? x[r] : x[0];
    }
    const MagnitudeRange range = AddExtremes(x, position);
    if (range.smallest_less_one == ~uint32_t{0} || count < kTogether || !window_.Takes(range)) {
      // A copy of the elements, so that they stay in the registers that they were loaded in.
      double kept[kTogether];
      TakeOut(x, count, kept);
      AddMoments(kept);
    } else {
      AddMoments(x);
    }
  }

  // Returns where the elements lie; of zeros, that nothing does.
  __device__ MagnitudeRange AddExtremes(const double (&x)[kTogether], uint32_t position) {
    double least = x[0];
    double greatest = x[0];
    float smallest = fabsf(SurveyedPart(x[0]));
#pragma unroll
    for (uint32_t r = 1; r < kTogether; ++r) {
      least = x[r] < least ? x[r] : least;
      greatest = x[r] > greatest ? x[r] : greatest;
      smallest = fminf(smallest, fabsf(SurveyedPart(x[r])));
    }
    min_at_ = least < min_ ? position : min_at_;
    max_at_ = greatest > max_ ? position : max_at_;
    min_ = least < min_ ? least : min_;
    max_ = greatest > max_ ? greatest : max_;
    // That of a NaN that was added before is one.
    float largest = ExtremeOrNan<true>(fabsf(SurveyedPart(least)), fabsf(SurveyedPart(greatest)));
    largest = ExtremeOrNan<true>(largest, fabsf(SurveyedPart(low_)));
    return {__float_as_uint(largest), __float_as_uint(smallest) - 1};
  }

  // Makes zeros of elements that are none of the first `count` rows, and of those that the window
  // does not take, for which there is the list. Counts zeros.
  __device__ void TakeOut(const double (&x)[kTogether], uint32_t count, double (&kept)[kTogether]) {
#pragma unroll
    for (uint32_t r = 0; r < kTogether; ++r) {
      const uint32_t magnitude = MagnitudeBits(x[r]);
      const bool is_there = r < count;
      kept[r] = x[r];
      zeros_ += is_there && magnitude == 0 ? 1 : 0;
      if (is_there && BitsOtherThanOfNegativeZero(x[r]) != 0) has_others_ = 1;
      if (is_there && window_.Takes({magnitude, magnitude - 1})) continue;
      if (is_there) {
        has_failed_ =
            has_failed_ || !window_.TakesOnList(magnitude) || !outliers_.Add(column_, x[r]);
      }
      kept[r] = 0;
    }
  }

  __device__ void AddMoments(const double (&x)[kTogether]) {
    ++batches_;
    AddSum(x);
    AddSquares(x);
  }
  __device__ void AddSum(const double (&x)[kTogether]) {
    double high = window_.sum_anchor();
#pragma unroll
    for (uint32_t r = 0; r < kTogether; ++r) {
      const double sum = high + x[r];
      low_ += x[r] - (sum - high);
      high = sum;
    }
    sum_ += static_cast<uint64_t>(__double_as_longlong(high));
  }

  __device__ void AddSquares(const double (&x)[kTogether]) {
    double high = window_.square_anchor();
    double low = 0;
    // Modulo 2^64 and 2^32: of significands in halves, the squares of the lower ones, and the
    // products of both. Those of the upper ones are 0 modulo 2^64.
    uint64_t lower_squares = 0;
    uint32_t products = 0;
    const uint32_t least = window_.LeastBiased();
#pragma unroll
    for (uint32_t r = 0; r < kTogether; ++r) {
      const double sum = fma(x[r], x[r], high);
      const double rest = fma(x[r], x[r], high - sum);
      low = r == 0 ? rest : low + rest;
      high = sum;
      const uint32_t bits = static_cast<uint32_t>(__double2hiint(x[r]));
      const uint32_t lower = static_cast<uint32_t>(__double2loint(x[r]));
      const uint32_t upper = (bits & 0xF'FFFF) | 0x10'0000;
      const uint32_t binades = (bits >> 20) - least;  // Modulo 32, so that signs do not matter.
      const uint32_t shifted = __funnelshift_l(0, lower, binades);
      lower_squares += uint64_t{shifted} * shifted;
      products += shifted * __funnelshift_l(lower, upper, binades);
    }
    squares_ += static_cast<uint64_t>(__double_as_longlong(high));
    // The sum of what is left is `units` modulo 2^64, and nearest to `low`.
    const uint64_t units = lower_squares + (uint64_t{2 * products} << 32);
    const double upper_units = __hiloint2double(0x4330'0000, static_cast<int>(units >> 32));
    const double difference = fma(low, window_.per_unit(), -upper_units);  // 2^52 less than it is.
    const double times = fma(difference, 0x1p-32, kRestAnchor + 0x1p20);
    square_rest_ +=
        Uint128{static_cast<uint64_t>(__double_as_longlong(times))} << 64 | Uint128{units};
  }

  DoubleColumnWindow window_;
  DoubleOutliers outliers_;
  uint32_t column_;
  uint64_t sum_ = 0;  // Of numbers from anchors on, as integers.
  double low_ = 0;
  uint64_t squares_ = 0;
  Uint128 square_rest_ = 0;
  double min_ = std::numeric_limits<double>::infinity();
  double max_ = -std::numeric_limits<double>::infinity();
  uint32_t min_at_ = 0;  // Position of the first of the rows.
  uint32_t max_at_ = 0;
  uint32_t batches_ = 0;
  uint32_t zeros_ = 0;
  uint32_t has_others_ = 0;
  bool has_failed_ = false;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_DOUBLE_MOMENT_COLUMNS_CUH_
