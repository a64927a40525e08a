// The kernel of scans over positions in a row: whole arrays, rows and segments, in one pass.
//
// A turn is consecutive tiles; scan/base/turn_ring.cuh says who works on it and when. Scanning
// warps make teams, which share the tiles of a turn.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_LOOK_BACK_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_LOOK_BACK_CUH_

#include <cooperative_groups.h>

#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "kernels/cuda/scan/base/output.cuh"
#include "kernels/cuda/scan/positions/look_back_chain.cuh"
#include "kernels/cuda/scan/positions/run.cuh"
#include "kernels/cuda/scan/positions/turn.cuh"

namespace gridfold::kernels::cuda {

template <class T, ScanOperation kOperation, class Out>
class LookBackScan {
 public:
  using Operator = ScanOperator<T, kOperation>;
  using Value = typename Operator::Value;
  using Grouped = GroupedOf<Operator>;
  static constexpr int kItems = ScanLaneItems(kOperation, sizeof(T), sizeof(Out));
  // Runs are the tree's where the order of joins in a tile matters, else all that a lane has; tiles
  // are the tree's where that of tiles does.
  static constexpr int kRuns = kAnyOrderInTile<Operator, Out> ? 1 : kItems / kScanItems;
  static constexpr int kTileWarps =
      Operator::kIsAssociative ? kScanWarps : kScanTileSize / (kItems * kScanLanes);
  static constexpr int kTileSize = kItems * kScanLanes * kTileWarps;
  static constexpr ScanTurnShape kShape =
      ScanTurnShapeOf(sizeof(T), sizeof(Out), kTileSize, sizeof(Value));
  using TurnOfT = Turn<Operator, T, kItems, kRuns, kTileWarps, kShape>;
  // Results of the elements' type take their places; wider ones have room for so many lanes' of
  // each warp.
  static constexpr bool kIsWide = !std::is_same_v<Out, T>;
  static constexpr int kStageLanes = kScanLanes / kShape.teams;
  static constexpr int kStageSize = kStageLanes * kItems;  // Results.
  static constexpr uint32_t kResultBytes =
      kIsWide ? kShape.teams * kScanWarps * kStageSize * sizeof(Out) : 0;
  static_assert(kResultBytes + 2 * sizeof(TurnOfT) <= kSharedBytesEverywhere);

  __device__ LookBackScan(const ScanArguments& arguments, const ScanHeads& heads,
                          const LookBackMemory& memory, unsigned char* shared_bytes)
      : arguments_(arguments),
        heads_(heads),
        memory_(memory),
        turns_(reinterpret_cast<TurnOfT*>(shared_bytes + kResultBytes)),
        warp_(cooperative_groups::tiled_partition<kScanLanes>(
            cooperative_groups::this_thread_block())),
        lane_(static_cast<int>(warp_.thread_rank())),
        warp_in_block_(static_cast<int>(threadIdx.x) / kScanLanes),
        stage_(reinterpret_cast<Out*>(shared_bytes) + warp_in_block_ * kStageSize),
        runs_(arguments, lane_) {}

  // All threads of the block.
  __device__ void Run() {
    if (threadIdx.x == 0) {
      for (uint32_t i = 0; i < memory_.turns_kept; ++i)
        turns_[i].stages().Initialise(kShape.teams * kScanThreads);
    }
    __syncthreads();
    switch (warp_in_block_ - kShape.teams * kScanWarps) {
      case 0: PublishTurns(); break;
      case 1: JoinTurns(); break;
      case 2: LookBack(); break;
      default: ScanTurns();
    }
  }

 private:
  static constexpr int kPieceSize = kItems * kScanLanes;
  static constexpr int kTilesAtOnce = kShape.teams * kScanWarps / kTileWarps;
  static constexpr int kOwnTiles = kShape.tiles / kTilesAtOnce;
  static_assert(kOwnTiles * kTilesAtOnce == kShape.tiles);

  // A scanning warp's place in its tiles, and these tiles. Calls visit(tile, positions from the
  // turn's beginning to the warp's piece).
  __device__ int warp_in_tile() const { return warp_in_block_ % kTileWarps; }
  template <class Visit>
  __device__ void ForEachOwnTile(const TurnSpan& span, Visit&& visit) const {
    int tile = warp_in_block_ / kTileWarps;
#pragma unroll 1
    for (int i = 0; i < kOwnTiles && tile * kTileSize < span.size; ++i) {
      visit(tile, tile * kTileSize + warp_in_tile() * kPieceSize);
      tile += kTilesAtOnce;
    }
  }
  // Which of a tile's warps of the tree has the lane's runs.
  __device__ int tree_warp() const {
    return warp_in_tile() * kRuns + lane_ / kTreeWarpLanes<kRuns>;
  }
  __device__ TurnSpan SpanOf(const TurnCursor& cursor) const {
    return TurnSpan(arguments_, uint64_t{cursor.first_tile()} * kTileSize,
                    static_cast<int>(memory_.turn_tiles) * kTileSize);
  }
  __device__ TurnOfT& TurnAt(const TurnCursor& cursor) const { return turns_[cursor.place()]; }

  __device__ void ScanTurns() const {
    ScanRing(
        TurnCursor(memory_), memory_.turns_kept,
        [&](const TurnCursor& cursor) { LoadTurn(cursor); },
        [&](const TurnCursor& cursor) { TotalTurn(cursor); },
        [&](const TurnCursor& cursor) { WriteTurn(cursor); });
  }

  __device__ void LoadTurn(const TurnCursor& cursor) const {
    TurnOfT& turn = TurnAt(cursor);
    const TurnSpan span = SpanOf(cursor);
    ForEachOwnTile(span, [&](int tile, int offset) {
      BeginLoad<kItems>(arguments_, span, offset, lane_, NeutralElement<Operator, T>(arguments_),
                        turn.piece(tile, warp_in_tile()));
      BeginLoadHeads<kItems>(heads_, span.position + static_cast<uint64_t>(offset), lane_,
                             turn.piece_heads(tile, warp_in_tile()));
    });
  }

  __device__ void TotalTurn(const TurnCursor& cursor) const {
    TurnOfT& turn = TurnAt(cursor);
    const TurnSpan span = SpanOf(cursor);
    const TurnHeads<kItems> turn_heads(heads_, span.position);
    ForEachOwnTile(span, [&](int tile, int offset) {
      if (heads_.bits == nullptr) {
        turn.lane_heads(tile) = turn_heads.At(static_cast<uint32_t>(offset + lane_ * kItems));
      }
      const HeadBits<kItems> heads = turn.lane_heads(tile);
      const WarpHeads<kRuns> warp_heads(warp_, heads);
      LaneRuns<Value, kRuns> runs =
          runs_.Totals(turn.piece(tile, warp_in_tile()), heads, warp_heads.Runs());
      InclusiveWarpScan<Operator>(warp_, warp_heads, runs);
      if (LaneInTreeWarp<kRuns>(lane_) == kTreeWarpLanes<kRuns> - 1) {
        turn.warp_total(tile, tree_warp()) = {runs[kRuns - 1], warp_heads.AnyInTreeWarp()};
      }
      turn.run_bases(tile) = BeforeRuns<Operator>(warp_, runs);
    });
    turn.stages().Arrive(TurnStage::kTotalled);
  }

  __device__ void WriteTurn(const TurnCursor& cursor) const {
    TurnOfT& turn = TurnAt(cursor);
    turn.stages().Await(TurnStage::kCarried, cursor.lap());
    const TurnSpan span = SpanOf(cursor);
    bool fits = true;
    ForEachOwnTile(span, [&](int tile, int offset) {
      const HeadBits<kItems> heads = turn.lane_heads(tile);
      const WarpHeads<kRuns> warp_heads(warp_, heads);
      LaneRuns<Value, kRuns> bases = turn.run_bases(tile);
#pragma unroll
      for (int r = 0; r < kRuns; ++r) {
        const Grouped in_tile = CombineGrouped<Operator>(
            turn.warp_base(tile, tree_warp()), Grouped{bases[r], warp_heads.AnyBefore(r)});
        bases[r] = CombineGrouped<Operator>(turn.carry(tile), in_tile).value;
      }
      T* const piece = turn.piece(tile, warp_in_tile());
      const int size = span.size - offset - lane_ * kItems;
      if constexpr (kIsWide) {
        Out results[kItems];
        fits &= runs_.Scan(piece, heads, warp_heads.Runs(), bases, size, results);
        WriteResultsByStages<kItems, kStageLanes>(arguments_, span, offset, lane_, results, stage_);
      } else {
        fits &= runs_.Scan(piece, heads, warp_heads.Runs(), bases, size, piece);
        WriteResults<kItems>(arguments_, span, offset, lane_, piece);
      }
    });
    if (!fits) ReportOverflow(arguments_);
  }

  // Calls visit(cursor, turn) for the block's turns.
  template <class Visit>
  __device__ void ForEachTurn(Visit&& visit) const {
    for (TurnCursor cursor(memory_); cursor; cursor.Advance()) visit(cursor, TurnAt(cursor));
  }

  // A lane takes a tile.
  __device__ void PublishTurns() const {
    const LookBackChain<Operator> chain(warp_, memory_);
    ForEachTurn([&](const TurnCursor& cursor, TurnOfT& turn) {
      turn.stages().Await(TurnStage::kTotalled, cursor.lap());
      if (lane_ < cursor.tile_count()) {
        // Others wait for the total. Stores between them would keep loads in order.
        const Grouped total =
            JoinWarpTotals<Operator>(&turn.warp_total(lane_, 0), TurnOfT::kTreeWarps);
        chain.PublishTotal(cursor.first_tile() + lane_, total);
        turn.tile_total(lane_) = total;
        Grouped joined = GroupedIdentity<Operator>();
        for (int w = 0; w < TurnOfT::kTreeWarps; ++w) {
          turn.warp_base(lane_, w) = joined;
          joined = CombineGrouped<Operator>(joined, turn.warp_total(lane_, w));
        }
      }
      turn.stages().Arrive(TurnStage::kPublished);
    });
  }

  // A lane takes a place of a block of tiles.
  __device__ void JoinTurns() const {
    const LookBackChain<Operator> chain(warp_, memory_);
    ForEachTurn([&](const TurnCursor& cursor, TurnOfT& turn) {
      const int tile = lane_ - static_cast<int>(cursor.first_tile() % kScanTilesPerBlock);
      const bool is_own = tile >= 0 && tile < cursor.tile_count();
      turn.stages().Await(TurnStage::kPublished, cursor.lap());
      const Grouped total = is_own ? turn.tile_total(tile) : GroupedIdentity<Operator>();
      const Grouped joined = chain.JoinTotals(cursor.first_tile(), cursor.tile_count(), total);
      const Grouped before = ShuffleUp(warp_, joined, 1);
      if (is_own) {
        turn.total_before(tile) = before;
        turn.joined_total(tile) = joined;
      }
      turn.stages().Arrive(TurnStage::kJoined);
    });
  }

  // A lane takes a tile.
  __device__ void LookBack() const {
    const LookBackChain<Operator> chain(warp_, memory_);
    Grouped carry = chain.FirstCarry();
    uint32_t carried = 0;  // The block that `carry` precedes.
    ForEachTurn([&](const TurnCursor& cursor, TurnOfT& turn) {
      const uint32_t tile = cursor.first_tile() + lane_;
      const uint32_t block = cursor.first_tile() / kScanTilesPerBlock;
      turn.stages().Await(TurnStage::kJoined, cursor.lap());
      carry = chain.CarryFrom(carried, carry, block);
      carried = block;
      if (lane_ < cursor.tile_count()) {
        turn.carry(lane_) = tile % kScanTilesPerBlock == 0
                                ? carry
                                : CombineGrouped<Operator>(carry, turn.total_before(lane_));
        if (tile == memory_.tile_count - 1 && memory_.last_carry != nullptr) {
          *static_cast<Grouped*>(memory_.last_carry) =
              CombineGrouped<Operator>(carry, turn.joined_total(lane_));
        }
      }
      turn.stages().Arrive(TurnStage::kCarried);
    });
  }

  const ScanArguments& arguments_;
  const ScanHeads& heads_;
  const LookBackMemory& memory_;
  TurnOfT* const turns_;  // memory.turns_kept of them.
  const Warp warp_;
  const int lane_;
  const int warp_in_block_;
  Out* const stage_;  // Of the warp, where results are wide.
  const RunScan<Operator, T, kItems, kRuns, kAnyOrderInTile<Operator, Out>> runs_;
};

// One block fills a multiprocessor: the more of its shared memory is on the way, the less it waits.
template <class T, ScanOperation kOperation, class Out>
__global__ void __launch_bounds__(LookBackScan<T, kOperation, Out>::kShape.threads(), 1)
    ScanByLookBack(const ScanArguments arguments, const ScanHeads heads,
                   const LookBackMemory memory) {
  using Scan = LookBackScan<T, kOperation, Out>;
  alignas(128) extern __shared__ unsigned char shared_bytes[];
  Scan(arguments, heads, memory, shared_bytes).Run();
}

template <ScanOperation kOperation>
LookBackScanKernel FindLookBackScanKernel(ElementType type, bool accumulator_output) {
  return VisitElementType(type, [&](auto type_tag) -> LookBackScanKernel {
    using T = ScannedElement<typename decltype(type_tag)::type, kOperation>;
    if constexpr (!kHasOperator<T, kOperation>) {
      std::abort();  // OperatorOf gives none: a bug of the caller.
    } else {
      return VisitOutput<T, kOperation>(accumulator_output, [](auto out_tag) -> LookBackScanKernel {
        using Out = typename decltype(out_tag)::type;
        using Scan = LookBackScan<T, kOperation, Out>;
        return {.launch = ScanByLookBack<T, kOperation, Out>,
                .turn = Scan::kShape,
                .tile_size = Scan::kTileSize,
                .result_bytes = Scan::kResultBytes,
                .turn_bytes = sizeof(typename Scan::TurnOfT),
                .value_bytes = sizeof(typename Scan::Value),
                .grouped_bytes = sizeof(typename Scan::Grouped)};
      });
    }
  });
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_LOOK_BACK_CUH_
