// A thread sums vectors of neighbouring columns along axis 0, row after row, in a pair for each
// column.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_PAIRS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_PAIRS_CUH_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce/columns/half_pairs.cuh"
#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/core/pairs.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/tuning.h"

namespace gridfold::kernels::cuda {

// Where a lane stands in its warp: lanes side by side take the columns of a tile, the rest of the
// lanes the next rows. Columns that are fewer than a vector has elements may stand in it several
// times, row after row: then a row here is a vector.
template <class T, class Vector = uint4>
struct ColumnLanes {
  static constexpr uint32_t kSize = sizeof(Vector) / sizeof(T);
  uint32_t lanes;
  uint32_t rows;  // That a warp takes at once.
  uint32_t lane;
  uint32_t row;
  bool in_vectors;            // Else columns are not aligned, and loaded one by one.
  uint32_t vector_rows_log2;  // The array's rows of a vector, if there are several.

  __device__ ColumnLanes(const ReductionParameters& parameters, uint32_t rank,
                         uint32_t tile_columns_log2, bool has_vectors_of_rows = false)
      : lanes((1u << tile_columns_log2) / kSize),
        rows(ReduceTuning::kWarpThreads / lanes),
        lane(rank & (lanes - 1)),
        row(rank / lanes),
        vector_rows_log2(0) {
    const bool are_aligned = reinterpret_cast<uintptr_t>(parameters.elements) % sizeof(Vector) == 0;
    in_vectors = are_aligned && (parameters.columns | parameters.row_pitch) % kSize == 0;
    const bool has_gaps = parameters.row_pitch != parameters.columns;
    if (!has_vectors_of_rows || !are_aligned || has_gaps) return;
    for (uint32_t log2 = 1; kSize >> log2 > 0; ++log2) {
      if (parameters.columns != kSize >> log2) continue;
      vector_rows_log2 = log2;
      in_vectors = true;
    }
  }

  // Columns of a tile, each counted once.
  __device__ uint32_t columns() const { return lanes * kSize >> vector_rows_log2; }
  // The thread's k-th column of a tile.
  __device__ uint32_t Column(uint32_t k) const { return ColumnOf(lane, k); }
  // That of another lane.
  __device__ uint32_t ColumnOf(uint32_t of_lane, uint32_t k) const {
    return in_vectors ? of_lane * kSize + k : k * lanes + of_lane;
  }
};

// The elements of a thread's columns, a vector of a row.
template <class T, bool kInVectors, class Vector = uint4>
class ColumnRows {
 public:
  static constexpr uint32_t kSize = sizeof(Vector) / sizeof(T);

  __device__ ColumnRows(const ReductionParameters& parameters, const ColumnLanes<T, Vector>& lanes,
                        uint64_t first_column, uint64_t first_row)
      : pitch_(parameters.row_pitch << lanes.vector_rows_log2),
        lanes_(lanes.lanes),
        first_(static_cast<const T*>(parameters.elements) + first_row * pitch_ +
               parameters.FirstOfColumn(first_column +
                                        (kInVectors ? lanes.lane * kSize : lanes.lane))) {
    const uint64_t left = (parameters.group_count << lanes.vector_rows_log2) - first_column;
    for (uint32_t k = 0; k < kSize; ++k) {
      const uint32_t column = kInVectors ? lanes.lane * kSize + k : k * lanes_ + lanes.lane;
      present_ += column < left ? 1 : 0;
    }
  }

  // Loads `row` and others `apart` rows from each other, of the `rows` that are left; what does not
  // exist is negative zeros, which add nothing.
  template <uint32_t kRows>
  __device__ void Load(uint64_t row, uint32_t apart, uint64_t rows, Vector (&raw)[kRows]) const {
    const T* const at = first_ + row * pitch_;
    const uint64_t step = apart * pitch_;
    if (present_ == kSize && rows > uint64_t{kRows - 1} * apart) {
#pragma unroll
      for (uint32_t r = 0; r < kRows; ++r) raw[r] = LoadRow(at + r * step, kSize);
    } else {
#pragma unroll
      for (uint32_t r = 0; r < kRows; ++r) {
        raw[r] = LoadRow(at + r * step, uint64_t{r} * apart < rows ? present_ : 0);
      }
    }
  }

 private:
  struct Elements {
    T values[kSize];
  };

  __device__ Vector LoadRow(const T* at, uint32_t present) const {
    Vector row = NegativeZeros<T, Vector>();
    if constexpr (kInVectors) {
      if (present != 0) row = *reinterpret_cast<const Vector*>(at);
    } else {
      Elements elements = std::bit_cast<Elements>(row);
#pragma unroll
      for (uint32_t k = 0; k < kSize; ++k) {
        if (k < present) elements.values[k] = at[k * lanes_];
      }
      row = std::bit_cast<Vector>(elements);
    }
    return row;
  }

  uint64_t pitch_;
  uint32_t lanes_;
  const T* first_;
  uint32_t present_ = 0;  // Of the thread's columns.
};

// What a thread has of its columns.
template <class T>
struct SingleColumnPairs {
  static constexpr uint32_t kSize = kVectorSize<T>;
  PairSum pairs[kSize];
  MagnitudeRange range;  // Of all columns.

  // Adds rows, if pairs may hold the sums still, with `count` and `chain` as in PairHolds. Returns
  // whether they may; they do not for long where magnitudes are far apart, and the rest need not be
  // read then.
  template <uint32_t kRows>
  __device__ bool Add(const uint4 (&raw)[kRows], uint64_t count, uint64_t chain) {
    MagnitudeRange of_rows;
    double sums[kSize];
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) {
      const auto batch = BatchOf<T>(raw[r]);
#pragma unroll
      for (uint32_t k = 0; k < kSize; ++k) {
        of_rows.Add(MagnitudeBits(batch.values[k]));
        sums[k] = r == 0 ? static_cast<double>(batch.values[k]) : sums[k] + batch.values[k];
      }
    }
    range.Merge(of_rows);
    if (DoubleHolds<kRows>(of_rows)) {
#pragma unroll
      for (uint32_t k = 0; k < kSize; ++k) pairs[k].Add(sums[k]);
      return true;
    }
    if (!PairHolds(SpanBits(range), count, chain)) return false;
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) {
      const auto batch = BatchOf<T>(raw[r]);
#pragma unroll
      for (uint32_t k = 0; k < kSize; ++k) pairs[k].Add(batch.values[k]);
    }
    return true;
  }
  __device__ void AddOne(uint32_t k, float x) {
    range.Add(MagnitudeBits(x));
    pairs[k].Add(x);
  }
  __device__ void Close() {}
};

template <class T>
using ColumnPairs = std::conditional_t<HalfElement<T>, HalfColumnPairs<T>, SingleColumnPairs<T>>;

// Writes what is asked for of a vector of columns, whose sums are exact.
template <class T>
__device__ inline void FinishColumnVector(const ReductionParameters& parameters, uint64_t column,
                                          const ColumnPairs<T>& sums) {
  constexpr uint32_t kSize = ColumnPairs<T>::kSize;
#pragma unroll 1
  for (uint32_t i = 0; i < parameters.statistic_count; ++i) {
    uint64_t* const slots = &parameters.slots[parameters.rows[i] * parameters.group_count + column];
    uint64_t values[kSize];
#pragma unroll
    for (uint32_t k = 0; k < kSize; ++k) {
      values[k] = ValueOfPair<MeanInlined<T>>(parameters.statistics[i], parameters.group_size,
                                              sums.pairs[k]);
    }
    const bool is_aligned = reinterpret_cast<uintptr_t>(slots) % sizeof(ulonglong2) == 0;
#pragma unroll
    for (uint32_t k = 0; k < kSize; k += 2) {
      if (is_aligned) {
        *reinterpret_cast<ulonglong2*>(slots + k) = {values[k], values[k + 1]};
      } else {
        slots[k] = values[k];
        slots[k + 1] = values[k + 1];
      }
    }
  }
  if (parameters.states == nullptr) return;
#pragma unroll
  for (uint32_t k = 0; k < kSize; ++k) {
    StorePairState<T>(parameters.states, column + k, sums.pairs[k].high, sums.pairs[k].low);
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_PAIRS_CUH_
