// The kernels of reductions along axis 0 that take vectors of columns, for whatever is kept of
// them: ReduceColumnItems, of blocks that share out the rows of a tile of columns, and
// ReduceWholeColumns, of warps that take all rows of theirs.
//
// `Columns` is what a lane keeps of its ColumnVector of columns:
//
//   using Element;
//   using Partial;                     // Of a column: a state with Merge and ForEachPart.
//   static constexpr uint32_t kRows;   // That a lane takes in a turn, and has under way.
//   explicit Columns(const ReductionParameters&);
//   // Adds `count` rows, behind which there are absent ones (ColumnVectors::Load). The r-th has
//   // the position `position` + r among the lane's rows; positions grow from call to call.
//   void Add(const ColumnVector<Element> (&rows)[kRows], uint32_t position, uint32_t count);
//   // Of the k-th column; row_of(position) is a row of the array.
//   Partial PartialOf(uint32_t k, RowOf row_of) const;
//   // Writes what is asked for of a column, from all of its rows.
//   static void Finish(const ReductionParameters&, uint64_t column, const Partial&);
//
// Those that do not take all data, DoubleMomentColumns, leave tiles to ReduceColumns, and differ in
// what these functions are told (window_columns.cuh).
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_KERNELS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_KERNELS_CUH_

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce/columns/items.cuh"
#include "kernels/cuda/reduce/columns/vectors.cuh"
#include "kernels/cuda/reduce/columns/window_columns.cuh"
#include "kernels/cuda/reduce/core/join.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/core/turn_deal.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/pair_tuning.h"
#include "kernels/cuda/reduce/plan/tuning.h"

namespace gridfold::kernels::cuda {

template <class Columns>
using PlaceOf = ColumnPlace<typename Columns::Element>;

// The vectors of a lane's columns.
template <class Columns>
using LanePartials = typename Columns::Partial[PlaceOf<Columns>::kSize];

// The calling thread's.
template <class Columns>
__device__ inline PlaceOf<Columns> PlaceInBlock(const Warp& warp, const ColumnWork& work) {
  return {warp.thread_rank(), warp.meta_group_rank(), warp.meta_group_size(),
          work.tile_columns_log2};
}

// Joins the columns of a block's lanes, the k-th ones of all of them and then the next, and calls
// take(column of the tile, partial) for each. Called by all threads; has barriers, and one is
// needed before the block's dynamic shared memory is used again.
template <class Columns, class F>
__device__ inline void JoinColumns(const cg::thread_block& block, const Warp& warp,
                                   const PlaceOf<Columns>& place,
                                   const LanePartials<Columns>& partials, F take) {
  using Partial = typename Columns::Partial;
  auto& shared =
      *reinterpret_cast<SharedStates<Partial, PairTuning::kColumnThreads>*>(BlockWords());
  const uint32_t rank = block.thread_rank();
  // Neighbours take what the rows of warps have of the same column.
  const uint32_t of_row = place.warps * place.lanes;
  const uint32_t column = rank / place.warp_rows;
  const uint32_t warp_row = rank % place.warp_rows;
#pragma unroll 1
  for (uint32_t k = 0; k < place.kSize; ++k) {
    Partial partial = partials[k];
    MergeDistantLanes(warp, place.lanes, partial);
    SyncBlock(block);  // Those before are read.
    if (place.row == 0) {
      shared[(place.warp_row * place.warps + place.warp_column) * place.lanes + place.lane] =
          partial;
    }
    SyncBlock(block);
    partial = column < of_row ? shared[warp_row * of_row + column] : Partial();
    MergeLanes(warp, place.warp_rows, partial);
    if (column < of_row && warp_row == 0) take(column * place.kSize + k, partial);
  }
}

// The thread's share of what the splits of a tile left.
template <class Columns>
__device__ inline void LoadPartials(const ReductionParameters& parameters, const ColumnWork& work,
                                    const ColumnSumItem& item, const PlaceOf<Columns>& place,
                                    LanePartials<Columns>& partials) {
  using Partial = typename Columns::Partial;
  const Partial* const left = static_cast<const Partial*>(work.partials);
  const uint64_t columns = parameters.group_count;
#pragma unroll 1
  for (uint32_t k = 0; k < place.kSize; ++k) {
    const uint64_t column = item.first_column + place.Column() + k;
    Partial partial;
#pragma unroll 2
    for (uint64_t split = place.warp_row * place.rows + place.row;
         column < columns && split < work.splits; split += place.rows * place.warp_rows) {
      partial.Merge(left[split * columns + column]);
    }
    partials[k] = partial;
  }
}

// Columns that take all data can be dealt turns of the whole tile. The others have no registers to
// spare for that.
template <class Columns>
using DrawsOf = std::conditional_t<kHasWindows<Columns>, ItemDraws, DealtDraws>;

// Begins the draws of an item, those of each of the warps side by side. By all threads of a block,
// before a barrier.
template <class Columns>
__device__ inline void BeginDraws(const cg::thread_block& block, const ColumnWork& work,
                                  const ColumnSumItem& item, const PlaceOf<Columns>& place,
                                  const DrawnRows& rows,
                                  typename DrawsOf<Columns>::Shared* shared) {
  const uint32_t side = block.thread_rank();
  if (side >= place.warps) return;
  // One warp may take all.
  const uint32_t turns_max = static_cast<uint32_t>(PairTuning::kRowsPerSplitMax / Columns::kRows);
  DrawsOf<Columns>::Begin(shared[side], work, item, rows, side, place.warp_rows, turns_max);
}

// Joins the i-th item's columns, and those of its tile in the last block. Not inlined, so that
// registers that it needs are not kept while rows are added. Called by all threads.
template <class Columns>
__device__ __noinline__ void FinishColumnItem(const ReductionParameters& parameters,
                                              const ColumnWork& work, uint64_t i,
                                              LanePartials<Columns>& partials, uint32_t& drawn) {
  using Partial = typename Columns::Partial;
  const cg::thread_block block = cg::this_thread_block();
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(block);
  const PlaceOf<Columns> place = PlaceInBlock<Columns>(warp, work);
  const ColumnSumItem item(parameters, work, Columns::kRows * place.rows, i);
  bool is_whole = work.splits == 1;
#pragma unroll 1
  for (;;) {
    JoinColumns<Columns>(block, warp, place, partials, [&](uint32_t c, const Partial& partial) {
      const uint64_t column = item.first_column + c;
      if (column >= parameters.group_count) return;
      if (is_whole) {
        FinishColumn<Columns>(parameters, work, item.tile, c, partial);
      } else {
        static_cast<Partial*>(work.partials)[item.split * parameters.group_count + column] =
            partial;
      }
    });
    if (is_whole || !IsLastBlock(block, &work.tickets[item.tile], work.splits, drawn)) return;
    if (!kHasWindows<Columns> && block.thread_rank() < ColumnVectorTuning::kWarpsMax) {
      BatchesDealt(work, item.tile)[block.thread_rank()] = 0;  // For the next launch.
    }
    LoadPartials<Columns>(parameters, work, item, place, partials);
    is_whole = true;
  }
}

template <class Columns>
__global__ void __launch_bounds__(PairTuning::kColumnThreads, kHasWindows<Columns> ? 1 : 0)
    ReduceColumnItems(const __grid_constant__ ReductionParameters parameters,
                      const __grid_constant__ ColumnWork work) {
  using Element = typename Columns::Element;
  constexpr uint32_t kRows = Columns::kRows;
  using Draws = DrawsOf<Columns>;
  __shared__ typename Draws::Shared draws[ColumnVectorTuning::kWarpsMax];  // Of warps side by side.
  __shared__ uint32_t drawn;
  __shared__ ColumnSamples samples;  // Where kHasWindows.
  const cg::thread_block block = cg::this_thread_block();
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(block);
  const PlaceOf<Columns> place = PlaceInBlock<Columns>(warp, work);
#pragma unroll 1
  for (uint64_t i = blockIdx.x; i < work.tile_count * work.splits; i += gridDim.x) {
    const ColumnSumItem item(parameters, work, kRows * place.rows, i);
    const DrawnRows drawn_rows = Draws::RowsOf(parameters, item, kRows * place.rows);
    BeginDraws<Columns>(block, work, item, place, drawn_rows, draws);
    if constexpr (kHasWindows<Columns>) samples.Clear(block.thread_rank());
    SyncBlock(block);
    const ColumnVectors<Element> vectors(parameters, item.first_column + place.Column(),
                                         drawn_rows.first);
    Columns columns = ColumnsOfItem<Columns>(block, parameters, work, item, place, samples);
    DrawTurns<kRows, ColumnVector<Element>, kTurnsMaxOf<Columns>>(
        warp, drawn_rows, Draws(draws[place.warp_column], place.warp_row, warp.thread_rank()),
        place, vectors, NoPrefetch{}, [&](const auto& rows, uint32_t turn, uint64_t left) {
          columns.Add(rows, turn * kRows, RowsPresent<kRows>(left, place.rows));
          return Hold(columns);
        });
    if (!Hold(columns)) LeaveTile(work, item.tile);
    const auto row_of = [&](uint32_t position) {
      return drawn_rows.first + position / kRows * drawn_rows.turn_step + place.row +
             position % kRows * place.rows;
    };
    LanePartials<Columns> partials;
#pragma unroll
    for (uint32_t k = 0; k < place.kSize; ++k) {
      partials[k] =
          PartialOf(parameters, columns, item.first_column + place.Column() + k, k, row_of);
    }
    FinishColumnItem<Columns>(parameters, work, i, partials, drawn);
    SyncBlock(block);  // Before shared memory is used again.
  }
}

// Rows ahead are loaded while others are added.
template <class Columns>
__global__ void __launch_bounds__(PairTuning::kWholeColumnThreads,
                                  PairTuning::kWholeColumnResidentBlocks)
    ReduceWholeColumns(const __grid_constant__ ReductionParameters parameters,
                       const __grid_constant__ ColumnWork work) {
  using Element = typename Columns::Element;
  constexpr uint32_t kRows = Columns::kRows;
  const WarpTiles tiles;
  const PlaceOf<Columns> place(threadIdx.x % ReduceTuning::kWarpThreads, 0, 1,
                               work.tile_columns_log2);
  const uint32_t rows = static_cast<uint32_t>(parameters.group_size);
#pragma unroll 1
  for (uint64_t tile = tiles.first; tile < work.tile_count; tile += tiles.step) {
    const uint64_t column = (tile << work.tile_columns_log2) + place.Column();
    const ColumnVectors<Element> vectors(parameters, column, 0);
    ColumnVector<Element> ahead[kRows];
    vectors.Load(0, 1, rows, ahead);
    Columns columns = ColumnsOfTile<Columns>(parameters, work, tile, place.Column(), ahead);
#pragma unroll 1
    for (uint32_t row = 0; row < rows && Hold(columns);) {
      ColumnVector<Element> taken[kRows];
#pragma unroll
      for (uint32_t r = 0; r < kRows; ++r) taken[r] = ahead[r];
      const uint32_t first = row;
      row += kRows;
      if (row < rows) vectors.Load(row, 1, rows - row, ahead);
      columns.Add(taken, first, min(rows - first, kRows));
    }
    if (!Hold(columns)) LeaveTile(work, tile);
#pragma unroll
    for (uint32_t k = 0; k < place.kSize; ++k) {
      const auto row_of = [](uint32_t position) { return uint64_t{position}; };
      if (column + k >= parameters.group_count) break;
      FinishColumn<Columns>(parameters, work, tile, place.Column() + k,
                            PartialOf(parameters, columns, column + k, k, row_of));
    }
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_KERNELS_CUH_
