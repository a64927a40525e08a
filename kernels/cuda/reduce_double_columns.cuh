// Sums along axis 0 of float64 elements that are neither too far apart nor anything but numbers.
//
// Elements are split at two fixed places, as in reduce_windows.cuh, and each of the three parts is
// summed as multiples of a unit of its own: in a float64 that begins at an anchor, from which on
// its bits count units. Counts are joined as integers. All parts together are a fixed-point number
// of 128 bits, which is rounded once. Tiles with columns that this does not hold are left to
// reduce_columns.cuh.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_DOUBLE_COLUMNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_DOUBLE_COLUMNS_CUH_

#include <bit>
#include <cstdint>

#include "kernels/cuda/reduce_column_pairs.cuh"
#include "kernels/cuda/reduce_column_sums.cuh"
#include "kernels/cuda/reduce_kernels.h"
#include "kernels/cuda/reduce_merge.cuh"
#include "kernels/cuda/reduce_pairs.cuh"
#include "kernels/cuda/reduce_tuning.h"
#include "kernels/cuda/reduce_whole_columns.cuh"
#include "kernels/cuda/reduce_windows.cuh"
#include "kernels/cuda/reduce_words.cuh"
#include "kernels/numerics/exact_quotient.h"
#include "kernels/numerics/expansion_sum.h"
#include "kernels/numerics/pair_sum.h"
#include "kernels/numerics/wide_integer.h"

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
  // In the last unit.
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

  // From the sum as pieces of 42 bits, which are numbers.
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

// Leaves a tile to ReduceColumns.
__device__ inline void LeaveTile(const ColumnWork& work, uint64_t tile) {
  work.left_tiles[0] = 1;
  work.left_tiles[1 + tile] = 1;
}

// The upper half of the largest magnitude of some rows.
template <uint32_t kRows>
__device__ inline uint32_t LargestOf(const uint4 (&raw)[kRows]) {
  uint32_t largest = 0;
#pragma unroll
  for (uint32_t r = 0; r < kRows; ++r) {
    for (const double x : BatchOf<double>(raw[r]).values) largest = max(largest, MagnitudeBits(x));
  }
  return largest;
}

// All rows of a thread's columns, those ahead being loaded while others are added. Returns whether
// their sums hold.
template <bool kSumsAlone, bool kInVectors>
__device__ inline bool SumWholeDoubleColumns(const ReductionParameters& parameters,
                                             const ColumnLanes<double>& lanes,
                                             uint64_t first_column) {
  constexpr uint32_t kRows = ColumnSumRowsInFlight(sizeof(double));
  const ColumnRows<double, kInVectors> column_rows(parameters, lanes, first_column, 0);
  const uint32_t rows = static_cast<uint32_t>(parameters.group_size);
  uint4 ahead[kRows];
  column_rows.Load(0, 1, rows, ahead);
  DoubleColumns sums;
#pragma unroll 1
  for (uint32_t row = 0; row < rows;) {
    uint4 raw[kRows];
#pragma unroll
    for (uint32_t r = 0; r < kRows; ++r) raw[r] = ahead[r];
    const bool is_first = row == 0;
    row += kRows;
    if (row < rows) column_rows.Load(row, 1, rows - row, ahead);
    if (is_first) sums = DoubleColumns(ColumnSplit(rows, rows, LargestOf(raw)));
    if (!sums.Add(raw)) break;
  }
#pragma unroll
  for (uint32_t k = 0; k < DoubleColumns::kSize; ++k) {
    const uint64_t column = first_column + lanes.Column(k);
    if (column < parameters.group_count) {
      FinishUnits<kSumsAlone>(parameters, column, sums.split(), sums.Units(k));
    }
  }
  return sums.holds();
}

// A warp for a tile of columns. T: double. kSumsAlone: nothing but sums is asked for.
template <class T, bool kSumsAlone>
__global__ void __launch_bounds__(PairTuning::kWholeColumnThreads,
                                  PairTuning::kWholeColumnResidentBlocks)
    ReduceWholeDoubleColumns(const __grid_constant__ ReductionParameters parameters,
                             const __grid_constant__ ColumnWork work) {
  const WarpTiles tiles;
  const ColumnLanes<T> lanes(parameters, threadIdx.x % ReduceTuning::kWarpThreads,
                             work.tile_columns_log2);
#pragma unroll 1
  for (uint64_t tile = tiles.first; tile < work.tile_count; tile += tiles.step) {
    const uint64_t first_column = tile << work.tile_columns_log2;
    const bool holds =
        lanes.in_vectors
            ? SumWholeDoubleColumns<kSumsAlone, true>(parameters, lanes, first_column)
            : SumWholeDoubleColumns<kSumsAlone, false>(parameters, lanes, first_column);
    if (!holds) LeaveTile(work, tile);
  }
}

// Of a tile of columns: no larger than a warp's.
inline constexpr uint32_t kDoubleTileColumnsMax = ReduceTuning::kWarpThreads * 2;

struct DoubleColumnMemory {
  ColumnUnits units[PairTuning::kColumnWarpsMax][kDoubleTileColumnsMax];
  uint32_t largest;
  uint32_t turns_drawn;
  bool is_last;
};

// How a tile's elements are split: by some rows of it, the same for all of its blocks.
template <bool kInVectors>
__device__ inline ColumnSplit SplitOfTile(const cg::thread_block& block, const Warp& warp,
                                          const ReductionParameters& parameters,
                                          const ColumnSumItem& item,
                                          const ColumnLanes<double>& lanes, uint64_t thread_rows,
                                          uint32_t& shared_largest) {
  const ColumnRows<double, kInVectors> rows(parameters, lanes, item.first_column, 0);
  const uint64_t samples = uint64_t{warp.meta_group_size()} * lanes.rows;
  const uint64_t sample = uint64_t{warp.meta_group_rank()} * lanes.rows + lanes.row;
  const uint64_t row = parameters.group_size * sample / samples;
  uint4 raw[1];
  rows.Load(row, 1, 1, raw);
  const uint32_t largest = __reduce_max_sync(~0u, LargestOf(raw));
  if (warp.thread_rank() == 0) atomicMax_block(&shared_largest, largest);
  SyncBlock(block);
  return ColumnSplit(parameters.group_size, thread_rows, shared_largest);
}

__device__ inline ColumnUnits UnitsOfLane(const Warp& warp, const ColumnUnits& units,
                                          uint32_t distance) {
  return {warp.shfl_xor(units.parts[0], distance), warp.shfl_xor(units.parts[1], distance),
          warp.shfl_xor(units.parts[2], distance), warp.shfl_xor(units.others, distance)};
}

// Joins the units of a block's threads, and calls take(column of the tile, units) for each column.
// Called by all threads, has a barrier, and another is needed before the next call.
template <class F>
__device__ inline void JoinUnits(const cg::thread_block& block, const Warp& warp,
                                 const ColumnLanes<double>& lanes,
                                 ColumnUnits (&units)[DoubleColumns::kSize],
                                 DoubleColumnMemory& memory, F take) {
#pragma unroll
  for (uint32_t k = 0; k < DoubleColumns::kSize; ++k) {
#pragma unroll 1
    for (uint32_t distance = lanes.lanes; distance < ReduceTuning::kWarpThreads; distance *= 2) {
      units[k].Merge(UnitsOfLane(warp, units[k], distance));
    }
    if (lanes.row == 0) memory.units[warp.meta_group_rank()][lanes.Column(k)] = units[k];
  }
  SyncBlock(block);
  const uint32_t columns = lanes.lanes * DoubleColumns::kSize;
  for (uint32_t c = block.thread_rank(); c < columns; c += static_cast<uint32_t>(block.size())) {
    ColumnUnits sum = memory.units[0][c];
    for (uint32_t w = 1; w < warp.meta_group_size(); ++w) sum.Merge(memory.units[w][c]);
    take(c, sum);
  }
}

// The thread's share of what the splits of a tile left.
struct alignas(16) ColumnUnitHalves {
  longlong2 lower;
  longlong2 upper;
};
__device__ inline void LoadUnits(const Warp& warp, const ReductionParameters& parameters,
                                 const ColumnWork& work, const ColumnSumItem& item,
                                 const ColumnLanes<double>& lanes,
                                 ColumnUnits (&units)[DoubleColumns::kSize]) {
  const uint32_t parts = lanes.rows * warp.meta_group_size();
  const longlong2* const partials = static_cast<const longlong2*>(work.partials);
#pragma unroll
  for (ColumnUnits& of_column : units) of_column = {};
#pragma unroll 1
  for (uint64_t split = warp.meta_group_rank() * lanes.rows + lanes.row; split < work.splits;
       split += parts) {
#pragma unroll
    for (uint32_t k = 0; k < DoubleColumns::kSize; ++k) {
      const uint64_t column = item.first_column + lanes.Column(k);
      if (column >= parameters.group_count) continue;
      const longlong2* const at = partials + 2 * (split * parameters.group_count + column);
      units[k].Merge(std::bit_cast<ColumnUnits>(ColumnUnitHalves{__ldcg(at), __ldcg(at + 1)}));
    }
  }
}

// The thread's share of an item's rows.
template <bool kInVectors, class T>
__device__ inline void SumDoubleColumnRows(const cg::thread_block& block, const Warp& warp,
                                           const ReductionParameters& parameters,
                                           const ColumnWork& work, const ColumnSumItem& item,
                                           const ColumnLanes<T>& lanes, DoubleColumnMemory& memory,
                                           ColumnSplit& split,
                                           ColumnUnits (&units)[DoubleColumns::kSize]) {
  // A warp may draw all turns.
  split = SplitOfTile<kInVectors>(block, warp, parameters, item, lanes,
                                  item.rows_max / lanes.rows + 1, memory.largest);
  DoubleColumns sums(split);
  AddTurns<kInVectors>(warp, parameters, item, lanes, &memory.turns_drawn,
                       [&](const auto& raw) { return sums.Add(raw); });
  if (!sums.holds()) LeaveTile(work, item.tile);
#pragma unroll
  for (uint32_t k = 0; k < DoubleColumns::kSize; ++k) units[k] = sums.Units(k);
}

// Joins the i-th item's sums, and those of its tile in the last block. Not inlined, so that
// registers that it needs are not kept while rows are added. Called by all threads.
template <class T>
__device__ __noinline__ void FinishDoubleColumnItem(const ReductionParameters& parameters,
                                                    const ColumnWork& work, uint64_t i,
                                                    const ColumnSplit& split,
                                                    ColumnUnits (&units)[DoubleColumns::kSize],
                                                    DoubleColumnMemory& memory) {
  const cg::thread_block block = cg::this_thread_block();
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(block);
  const ColumnLanes<T> lanes(parameters, warp.thread_rank(), work.tile_columns_log2);
  const ColumnSumItem item(parameters, work, ColumnSumRowsInFlight(sizeof(T)) * lanes.rows, i);
  const auto finish = [&](uint32_t c, const ColumnUnits& sum) {
    const uint64_t column = item.first_column + c;
    if (column >= parameters.group_count) return;
    if (parameters.AskForSumsOnly()) {
      FinishUnits<true>(parameters, column, split, sum);
    } else {
      FinishUnits<false>(parameters, column, split, sum);
    }
  };
  if (work.splits == 1) return JoinUnits(block, warp, lanes, units, memory, finish);
  JoinUnits(block, warp, lanes, units, memory, [&](uint32_t c, const ColumnUnits& sum) {
    const uint64_t column = item.first_column + c;
    if (column >= parameters.group_count) return;
    static_cast<ColumnUnits*>(work.partials)[item.split * parameters.group_count + column] = sum;
  });
  if (!IsLastBlock(block, &work.tickets[item.tile], work.splits, memory.is_last)) return;
  LoadUnits(warp, parameters, work, item, lanes, units);
  JoinUnits(block, warp, lanes, units, memory, finish);
}

// Items of a tile of columns, in blocks. T: double.
template <class T>
__global__ void __launch_bounds__(PairTuning::kColumnThreads)
    ReduceDoubleColumns(const __grid_constant__ ReductionParameters parameters,
                        const __grid_constant__ ColumnWork work) {
  __shared__ DoubleColumnMemory memory;
  const cg::thread_block block = cg::this_thread_block();
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(block);
  const ColumnLanes<T> lanes(parameters, warp.thread_rank(), work.tile_columns_log2);
  const uint32_t turn_rows = ColumnSumRowsInFlight(sizeof(T)) * lanes.rows;
#pragma unroll 1
  for (uint64_t i = blockIdx.x; i < work.tile_count * work.splits; i += gridDim.x) {
    const ColumnSumItem item(parameters, work, turn_rows, i);
    if (block.thread_rank() == 0) {
      memory.turns_drawn = warp.meta_group_size();
      memory.largest = 0;
    }
    SyncBlock(block);
    ColumnSplit split;
    ColumnUnits units[DoubleColumns::kSize];
    if (lanes.in_vectors) {
      SumDoubleColumnRows<true>(block, warp, parameters, work, item, lanes, memory, split, units);
    } else {
      SumDoubleColumnRows<false>(block, warp, parameters, work, item, lanes, memory, split, units);
    }
    FinishDoubleColumnItem<T>(parameters, work, i, split, units, memory);
    SyncBlock(block);  // Before shared memory is used again.
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_DOUBLE_COLUMNS_CUH_
