// The kernel of scans along axis 0 of so many columns that a thread for each keeps the device busy,
// or of so few rows that there is nothing to share: a thread goes down all rows of a column, or of
// as many columns as make a vector of 16 bytes, and waits for no other block.
//
// Where rows do not begin as lines of 128 bytes do, warps share the lines at which they meet. Those
// of a block then go down side by side, so that such a line is whole before it goes to memory.
//
// Where rows do not begin as vectors do, a warp reads and writes the vectors that cover its
// columns, and its lanes pass on what is their neighbours': whole vectors of memory are far fewer
// accesses, and parts of 32 bytes that two warps write are far fewer. One lane more than has
// columns does it.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_WHOLE_COLUMNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_WHOLE_COLUMNS_CUH_

#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/scan/base/output.cuh"
#include "kernels/cuda/scan/columns/kernels.h"
#include "kernels/cuda/scan/columns/vector.cuh"
#include "kernels/numerics/arithmetic/min_max.h"
#include "kernels/numerics/scans/operator.h"

namespace gridfold::kernels::cuda {

// What is known at a row of a column: the joins of numerics/scans/tree.h for one run in a warp.
template <class Operator, bool kIsAssociative = Operator::kIsAssociative>
class ColumnWalk {
 public:
  using Value = typename Operator::Value;

  // The result at the next row.
  __device__ Value Next(const Value& item, bool exclusive) {
    const Value before = run_;
    run_ = Operator::Combine(run_, item);
    return Operator::Combine(base_, exclusive ? before : run_);
  }

  // After the last row of a run, the `runs_before`-th of the column, that others follow.
  __device__ void EndRun(uint64_t runs_before) {
    constexpr uint64_t kBlockRuns = kScanColumnWarps * kScanTilesPerBlock;
    const uint64_t runs = runs_before + 1;
    warps_ = Operator::Combine(warps_, run_);
    run_ = Operator::Identity();
    if (runs % kScanColumnWarps == 0) {
      tiles_ = Operator::Combine(tiles_, warps_);
      warps_ = Operator::Identity();
    }
    if (runs % kBlockRuns == 0) {
      blocks_ = Operator::Combine(blocks_, tiles_);
      tiles_ = Operator::Identity();
    }
    base_ = Operator::Combine(Operator::Combine(blocks_, tiles_), warps_);
  }

 private:
  Value run_ = Operator::Identity();
  Value warps_ = Operator::Identity();   // Of the tile before the run,
  Value tiles_ = Operator::Identity();   // of the block of tiles before the tile,
  Value blocks_ = Operator::Identity();  // and what precedes the block.
  Value base_ = Operator::Identity();    // All three joined.
};

template <class Operator>
class ColumnWalk<Operator, true> {
 public:
  using Value = typename Operator::Value;

  __device__ Value Next(const Value& item, bool exclusive) {
    const Value before = running_;
    running_ = Operator::Combine(running_, item);
    return exclusive ? before : running_;
  }
  __device__ void EndRun(uint64_t) {}

 private:
  Value running_ = Operator::Identity();
};

// Columns of a thread where rows are read by vectors: 16 bytes of results or elements, or as many
// as there are registers for.
template <class Operator, class T, class Out>
inline constexpr int kColumnVector = static_cast<int>(std::bit_floor(
    Min(Min(16 / Max(sizeof(T), sizeof(Out)), 160 / sizeof(ColumnWalk<Operator>)), size_t{8})));

// Goes down kCount columns of each lane that has any.
template <class Operator, class T, class Out, int kCount, bool kIsShifted>
class ColumnsWalker {
 public:
  // Lanes of a warp that have columns; with vectors that lie as columns do, each is by itself.
  static constexpr uint32_t kLanes = kIsShifted ? kScanLanes - 1 : kScanLanes;
  static constexpr uint32_t kWarpColumns = kLanes * kCount;
  static constexpr uint32_t kThreads = WholeColumnsThreads(kCount * sizeof(ColumnWalk<Operator>));

  // The lane's first column. Warps and lanes behind the last column do it again, so that all of a
  // block meet.
  __device__ static uint64_t FirstColumn(const WholeColumnsShape& shape) {
    const uint64_t warp = (uint64_t{blockIdx.x} * kThreads + threadIdx.x) / kScanLanes;
    const uint64_t column = min(warp, (shape.columns - 1) / kWarpColumns) * kWarpColumns +
                            threadIdx.x % kScanLanes * kCount;
    return kIsShifted ? column : min(column, shape.columns - kCount);
  }

  // `column`: the lane's, as of FirstColumn().
  __device__ ColumnsWalker(const ScanArguments& arguments, const WholeColumnsShape& shape,
                           uint64_t column)
      : arguments_(arguments),
        warp_(cooperative_groups::tiled_partition<kScanLanes>(
            cooperative_groups::this_thread_block())),
        begins_(-static_cast<int>(threadIdx.x % kScanLanes) * kCount),
        ends_(static_cast<int>(
            min(begins_ + int64_t{kWarpColumns}, static_cast<int64_t>(shape.columns - column)))),
        rows_(shape.rows),
        pitch_(arguments.reverse ? -static_cast<int64_t>(shape.columns)
                                 : static_cast<int64_t>(shape.columns)),
        first_((arguments.reverse ? rows_ - 1 : 0) * shape.columns + column),
        input_(static_cast<const T*>(arguments.input) + first_),
        output_(static_cast<Out*>(arguments.output) + first_),
        loaded_shift_(input_, pitch_),
        input_shift_(input_, pitch_),
        output_shift_(output_, pitch_),
        whole_from_(static_cast<const T*>(arguments.input)),
        whole_to_(static_cast<const T*>(arguments.input) + arguments.element_count - kCount),
        lines_are_shared_(shape.columns * sizeof(T) % kLineBytes != 0 ||
                          shape.columns * sizeof(Out) % kLineBytes != 0) {}

  // Returns whether all results fit. A batch is on its way while the one before is scanned. All
  // threads of the block, in step where warps share lines.
  __device__ bool Run() {
    Items next[kRows];
    Load(0, next);
    bool fits = true;
    for (uint64_t begin = 0; begin < rows_; begin += kRows) {
      if (begin > 0 && lines_are_shared_) {
        __syncwarp();
        __syncthreads();
      }
      Items items[kRows];
#pragma unroll
      for (uint32_t k = 0; k < kRows; ++k) items[k] = next[k];
      Load(begin + kRows, next);
      if (begin % kScanColumnItems == 0 && begin > 0) {
        for (auto& walk : walks_) walk.EndRun(begin / kScanColumnItems - 1);
      }
      fits &= begin + kRows <= rows_ ? ScanRows(begin, items) : ScanLastRows(begin, items);
    }
    return fits;
  }

 private:
  static constexpr uint64_t kLineBytes = 128;
  using Items = ColumnVector<T, kCount>;
  using Results = ColumnVector<Out, kCount>;
  static constexpr uint32_t kRows =
      kIsShifted ? ShiftedColumnsBatch(sizeof(Items), kCount) : WholeColumnsBatch(sizeof(Items));
  static_assert(kScanColumnItems % kRows == 0, "a run ends where a batch does");

  __device__ void Load(uint64_t begin, Items (&items)[kRows]) {
#pragma unroll
    for (uint32_t k = 0; k < kRows; ++k) {
      if (begin + k < rows_) items[k] = LoadRow(input_ + k * pitch_);
      loaded_shift_.Advance();
    }
    input_ += kRows * pitch_;
  }

  // The vector in which the lane's items of the next row begin.
  __device__ Items LoadRow(const T* row) const {
    if constexpr (!kIsShifted) {
      return *reinterpret_cast<const Items*>(row);
    } else {
      const T* const first = row - loaded_shift_.get();
      if (first >= whole_from_ && first <= whole_to_) {
        return *reinterpret_cast<const Items*>(first);
      }
      const T* const array = static_cast<const T*>(arguments_.input);
      Items items{};
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const bool is_there = first + i >= array && first + i < array + arguments_.element_count;
        if (is_there) items.items[i] = first[i];
      }
      return items;
    }
  }

  __device__ void StoreRow(Out* row, const Results& results) const {
    if constexpr (!kIsShifted) {
      *reinterpret_cast<Results*>(row) = results;
    } else {
      const auto shift = static_cast<int>(output_shift_.get());
      const Results vector = VectorOfItems(warp_, results, output_shift_.get());
      if (begins_ <= -shift && kCount - shift <= ends_) {
        *reinterpret_cast<Results*>(row - shift) = vector;
        return;
      }
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if (begins_ <= i - shift && i - shift < ends_) row[i - shift] = vector.items[i];
      }
    }
  }

  __device__ bool ScanRows(uint64_t begin, const Items (&items)[kRows]) {
    bool fits = true;
#pragma unroll
    for (uint32_t k = 0; k < kRows; ++k) fits &= ScanRow(items[k], k == 0 && begin == 0);
    return fits;
  }

  // Fewer than kRows of them. Row by row, since all rows again would be as much code.
  __device__ bool ScanLastRows(uint64_t begin, Items (&items)[kRows]) {
    bool fits = true;
#pragma unroll 1
    for (uint64_t row = begin; row < rows_; ++row) {
      fits &= ScanRow(items[0], row == 0);
#pragma unroll
      for (uint32_t k = 1; k < kRows; ++k) items[k - 1] = items[k];
    }
    return fits;
  }

  __device__ bool ScanRow(Items items, bool is_first) {
    if constexpr (kIsShifted) items = ItemsOfVectors(warp_, items, input_shift_.get());
    const bool is_empty = is_first && arguments_.exclusive;
    bool fits = true;
    Results results;
#pragma unroll
    for (int c = 0; c < kCount; ++c) {
      auto result = walks_[c].Next(
          LiftElement<Operator>(items.items[c], arguments_.ignore_nan, arguments_.mirror_bits),
          arguments_.exclusive);
      if (is_empty) result = Operator::EmptyResult();
      const bool item_fits =
          StoreResult<Operator>(result, arguments_.wrap, arguments_.mirror_bits, &results.items[c]);
      fits &= item_fits || (kIsShifted && c >= ends_);
    }
    StoreRow(output_, results);
    output_ += pitch_;
    input_shift_.Advance();
    output_shift_.Advance();
    return fits;
  }

  const ScanArguments& arguments_;
  const Warp warp_;
  // The warp's columns, from the lane's first one on.
  const int begins_;
  const int ends_;
  const uint64_t rows_;
  const int64_t pitch_;
  const uint64_t first_;  // Element.
  const T* input_;
  Out* output_;
  VectorShift<kCount> loaded_shift_;  // Of the row that is loaded next,
  VectorShift<kCount> input_shift_;   // and of the one that is scanned next.
  VectorShift<kCount> output_shift_;
  // Vectors that begin from here to there are the array's as a whole.
  const T* const whole_from_;
  const T* const whole_to_;
  const bool lines_are_shared_;  // By warps, in some rows.
  ColumnWalk<Operator> walks_[kCount];
};

template <class Walker>
__global__ void __launch_bounds__(Walker::kThreads)
    ScanWholeColumns(const ScanArguments arguments, const WholeColumnsShape shape) {
  if (!Walker(arguments, shape, Walker::FirstColumn(shape)).Run()) ReportOverflow(arguments);
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_WHOLE_COLUMNS_CUH_
