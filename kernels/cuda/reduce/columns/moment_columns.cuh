// A thread keeps several statistics of the rows of its columns of float32 elements in registers.
// Halves (half_moment_columns.cuh) have much of this in common.
//
// Elements of a window of binades are summed as multiples of a unit, and so are their squares, in
// two parts: the sum of a few rows is added to an anchor, from which on a float64's bits count
// units, and bits are added up as integers. Finite elements outside the window are few: they are
// put on a list. Of extremes it is kept in which turn they first were.
//
// Example: one column, turns of two rows, unit 1/4, an anchor A whose lowest bit is 1/4:
//
//   turn 0: 1.5, 2.25     bits(A + 3.75) - bits(A) = 15       units: 15
//   turn 1: -1, 1e30      1e30 is listed; bits(A - 1) - bits(A) = -4   units: 11
//   sum: 11 / 4 + 1e30, exactly, and rounded once
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_MOMENT_COLUMNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_MOMENT_COLUMNS_CUH_

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cuda/reduce/columns/pairs.cuh"
#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/bounded_values.cuh"
#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/core/windows.cuh"
#include "kernels/cuda/reduce/core/words.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/statistics/bounded_moments.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

template <class T>
inline constexpr MomentColumnShape kMomentColumnShape = MomentColumnShapeOf(sizeof(T));

// What a thread loads of a row.
template <class T>
using MomentColumnVector =
    std::conditional_t<kMomentColumnShape<T>.vector_bytes == sizeof(uint2), uint2, uint32_t>;

// Where elements may lie, and the units in which they are counted. Elements are below 2^E; those of
// p bits of which 2^b rows are added together are multiples of 2^(E + b - 51), the unit of sums, if
// they are not below 2^(E - 1 - S), S = 51 - b - p. Squares are split at multiples of
// 2^(2 E + b - 51); what is left of 2^b of them is a multiple of 2^(2 E + 2 b - 103).
class FloatMomentWindow {
 public:
  static constexpr int kRowsLog2 = std::bit_width(kMomentColumnShape<float>.rows) - 1;
  static_assert(MomentTuning::kRowsMax <= uint64_t{1} << (23 + 2 * kRowsLog2));  // 127 bits.

  FloatMomentWindow() = default;
  // The window for elements whose largest magnitude is given, as a float's bits.
  __device__ explicit FloatMomentWindow(uint32_t largest) {
    const int exponent = static_cast<int>(largest >> 23) - 126 + kSlack;
    exponent_ = min(max(exponent, kExponentMin), kExponentMax);
    limit_ = static_cast<uint32_t>(exponent_ + 127) << 23;
    const int least = exponent_ + 126 - kSpan;
    least_less_one_ = least <= kLeastBiased ? 0 : (static_cast<uint32_t>(least) << 23) - 1;
  }

  __device__ bool Takes(const MagnitudeRange& range) const {
    return range.largest < limit_ && range.smallest_less_one >= least_less_one_;
  }
  __device__ bool Takes(float x) const {
    const uint32_t magnitude = MagnitudeBits(x);
    return magnitude < limit_ && magnitude - 1 >= least_less_one_;
  }
  __device__ int sum_unit() const { return exponent_ + kRowsLog2 - 51; }
  __device__ int square_unit() const { return 2 * sum_unit() - 1; }
  __device__ double sum_anchor() const { return 1.5 * PowerOfTwo(52 + sum_unit()); }
  __device__ double high_anchor() const { return 1.5 * PowerOfTwo(52 + square_unit() + kDistance); }
  __device__ double low_anchor() const { return 1.5 * PowerOfTwo(52 + square_unit()); }

  // Bits from the last unit of squares to that of their upper part.
  static constexpr int kDistance = 52 - kRowsLog2;

 private:
  using Format = SingleWords<float>;
  static constexpr int kSpan = 51 - kRowsLog2 - Format::kPrecision;
  // Biased exponent of the least normal element.
  static constexpr int kLeastBiased = Format::kLowestExponent + 126 + Format::kPrecision;
  // Ordinary data leaves room, half of which is for larger elements.
  static constexpr int kSlack = (kSpan - 21) / 2;
  static constexpr int kExponentMax = 128;
  // Units are no less than those of states.
  static constexpr int kExponentMin = -148 + 51 - kRowsLog2;

  int exponent_ = kExponentMin;
  uint32_t limit_ = 1;
  uint32_t least_less_one_ = 0;
};

// Elements of a tile that its windows do not take.
struct OutlierList {
  uint32_t* count;
  ColumnOutlier* entries;
  uint32_t count_max;

  __device__ OutlierList(const ColumnWork& work, uint64_t tile)
      : count(work.outlier_counts + tile),
        entries(static_cast<ColumnOutlier*>(work.outliers) + tile * work.outliers_max),
        count_max(work.outliers_max) {}

  // Returns whether there was room.
  __device__ bool Add(uint32_t column, float x) const {
    const uint32_t i = atomicAdd(count, 1u);
    if (i < count_max) entries[i] = {column, x};
    return i < count_max;
  }
};

// What is known of a column, or of some rows of it.
struct alignas(16) ColumnMoments {
  Int128 sum = 0;      // In units of the window.
  Int128 squares = 0;  // In units of the window, squared.
  uint64_t zeros = 0;
  ExtremeState<float, false> min;
  ExtremeState<float, true> max;
  bool has_others = false;  // Than negative zeros.

  __device__ void Merge(const ColumnMoments& other) {
    sum += other.sum;
    squares += other.squares;
    zeros += other.zeros;
    min.Merge(other.min);
    max.Merge(other.max);
    has_others = has_others || other.has_others;
  }
  __device__ ColumnMoments OfLane(const Warp& warp, uint32_t distance) const {
    return {warp.shfl_xor(sum, distance),   warp.shfl_xor(squares, distance),
            warp.shfl_xor(zeros, distance), warp.shfl_xor(min, distance),
            warp.shfl_xor(max, distance),   warp.shfl_xor(has_others, distance)};
  }
};
static_assert(sizeof(ColumnMoments) <= MomentTuning::kPartialBytes);

// The elements of a turn: rows of a vector of columns.
class FloatMomentTurn {
 public:
  using Vector = MomentColumnVector<float>;
  static constexpr uint32_t kSize = sizeof(Vector) / sizeof(float);
  static constexpr uint32_t kRows = kMomentColumnShape<float>.rows;

  // Rows behind the first `count` are as the first.
  __device__ FloatMomentTurn(const Vector (&raw)[kRows], uint32_t count) {
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) rows_[r] = std::bit_cast<Row>(raw[r]);
    if (count == kRows) return;
#pragma unroll
    for (uint32_t r = 1; r < kRows; ++r) {
#pragma unroll
      for (uint32_t k = 0; k < kSize; ++k) {
        rows_[r].values[k] = r < count ? rows_[r].values[k] : rows_[0].values[k];
      }
    }
  }

  __device__ float Value(uint32_t r, uint32_t k) const { return rows_[r].values[k]; }
  __device__ void Clear(uint32_t r, uint32_t k) { rows_[r].values[k] = 0; }

  // The least and the largest of each column; either is NaN where an element is.
  struct Extremes {
    float least[kSize];
    float largest[kSize];
    float least_magnitude;
  };
  __device__ Extremes ExtremesOfRows() const {
    Extremes extremes;
    float least_magnitude = std::numeric_limits<float>::infinity();
#pragma unroll
    for (uint32_t k = 0; k < kSize; ++k) {
      extremes.least[k] = extremes.largest[k] = Value(0, k);
#pragma unroll
      for (uint32_t r = 0; r < kRows; ++r) {
        const float x = Value(r, k);
        extremes.least[k] = ExtremeOrNan<false>(extremes.least[k], x);
        extremes.largest[k] = fmaxf(extremes.largest[k], x);
        least_magnitude = fminf(least_magnitude, fabsf(x));
      }
    }
    extremes.least_magnitude = least_magnitude;
    return extremes;
  }

 private:
  struct Row {
    float values[kSize];
  };

  Row rows_[kRows];
};

// The extreme of some rows of a column, which a turn had first. row_of(turn, r) is the r-th row of
// a turn; element_of(row) an element. Where places are not asked for they are any, but for those of
// zeros.
template <bool kIsMax, uint32_t kRows, class RowOf, class ElementOf>
__device__ inline ExtremeState<float, kIsMax> PlacedExtreme(float value, uint32_t turn,
                                                            bool has_places, RowOf row_of,
                                                            ElementOf element_of) {
  ExtremeState<float, kIsMax> extreme = {value, row_of(turn, 0)};
  if (!has_places && value != 0) return extreme;
#pragma unroll 1
  for (uint32_t r = kRows; r-- > 0;) {
    const uint64_t row = row_of(turn, r);
    if (row == kNoIndex) continue;
    const float x = element_of(row);
    if (x == value) extreme = {x, row};
  }
  return extreme;
}

// What a thread has of its columns.
class FloatMomentColumns {
 public:
  using Vector = MomentColumnVector<float>;
  using Window = FloatMomentWindow;
  struct Rest {};
  static constexpr uint32_t kSize = FloatMomentTurn::kSize;
  static constexpr uint32_t kRows = FloatMomentTurn::kRows;
  static_assert(uint64_t{kMomentColumnShape<float>.turns_max} * kRows < uint64_t{1}
                                                                            << 32);  // Zeros.

  __device__ FloatMomentColumns(const Window& window, Rest& /*rest*/) : window_(window) {
#pragma unroll
    for (uint32_t k = 0; k < kSize; ++k) {
      min_[k] = std::numeric_limits<float>::infinity();
      max_[k] = -std::numeric_limits<float>::infinity();
    }
  }

  // Adds the first `count` rows, those of a turn; the others are as if they were not. Returns
  // whether this and the list hold them: if not, the tile is to be left. column_of(k) is a column
  // of the tile.
  template <class ColumnOf>
  __device__ bool Add(const Vector (&raw)[kRows], uint32_t turn, uint32_t count,
                      const OutlierList& outliers, ColumnOf column_of) {
    if (count == 0) return true;
    const FloatMomentTurn elements(raw, count);
    MagnitudeRange range = AddExtremes(elements.ExtremesOfRows(), turn);
    if (range.smallest_less_one == ~uint32_t{0}) {
      range.smallest_less_one = AddZeros(elements, count);
    } else {
      has_others_ = (1u << kSize) - 1;
    }
    if (count == kRows && window_.Takes(range)) {
      AddMoments(elements);
      return true;
    }
    // Elements of their own, so that others stay in the registers that they were loaded in.
    FloatMomentTurn kept = elements;
    if (!TakeOut(kept, count, outliers, column_of)) return false;
    AddMoments(kept);
    return true;
  }

  // The extreme of the k-th column; the other parameters are those of PlacedExtreme.
  template <class RowOf, class ElementOf>
  __device__ ColumnMoments MomentsOf(uint32_t k, bool has_places, RowOf row_of,
                                     ElementOf element_of) const {
    ColumnMoments moments;
    if (turns_ == 0) return moments;
    moments.sum = UnitsFrom(sum_[k], window_.sum_anchor());
    moments.squares = (Int128{UnitsFrom(high_[k], window_.high_anchor())} << Window::kDistance) +
                      UnitsFrom(low_[k], window_.low_anchor());
    moments.zeros = zeros_[k];
    moments.has_others = (has_others_ >> k & 1) != 0;
    moments.min =
        PlacedExtreme<false, kRows>(min_[k], min_turns_[k], has_places, row_of, element_of);
    moments.max =
        PlacedExtreme<true, kRows>(max_[k], max_turns_[k], has_places, row_of, element_of);
    return moments;
  }

 private:
  // Returns where the elements lie; of zeros, that nothing does.
  __device__ MagnitudeRange AddExtremes(const FloatMomentTurn::Extremes& extremes, uint32_t turn) {
    float largest = 0;
#pragma unroll
    for (uint32_t k = 0; k < kSize; ++k) {
      min_turns_[k] = extremes.least[k] < min_[k] ? turn : min_turns_[k];
      max_turns_[k] = extremes.largest[k] > max_[k] ? turn : max_turns_[k];
      min_[k] = fminf(min_[k], extremes.least[k]);
      max_[k] = fmaxf(max_[k], extremes.largest[k]);
      largest = ExtremeOrNan<true>(largest, fabsf(extremes.least[k]));
      largest = ExtremeOrNan<true>(largest, fabsf(extremes.largest[k]));
    }
    return {__float_as_uint(largest), __float_as_uint(extremes.least_magnitude) - 1};
  }

  // Counts the zeros of the first `count` rows, some of which are. Returns the smallest of other
  // magnitudes as MagnitudeRange has it.
  __device__ uint32_t AddZeros(const FloatMomentTurn& elements, uint32_t count) {
    uint32_t smallest_less_one = ~uint32_t{0};
#pragma unroll
    for (uint32_t k = 0; k < kSize; ++k) {
      uint32_t zeros = 0;
      bool has_others = false;
#pragma unroll
      for (uint32_t r = 0; r < kRows; ++r) {
        const float x = elements.Value(r, k);
        smallest_less_one = min(smallest_less_one, MagnitudeBits(x) - 1);
        zeros += r < count && x == 0 ? 1 : 0;
        has_others = has_others || __float_as_uint(x) != 0x8000'0000u;
      }
      zeros_[k] += zeros;
      has_others_ |= has_others ? 1u << k : 0;
    }
    return smallest_less_one;
  }

  // Makes zeros of elements that are none of the first `count` rows, and of those that the window
  // does not take, for which there is the list. Returns whether that is so: all are finite, and the
  // list had room.
  template <class ColumnOf>
  __device__ bool TakeOut(FloatMomentTurn& elements, uint32_t count, const OutlierList& outliers,
                          ColumnOf column_of) const {
    bool is_held = true;
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) {
#pragma unroll
      for (uint32_t k = 0; k < kSize; ++k) {
        const float x = elements.Value(r, k);
        if (r < count && window_.Takes(x)) continue;
        if (r < count) is_held = is_held && IsFinite(x) && outliers.Add(column_of(k), x);
        elements.Clear(r, k);
      }
    }
    return is_held;
  }

  __device__ void AddMoments(const FloatMomentTurn& elements) {
    ++turns_;
#pragma unroll
    for (uint32_t k = 0; k < kSize; ++k) {
      double sum = window_.sum_anchor();
      // Rounded as the anchor is, so that no addition of its own is needed.
      double high = window_.high_anchor();
      double low = window_.low_anchor();
#pragma unroll
      for (uint32_t r = 0; r < kRows; ++r) {
        const double x = elements.Value(r, k);
        sum += x;
        const double next = fma(x, x, high);
        low += fma(x, x, high - next);
        high = next;
      }
      AddUnits(sum_[k], sum);
      AddUnits(high_[k], high);
      AddUnits(low_[k], low);
    }
  }
  __device__ static void AddUnits(uint64_t& units, double from_anchor) {
    units += static_cast<uint64_t>(__double_as_longlong(from_anchor));
  }
  // What turns_ numbers from an anchor on count.
  __device__ int64_t UnitsFrom(uint64_t units, double anchor) const {
    return static_cast<int64_t>(units -
                                turns_ * static_cast<uint64_t>(__double_as_longlong(anchor)));
  }

  Window window_;
  uint64_t sum_[kSize] = {};
  uint64_t high_[kSize] = {};
  uint64_t low_[kSize] = {};
  float min_[kSize];
  float max_[kSize];
  uint32_t min_turns_[kSize] = {};
  uint32_t max_turns_[kSize] = {};
  uint32_t turns_ = 0;
  uint32_t has_others_ = 0;  // Bit k of the k-th column.
  uint32_t zeros_[kSize] = {};
};

// Writes what is asked for of a column with all of its rows: most values by what is known of its
// moments in double precision.
template <class T, class Window>
__device__ __noinline__ void FinishMoments(const ReductionParameters& parameters, uint64_t column,
                                           uint32_t tile_column, const Window& window,
                                           const ColumnMoments& moments,
                                           const OutlierList& outliers) {
  if (parameters.states == nullptr && __ldcg(outliers.count) == 0) {
    const BoundedMoments bounded{
        BoundedElements(moments.sum, PowerOfTwo(window.sum_unit()), !moments.has_others),
        BoundedInteger(moments.squares, PowerOfTwo(window.square_unit())),
        moments.min.value == moments.max.value};
    const uint64_t nonzero = parameters.group_size - moments.zeros;
    if (WriteBoundedValues(parameters, column, bounded, moments, nonzero)) return;
  }
  ReductionState<T, kCorePartSet> state;
  auto& sum = state.template Part<kSumPart>().sum;
  auto& squares = state.template Part<kSquaresPart>().sum;
  sum.AddFlags(moments.has_others ? kSawOtherThanNegativeZero : 0);
  sum.AddInteger(MagnitudeOfInteger(moments.sum),
                 static_cast<uint32_t>(window.sum_unit() - sum.kLowestExponent), moments.sum < 0);
  squares.AddFlags(kSawOtherThanNegativeZero);
  squares.AddInteger(static_cast<Uint128>(moments.squares),
                     static_cast<uint32_t>(window.square_unit() - squares.kLowestExponent), false);
  const uint32_t count = min(__ldcg(outliers.count), outliers.count_max);
#pragma unroll 1
  for (uint32_t i = 0; i < count; ++i) {
    const ColumnOutlier outlier = outliers.entries[i];
    if (outlier.column != tile_column) continue;
    sum.Add(outlier.value);
    squares.AddSquare(outlier.value);
  }
  auto& extremes = state.template Part<kExtremesPart>();
  extremes.min = moments.min;
  extremes.max = moments.max;
  state.template Part<kTallyPart>().nonzero = parameters.group_size - moments.zeros;
  FinishGroup(parameters, column, parameters.group_size, state);
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_MOMENT_COLUMNS_CUH_
