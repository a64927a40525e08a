// The kernel of scans along axis 0, in one pass. A turn is a tile of a strip;
// scan/base/turn_ring.cuh says who works on it, turn.cuh when. All blocks are resident (a
// cooperative launch), and each takes its turns in order.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_COLUMNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_COLUMNS_CUH_

#include <cooperative_groups.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "kernels/cuda/scan/base/output.cuh"
#include "kernels/cuda/scan/columns/chain.cuh"
#include "kernels/cuda/scan/columns/kernels.h"
#include "kernels/cuda/scan/columns/narrow_panel.cuh"
#include "kernels/cuda/scan/columns/turn.cuh"
#include "kernels/cuda/scan/columns/whole_columns.cuh"
#include "kernels/cuda/scan/columns/wide_panel.cuh"
#include "kernels/numerics/arithmetic/min_max.h"
#include "kernels/numerics/scans/operator.h"

namespace gridfold::kernels::cuda {

template <class T, ScanOperation kOperation, class Out, PanelLayout kLayout>
class ColumnScan {
 public:
  using Operator = ScanOperator<T, kOperation>;
  using Value = typename Operator::Value;
  static constexpr bool kIsNarrow = kLayout == PanelLayout::kNarrow;
  using Panel = std::conditional_t<
      kIsNarrow, NarrowColumnPanel<T, Out>,
      WideColumnPanel<T, Out, LaneColumns(kLayout, sizeof(T), sizeof(Out), sizeof(Value))>>;
  using Turn = ColumnTurn<Value, kIsNarrow, Panel::kColumnsMax>;
  using Cursor = ColumnTurnCursor;
  static constexpr uint32_t kTurnBytes = sizeof(Turn);  // Besides the panels.
  static constexpr ColumnBlockShape kBlock =
      ColumnBlockShapeOf(kLayout, kTurnBytes + kScanColumnWarps * Panel::kBytesMax, sizeof(T),
                         sizeof(Value), Panel::kLaneColumns, Operator::kIsAssociative);
  // The window has as many words in flight as there are registers for, and as many values as are
  // soon looked at.
  static constexpr uint32_t kThreads = kBlock.threads() * kBlock.blocks;
  static constexpr uint32_t kWindowWords = kThreads > 512 ? 8 : kThreads > 256 ? 16 : 32;
  static constexpr uint32_t kWindow =
      Min(uint32_t{16}, std::bit_floor(kWindowWords / kValueWords<Value>));
  using Chain = ColumnChain<Operator, kWindow>;
  static constexpr bool kMayKeepCarries =
      kIsNarrow ? kBlock.blocks == 1 : sizeof(T) >= 4 && sizeof(Value) <= 16;
  static constexpr uint32_t kStripBytes =
      kMayKeepCarries && !kIsNarrow ? Panel::kColumnsMax * sizeof(Value) : 0;

  __device__ ColumnScan(const ScanArguments& arguments, const ColumnScanShape& shape,
                        const ColumnLookBackMemory& memory, unsigned char* shared_bytes)
      : arguments_(arguments),
        shape_(shape),
        memory_(memory),
        panel_bytes_(Panel::Bytes(shape)),
        panels_(shared_bytes),
        turns_(reinterpret_cast<Turn*>(shared_bytes +
                                       memory.turns_kept * kScanColumnWarps * panel_bytes_)),
        kept_carries_(reinterpret_cast<Value*>(turns_ + memory.turns_kept)),
        warp_(cooperative_groups::tiled_partition<kScanLanes>(
            cooperative_groups::this_thread_block())),
        lane_(threadIdx.x % kScanLanes),
        warp_in_block_(threadIdx.x / kScanLanes) {}

  // All threads of the block.
  __device__ void Run() const {
    if (threadIdx.x == 0) {
      for (uint32_t i = 0; i < memory_.turns_kept; ++i) {
        turns_[i].Initialise();
      }
    }
    __syncthreads();
    if (warp_in_block_ < scanning_warps()) return ScanTurns();
    const uint32_t role = warp_in_block_ - scanning_warps();
    if (role == 0) return PublishTurns();
    // Warps that wait for others have a half of the strip's columns each, where lanes have two
    // columns.
    const uint32_t half = (role - 1) % kLaneColumns;
    const uint32_t waiting = (role - 1) / kLaneColumns;
    if (waiting == 0) return LookBack(half);
    JoinTurns(waiting - 1, half);
  }

 private:
  static constexpr int kLaneColumns = Panel::kLaneColumns;
  static constexpr int kBatch = sizeof(Value) <= 16 ? 8 : 4;  // Items that are read together.
  static_assert(kScanColumnItems % (2 * kBatch) == 0);

  __device__ Turn& TurnAt(const Cursor& cursor) const { return turns_[cursor.place()]; }
  __device__ uint32_t scanning_warps() const { return memory_.teams * kScanColumnWarps; }
  // The place of a scanning warp in its tile.
  __device__ uint32_t warp_in_tile() const { return warp_in_block_ % kScanColumnWarps; }
  __device__ unsigned char* PanelAt(const Cursor& cursor) const {
    return panels_ + (cursor.place() * kScanColumnWarps + warp_in_tile()) * panel_bytes_;
  }

  __device__ void ScanTurns() const {
    Panel panel(arguments_, shape_);
    Cursor first(shape_, memory_.turns_kept);
    first.Skip(warp_in_block_ / kScanColumnWarps);  // To the team's.
    ScanTurnsAsTheyCome(
        warp_, first, memory_.teams, memory_.turns_kept / memory_.teams, shape_.has_many_strips(),
        [&](const Cursor& cursor) {
          Turn& turn = TurnAt(cursor);
          panel.Load(cursor.tile(), cursor.strip(), PanelAt(cursor), turn.copies(warp_in_tile()));
          turn.copies(warp_in_tile()).Commit();
        },
        [&](const Cursor& cursor) {
          return TurnAt(cursor).copies(warp_in_tile()).IsOver(cursor.lap());
        },
        [&](const Cursor& cursor) { TotalTurn(cursor, panel); },
        [&](const Cursor& cursor) {
          return TurnAt(cursor).stages().IsOver(TurnStage::kCarried, cursor.lap());
        },
        [&](const Cursor& cursor) { WriteTurn(cursor, panel); });
    Panel::Finish();
  }

  __device__ void TotalTurn(const Cursor& cursor, Panel& panel) const {
    Turn& turn = TurnAt(cursor);
    panel.MoveTo(cursor.tile(), cursor.strip(), PanelAt(cursor));
    Value totals[kLaneColumns];
    Total(panel, totals);
#pragma unroll
    for (int c = 0; c < kLaneColumns; ++c) ShareTotal(totals[c], c, panel, turn);
    turn.stages().Arrive(TurnStage::kTotalled);
  }

  // Gives the turn the total of the warp's column, and what precedes the lane's run in the warp.
  __device__ void ShareTotal(Value total, int c, const Panel& panel, Turn& turn) const {
    if constexpr (kIsNarrow) {
      const uint32_t run_lanes = shape_.strip_columns;
      for (uint32_t delta = 1; delta < shape_.runs; delta *= 2) {
        const Value from =
            MoveValue(total, [&](auto x) { return warp_.shfl_up(x, delta * run_lanes); });
        if (panel.run() >= delta) total = Operator::Combine(from, total);
      }
      const Value before = MoveValue(total, [&](auto x) { return warp_.shfl_up(x, run_lanes); });
      turn.run_base() = panel.run() > 0 ? before : Operator::Identity();
    }
    if (panel.run() == shape_.runs - 1) {
      turn.warp_value(warp_in_tile(), panel.strip_column(c)) = total;
    }
  }

  __device__ void WriteTurn(const Cursor& cursor, Panel& panel) const {
    Turn& turn = TurnAt(cursor);
    panel.MoveTo(cursor.tile(), cursor.strip(), PanelAt(cursor));
    Value bases[kLaneColumns];
#pragma unroll
    for (int c = 0; c < kLaneColumns; ++c) {
      const uint32_t column = panel.strip_column(c);
      Value in_tile = turn.warp_value(warp_in_tile(), column);
      if constexpr (kIsNarrow) in_tile = Operator::Combine(in_tile, turn.run_base());
      bases[c] = Operator::Combine(turn.carry(column), in_tile);
    }
    Write(bases, panel);
    panel.Flush();
    __syncwarp();
  }

  // Calls visit(cursor, turn) for each `step`-th of the block's turns, from place `first` on.
  template <class Visit>
  __device__ void ForEachTurn(uint32_t first, uint32_t step, Visit&& visit) const {
    Cursor cursor(shape_, memory_.turns_kept);
    for (cursor.Skip(first); cursor; cursor.Skip(step)) visit(cursor, TurnAt(cursor));
  }
  using Lane = typename Chain::Lane;

  __device__ void PublishTurns() const {
    const Chain chain(shape_, memory_);
    ForEachTurn(0, 1, [&](const Cursor& cursor, Turn& turn) {
      turn.stages().Await(TurnStage::kTotalled, cursor.lap());
#pragma unroll
      for (uint32_t half = 0; half < kLaneColumns; ++half) {
        const Lane lane = chain.LaneOf(cursor.strip(), half);
        const uint32_t column = lane.strip_column;
        Value joined = Operator::Identity();
        if (lane.has_column) {
#pragma unroll
          for (uint32_t w = 0; w < kScanColumnWarps; ++w) {
            const Value total = turn.warp_value(w, column);
            turn.warp_value(w, column) = joined;
            joined = Operator::Combine(joined, total);
          }
        }
        chain.PublishTotal(cursor.tile(), lane, joined);
        turn.tile_total(column) = joined;
      }
      turn.stages().Arrive(TurnStage::kPublished);
    });
  }

  // Turns are dealt out to the warps that join. No more of them than places: whoever waits for a
  // stage knows that the turn before in that place is past it.
  __device__ void JoinTurns(uint32_t joiner, uint32_t half) const {
    const Chain chain(shape_, memory_);
    const uint32_t joiners = min(kColumnJoiners, memory_.turns_kept);
    if (joiner >= joiners) return;
    ForEachTurn(joiner, joiners, [&](const Cursor& cursor, Turn& turn) {
      const Lane lane = chain.LaneOf(cursor.strip(), half);
      // Where strips are many, what precedes a tile is mostly there before its own total.
      if (!shape_.has_many_strips()) turn.stages().Await(TurnStage::kPublished, cursor.lap());
      const Value before = chain.JoinTilesBefore(cursor.tile(), lane);
      turn.stages().Await(TurnStage::kPublished, cursor.lap());
      const Value total = turn.tile_total(lane.strip_column);
      chain.PublishBlockTotal(cursor.tile(), lane, Operator::Combine(before, total));
      turn.total_before(lane.strip_column) = before;
      turn.stages().Arrive(TurnStage::kJoined);
    });
  }

  // Whether blocks keep what precedes a strip's tile for their next one: from there it is not far.
  __device__ bool KeepsCarries() const {
    return kMayKeepCarries && (kIsNarrow || shape_.has_kept_strips());
  }
  __device__ Value& KeptCarry(uint32_t strip, const Lane& lane) const {
    return kept_carries_[strip * Panel::kColumnsMax + lane.strip_column];
  }

  // What precedes a tile's block of tiles, from `carry`, which preceded that of the strip's tile
  // that this block of threads had before: see ColumnGridBlocks.
  __device__ Value NextCarry(const Chain& chain, uint32_t tile, const Lane& lane,
                             const Value& carry) const {
    const bool is_first = tile < gridDim.x;
    const uint32_t from = is_first ? 0 : (tile - gridDim.x) / kScanTilesPerBlock;
    return chain.CarryFrom(from, is_first ? Operator::Identity() : carry, tile / kScanTilesPerBlock,
                           lane);
  }

  __device__ void LookBack(uint32_t half) const {
    const Chain chain(shape_, memory_);
    Value only_kept = Operator::Identity();  // Where there is one strip.
    ForEachTurn(0, 1, [&](const Cursor& cursor, Turn& turn) {
      const uint32_t tile = cursor.tile();
      const Lane lane = chain.LaneOf(cursor.strip(), half);
      Value carry;
      if (KeepsCarries()) {
        turn.stages().Await(TurnStage::kPublished, cursor.lap());
        Value& kept = kIsNarrow ? only_kept : KeptCarry(cursor.strip(), lane);
        kept = NextCarry(chain, tile, lane, kept);
        carry = kept;
      } else {
        if (!shape_.has_many_strips()) turn.stages().Await(TurnStage::kJoined, cursor.lap());
        carry = chain.CarryInto(tile, lane);
      }
      turn.stages().Await(TurnStage::kJoined, cursor.lap());
      const Value before = turn.total_before(lane.strip_column);
      if (!KeepsCarries()) {
        const Value block_total = Operator::Combine(before, turn.tile_total(lane.strip_column));
        chain.PublishCarry(tile, lane, Operator::Combine(carry, block_total));
      }
      turn.carry(lane.strip_column) = Operator::Combine(carry, before);
      if (shape_.shares_lines && half == 0) chain.AwaitNeighbours(tile, cursor.strip());
      turn.stages().Arrive(TurnStage::kCarried);
    });
  }

  // Whether the lane's runs are whole ones of which nothing else is asked.
  __device__ bool IsPlain(const Panel& panel) const {
    return panel.size() == kScanColumnItems && panel.IsPlain() &&
           !(FloatingElement<T> && arguments_.ignore_nan);
  }

  // Sets the totals of the lane's runs.
  __device__ void Total(const Panel& panel, Value (&totals)[kLaneColumns]) const {
    for (Value& total : totals) total = Operator::Identity();
    if (IsPlain(panel)) {
      TotalItems<false>(panel, totals);
    } else {
      TotalItems<true>(panel, totals);
    }
  }

  template <bool kIsGeneral>
  __device__ void TotalItems(const Panel& panel, Value (&totals)[kLaneColumns]) const {
    constexpr int kTotalled = sizeof(T) == 8 ? kBatch : 2 * kBatch / kLaneColumns;
    const int size = kIsGeneral ? panel.size() : kScanColumnItems;
#pragma unroll 1
    for (int begin = 0; begin < size; begin += kTotalled) {
      T items[kTotalled][kLaneColumns];
      ReadItems<kIsGeneral>(panel, begin, items);
#pragma unroll
      for (int k = 0; k < kTotalled; ++k) {
        if (kIsGeneral && begin + k >= size) continue;
        AddItems(items[k], kIsGeneral && arguments_.ignore_nan, totals);
      }
    }
  }

  // The items at the runs' places from `begin` on; behind the last one anything.
  template <bool kIsGeneral, int kCount>
  __device__ void ReadItems(const Panel& panel, int begin, T (&items)[kCount][kLaneColumns]) const {
    if constexpr (kIsGeneral) {
#pragma unroll
      for (int k = 0; k < kCount; ++k) panel.Read(begin + k, items[k]);
    } else {
      panel.ReadPlain(begin, items);
    }
  }

  __device__ void AddItems(const T (&items)[kLaneColumns], bool ignore_nan,
                           Value (&running)[kLaneColumns]) const {
#pragma unroll
    for (int c = 0; c < kLaneColumns; ++c) {
      running[c] = Operator::Combine(
          running[c], LiftElement<Operator>(items[c], ignore_nan, arguments_.mirror_bits));
    }
  }

  __device__ void Write(const Value (&bases)[kLaneColumns], Panel& panel) const {
    const bool starts_empty = arguments_.exclusive && panel.IsFirst();
    const bool fits = IsPlain(panel) && !starts_empty ? WriteItems<false>(bases, panel)
                                                      : WriteItems<true>(bases, panel);
    if (!fits) ReportOverflow(arguments_);
  }

  // Returns whether all results fit.
  template <bool kIsGeneral>
  __device__ bool WriteItems(const Value (&bases)[kLaneColumns], Panel& panel) const {
    constexpr int kWritten = kBatch / kLaneColumns;
    const int size = kIsGeneral ? panel.size() : kScanColumnItems;
    bool fits = true;
    // Where the order of joins does not matter, the base may be joined first.
    Value running[kLaneColumns];
#pragma unroll
    for (int c = 0; c < kLaneColumns; ++c) {
      running[c] = Operator::kIsAssociative ? bases[c] : Operator::Identity();
    }
#pragma unroll 1
    for (int begin = 0; begin < size; begin += kWritten) {
      // All reads of a batch before its first result, which may take their place.
      T items[kWritten][kLaneColumns];
      ReadItems<kIsGeneral>(panel, begin, items);
      Out results[kWritten][kLaneColumns];
#pragma unroll
      for (int k = 0; k < kWritten; ++k) {
        const bool is_there = !kIsGeneral || begin + k < size;
#pragma unroll
        for (int c = 0; c < kLaneColumns; ++c) {
          const Value before = running[c];
          running[c] = Operator::Combine(
              running[c], LiftElement<Operator>(items[k][c], kIsGeneral && arguments_.ignore_nan,
                                                arguments_.mirror_bits));
          Value result = arguments_.exclusive ? before : running[c];
          if constexpr (!Operator::kIsAssociative) result = Operator::Combine(bases[c], result);
          if (kIsGeneral && k == 0 && begin == 0 && arguments_.exclusive && panel.IsFirst()) {
            result = Operator::EmptyResult();
          }
          const bool item_fits = StoreResult<Operator>(result, arguments_.wrap,
                                                       arguments_.mirror_bits, &results[k][c]);
          fits &= item_fits || !is_there || (c > 0 && !panel.has_column(c));
        }
      }
#pragma unroll
      for (int k = 0; k < kWritten; ++k) {
        if (!kIsGeneral || begin + k < size) panel.Write(begin + k, results[k]);
      }
    }
    return fits;
  }

  const ScanArguments& arguments_;
  const ColumnScanShape& shape_;
  const ColumnLookBackMemory& memory_;
  const uint32_t panel_bytes_;
  unsigned char* const panels_;  // Of each turn, a warp's behind another's.
  Turn* const turns_;            // memory.turns_kept of them.
  Value* const kept_carries_;    // Of the columns of each strip, where these are few.
  const Warp warp_;
  const uint32_t lane_;
  const uint32_t warp_in_block_;
};

template <class Scan>
__global__ void __launch_bounds__(Scan::kBlock.threads(), Scan::kBlock.blocks)
    ScanColumns(const ScanArguments arguments, const ColumnScanShape shape,
                const ColumnLookBackMemory memory) {
  alignas(128) extern __shared__ unsigned char column_shared_bytes[];
  Scan(arguments, shape, memory, column_shared_bytes).Run();
}

template <class Scan>
ColumnTileKernel KernelOf() {
  return {ScanColumns<Scan>, Scan::kBlock, Scan::kTurnBytes, Scan::kStripBytes,
          Scan::Panel::kColumnsMax};
}

template <class Walker>
WholeColumnsKernel WholeKernelOf() {
  return {ScanWholeColumns<Walker>, Walker::kThreads,
          Walker::kThreads / kScanLanes * Walker::kWarpColumns};
}

// The kernels of one element type and output type.
template <class T, ScanOperation kOperation, class Out>
ColumnScanKernels ColumnScanKernelsOf() {
  using Operator = ScanOperator<T, kOperation>;
  constexpr int kVector = kColumnVector<Operator, T, Out>;
  using Wide = ColumnScan<T, kOperation, Out, PanelLayout::kWide>;
  using Narrow = ColumnScan<T, kOperation, Out, PanelLayout::kNarrow>;
  constexpr bool kHasLongRows =
      HasLongRowsKernel(sizeof(T), sizeof(Out), sizeof(typename Operator::Value));
  using LongRows = std::conditional_t<kHasLongRows,
                                      ColumnScan<T, kOperation, Out, PanelLayout::kLongRows>, Wide>;
  return {.wide = KernelOf<Wide>(),
          .narrow = KernelOf<Narrow>(),
          .long_rows = KernelOf<LongRows>(),
          .long_row_columns = LongRowColumns(Operator::kIsAssociative),
          .whole_vectors = WholeKernelOf<ColumnsWalker<Operator, T, Out, kVector, false>>(),
          .whole_columns = WholeKernelOf<ColumnsWalker<Operator, T, Out, kVector, true>>(),
          .thread_columns = kVector,
          .value_bytes = sizeof(typename Operator::Value)};
}

template <ScanOperation kOperation>
ColumnScanKernels FindColumnScanKernels(ElementType type, bool accumulator_output) {
  return VisitElementType(type, [&](auto type_tag) -> ColumnScanKernels {
    using T = ScannedElement<typename decltype(type_tag)::type, kOperation>;
    if constexpr (!kHasOperator<T, kOperation>) {
      std::abort();  // OperatorOf gives none: a bug of the caller.
    } else {
      return VisitOutput<T, kOperation>(accumulator_output, [](auto out_tag) {
        return ColumnScanKernelsOf<T, kOperation, typename decltype(out_tag)::type>();
      });
    }
  });
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_COLUMNS_CUH_
