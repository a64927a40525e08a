// The kernel of scans along axis 0, in one pass. A turn is a tile of a strip; scan_turn_ring.cuh
// says who works on it, scan_column_turn.cuh when. All blocks are resident (a cooperative launch),
// and each takes its turns in order.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_CUH_

#include <cooperative_groups.h>

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/scan_column_chain.cuh"
#include "kernels/cuda/scan_column_kernels.h"
#include "kernels/cuda/scan_column_narrow_panel.cuh"
#include "kernels/cuda/scan_column_turn.cuh"
#include "kernels/cuda/scan_column_wide_panel.cuh"
#include "kernels/cuda/scan_output.cuh"
#include "kernels/cuda/scan_whole_columns.cuh"
#include "kernels/numerics/scan_operator.h"

namespace gridfold::kernels::cuda {

template <class T, ScanOperation kOperation, class Out, bool kIsNarrow>
class ColumnScan {
 public:
  using Operator = ScanOperator<T, kOperation>;
  using Value = typename Operator::Value;
  using Panel = std::conditional_t<kIsNarrow, NarrowColumnPanel<T, Out>, WideColumnPanel<T, Out>>;
  using Turn = ColumnTurn<Value, Panel::kBytes, kIsNarrow>;
  using Cursor = ColumnTurnCursor;
  static constexpr uint32_t kTurnBytes = sizeof(Turn);
  static constexpr uint32_t kBlocks =
      ColumnScanBlocks(kTurnBytes, ColumnTurnsWanted(sizeof(Value), kIsNarrow));
  static constexpr uint32_t kTurns = ColumnScanTurns(kTurnBytes, kBlocks);
  // As many words in flight as there are registers for.
  static constexpr uint32_t kWindowWords = kBlocks > 2 ? 8 : 16;
  using Chain = ColumnChain<Operator, std::bit_floor(kWindowWords / kValueWords<Value>)>;

  __device__ ColumnScan(const ScanArguments& arguments, const ColumnScanShape& shape,
                        const ColumnLookBackMemory& memory, unsigned char* shared_bytes)
      : arguments_(arguments),
        shape_(shape),
        memory_(memory),
        turns_(reinterpret_cast<Turn*>(shared_bytes)),
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
    switch (warp_in_block_) {
      case kScanColumnWarps: PublishTurns(); break;
      case kScanColumnWarps + 1: JoinTurns(); break;
      case kScanColumnWarps + 2: LookBack(); break;
      default: ScanTurns();
    }
  }

 private:
  static constexpr int kBatch = sizeof(Value) <= 8 ? 8 : 4;  // Items that are read together.
  static_assert(kScanColumnItems % (2 * kBatch) == 0);

  __device__ Turn& TurnAt(const Cursor& cursor) const { return turns_[cursor.place()]; }

  __device__ void ScanTurns() const {
    Panel panel(arguments_, shape_);
    ScanTurnsAsTheyCome(
        warp_, Cursor(shape_, memory_.turns_kept), memory_.turns_kept, shape_.has_many_strips(),
        [&](const Cursor& cursor) {
          Turn& turn = TurnAt(cursor);
          panel.Load(cursor.tile(), cursor.strip(), turn.panel(warp_in_block_));
          turn.copies(warp_in_block_).Commit();
        },
        [&](const Cursor& cursor) {
          return TurnAt(cursor).copies(warp_in_block_).IsOver(cursor.lap());
        },
        [&](const Cursor& cursor) { TotalTurn(cursor, panel); },
        [&](const Cursor& cursor) {
          return TurnAt(cursor).stages().IsOver(TurnStage::kCarried, cursor.lap());
        },
        [&](const Cursor& cursor) { WriteTurn(cursor, panel); });
  }

  __device__ void TotalTurn(const Cursor& cursor, Panel& panel) const {
    Turn& turn = TurnAt(cursor);
    panel.MoveTo(cursor.tile(), cursor.strip(), turn.panel(warp_in_block_));
    ShareTotals(Total(panel), panel, turn);
    turn.stages().Arrive(TurnStage::kTotalled);
  }

  // Gives the turn the totals of the warp's columns, and what precedes the lane's run in the warp.
  __device__ void ShareTotals(Value total, const Panel& panel, Turn& turn) const {
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
      turn.warp_value(warp_in_block_, panel.strip_column()) = total;
    }
  }

  __device__ void WriteTurn(const Cursor& cursor, Panel& panel) const {
    Turn& turn = TurnAt(cursor);
    panel.MoveTo(cursor.tile(), cursor.strip(), turn.panel(warp_in_block_));
    const uint32_t column = panel.strip_column();
    Value in_tile = turn.warp_value(warp_in_block_, column);
    if constexpr (kIsNarrow) in_tile = Operator::Combine(in_tile, turn.run_base());
    Write(Operator::Combine(turn.carry(column), in_tile), panel);
    panel.Flush();
    __syncwarp();
  }

  // Calls visit(tile, turn, the lane's column, the turns that have been kept in its place) for the
  // block's turns.
  template <class Visit>
  __device__ void ForEachTurn(const Chain& chain, Visit&& visit) const {
    for (Cursor cursor(shape_, memory_.turns_kept); cursor; cursor.Advance()) {
      visit(cursor.tile(), TurnAt(cursor), chain.LaneOf(cursor.strip()), cursor.lap());
    }
  }
  using Lane = typename Chain::Lane;

  __device__ void PublishTurns() const {
    const Chain chain(shape_, memory_);
    ForEachTurn(chain, [&](uint32_t tile, Turn& turn, const Lane& lane, uint32_t lap) {
      turn.stages().Await(TurnStage::kTotalled, lap);
      Value joined = Operator::Identity();
      if (lane.has_column) {
#pragma unroll
        for (uint32_t w = 0; w < kScanColumnWarps; ++w) {
          const Value total = turn.warp_value(w, lane_);
          turn.warp_value(w, lane_) = joined;
          joined = Operator::Combine(joined, total);
        }
      }
      chain.PublishTotal(tile, lane, joined);
      turn.tile_total(lane_) = joined;
      turn.stages().Arrive(TurnStage::kPublished);
    });
  }

  __device__ void JoinTurns() const {
    const Chain chain(shape_, memory_);
    ForEachTurn(chain, [&](uint32_t tile, Turn& turn, const Lane& lane, uint32_t lap) {
      // Where strips are many, what precedes a tile is mostly there before its own total.
      if (!shape_.has_many_strips()) turn.stages().Await(TurnStage::kPublished, lap);
      const Value before = chain.JoinTilesBefore(tile, lane);
      turn.stages().Await(TurnStage::kPublished, lap);
      chain.PublishBlockTotal(tile, lane, Operator::Combine(before, turn.tile_total(lane_)));
      turn.total_before(lane_) = before;
      turn.stages().Arrive(TurnStage::kJoined);
    });
  }

  __device__ void LookBack() const {
    const Chain chain(shape_, memory_);
    ForEachTurn(chain, [&](uint32_t tile, Turn& turn, const Lane& lane, uint32_t lap) {
      if (!shape_.has_many_strips()) turn.stages().Await(TurnStage::kJoined, lap);
      const Value carry = chain.CarryInto(tile, lane);
      turn.stages().Await(TurnStage::kJoined, lap);
      const Value before = turn.total_before(lane_);
      const Value block_total = Operator::Combine(before, turn.tile_total(lane_));
      chain.PublishCarry(tile, lane, Operator::Combine(carry, block_total));
      turn.carry(lane_) = Operator::Combine(carry, before);
      turn.stages().Arrive(TurnStage::kCarried);
    });
  }

  // Whether the lane's run is a whole one of which nothing else is asked.
  __device__ bool IsPlain(const Panel& panel) const {
    return panel.size() == kScanColumnItems && panel.IsPlain() &&
           !(FloatingElement<T> && arguments_.ignore_nan);
  }

  __device__ Value Total(const Panel& panel) const {
    Value running = Operator::Identity();
    if (IsPlain(panel)) {
      constexpr int kTotalled = sizeof(T) == 8 ? kBatch : 2 * kBatch;
#pragma unroll 1
      for (int begin = 0; begin < kScanColumnItems; begin += kTotalled) {
        T items[kTotalled];
        panel.Read(begin, items);
#pragma unroll
        for (int k = 0; k < kTotalled; ++k) {
          running = Operator::Combine(
              running, LiftElement<Operator>(items[k], false, arguments_.mirror_bits));
        }
      }
    } else {
      for (int k = 0; k < panel.size(); ++k) {
        running = Operator::Combine(
            running,
            LiftElement<Operator>(panel.Item(k), arguments_.ignore_nan, arguments_.mirror_bits));
      }
    }
    return running;
  }

  __device__ void Write(const Value& base, Panel& panel) const {
    const bool starts_empty = arguments_.exclusive && panel.IsFirst();
    const bool fits = IsPlain(panel) && !starts_empty ? WriteItems<false>(base, panel)
                                                      : WriteItems<true>(base, panel);
    if (!fits) ReportOverflow(arguments_);
  }

  // Returns whether all results fit.
  template <bool kIsGeneral>
  __device__ bool WriteItems(const Value& base, Panel& panel) const {
    const int size = kIsGeneral ? panel.size() : kScanColumnItems;
    bool fits = true;
    // Where the order of joins does not matter, the base may be joined first.
    Value running = Operator::kIsAssociative ? base : Operator::Identity();
#pragma unroll 1
    for (int begin = 0; begin < size; begin += kBatch) {
      // All reads of a batch before its first result, which may take their place.
      T items[kBatch];
      Out results[kBatch];
      if constexpr (kIsGeneral) {
#pragma unroll
        for (int k = 0; k < kBatch; ++k) {
          if (begin + k < size) items[k] = panel.Item(begin + k);
        }
      } else {
        panel.Read(begin, items);
      }
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        if (kIsGeneral && begin + k >= size) break;
        const Value before = running;
        running = Operator::Combine(
            running, LiftElement<Operator>(items[k], kIsGeneral && arguments_.ignore_nan,
                                           arguments_.mirror_bits));
        Value result = arguments_.exclusive ? before : running;
        if constexpr (!Operator::kIsAssociative) result = Operator::Combine(base, result);
        if (kIsGeneral && arguments_.exclusive && panel.IsFirst() && begin + k == 0) {
          result = Operator::EmptyResult();
        }
        fits &= StoreResult<Operator>(result, arguments_.wrap, arguments_.mirror_bits, &results[k]);
        if constexpr (kIsGeneral) panel.Put(begin + k, results[k]);
      }
      if constexpr (!kIsGeneral) panel.Write(begin, results);
    }
    return fits;
  }

  const ScanArguments& arguments_;
  const ColumnScanShape& shape_;
  const ColumnLookBackMemory& memory_;
  Turn* const turns_;  // memory.turns_kept of them.
  const Warp warp_;
  const uint32_t lane_;
  const uint32_t warp_in_block_;
};

template <class Scan>
__global__ void __launch_bounds__(kColumnBlockThreads, Scan::kBlocks)
    ScanColumns(const ScanArguments arguments, const ColumnScanShape shape,
                const ColumnLookBackMemory memory) {
  alignas(128) extern __shared__ unsigned char column_shared_bytes[];
  Scan(arguments, shape, memory, column_shared_bytes).Run();
}

template <ScanOperation kOperation>
ColumnScanKernels FindColumnScanKernels(ElementType type, bool accumulator_output) {
  return VisitElementType(type, [&](auto type_tag) {
    using T = ScannedElement<typename decltype(type_tag)::type, kOperation>;
    return VisitOutput<T, kOperation>(accumulator_output, [](auto out_tag) -> ColumnScanKernels {
      using Out = typename decltype(out_tag)::type;
      using Operator = ScanOperator<T, kOperation>;
      constexpr int kVector = kColumnVector<Operator, T, Out>;
      using Wide = ColumnScan<T, kOperation, Out, false>;
      using Narrow = ColumnScan<T, kOperation, Out, true>;
      return {.wide = {ScanColumns<Wide>, Wide::kTurnBytes, Wide::kTurns},
              .narrow = {ScanColumns<Narrow>, Narrow::kTurnBytes, Narrow::kTurns},
              .whole_vectors = {ScanWholeColumns<Operator, T, Out, kVector, false>,
                                kVector * kScanLanes},
              .whole_columns = {ScanWholeColumns<Operator, T, Out, kVector, true>,
                                kVector * (kScanLanes - 1)},
              .thread_columns = kVector,
              .value_bytes = sizeof(typename Operator::Value)};
    });
  });
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_CUH_
