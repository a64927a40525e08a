// Totals of tiles and of blocks of tiles (numerics/scans/tree.h), without results: what a scan of
// several parts needs before each of them can be scanned by itself.
//
// A warp takes a tile, one of its pieces after the other, and waits for nobody: it joins the totals
// of the tree's warps in the order in which it meets them. Copies bring the pieces behind the one
// that is joined. The totals of tiles, one for 4,096 elements or more, are joined by a second
// kernel.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_TOTALS_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_TOTALS_CUH_

#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include <cstdint>
#include <cstdlib>

#include "kernels/cuda/scan/positions/look_back.cuh"
#include "kernels/cuda/scan/positions/totals_kernels.h"

namespace gridfold::kernels::cuda {

// A warp's part of the first kernel.
template <class T, ScanOperation kOperation, class Out>
class TileTotals {
 public:
  // Tiles are those of this scan, so that even what no result shows, the estimates of products, is
  // joined in its order.
  using Scan = LookBackScan<T, kOperation, Out>;
  using Operator = typename Scan::Operator;
  using Value = typename Scan::Value;

 private:
  static constexpr int kItems = Scan::kItems;
  static constexpr int kRuns = Scan::kRuns;
  static constexpr int kPieceSize = kItems * kScanLanes;
  static constexpr int kTilePieces = Scan::kTileSize / kPieceSize;
  static constexpr int kPieceBytes = kPieceSize * static_cast<int>(sizeof(T));
  // Pieces of a warp in shared memory: one that is joined, the others on their way.
  static constexpr int kStages = kPieceBytes > 2048 ? 2 : 4;

 public:
  static constexpr uint32_t kSharedBytes = kTotalsWarps * kStages * kPieceBytes;
  static_assert(kSharedBytes <= kSharedBytesEverywhere);

  __device__ TileTotals(const ScanArguments& arguments, uint32_t tile_count,
                        unsigned char* shared_bytes)
      : arguments_(arguments),
        tile_count_(tile_count),
        warp_(cooperative_groups::tiled_partition<kScanLanes>(
            cooperative_groups::this_thread_block())),
        lane_(static_cast<int>(warp_.thread_rank())),
        pieces_(reinterpret_cast<T*>(shared_bytes) +
                static_cast<int>(warp_.meta_group_rank()) * kStages * kPieceSize),
        runs_(arguments, lane_) {}

  __device__ void Run(Value* tile_totals) const {
    Cursor loaded(tile_count_);
    for (int i = 1; i < kStages; ++i) BeginPiece(loaded);
    Value total = Operator::Identity();
    for (Cursor joined(tile_count_); joined; joined.Advance()) {
      BeginPiece(loaded);
      __pipeline_wait_prior(kStages - 1);
      __syncwarp();
      JoinPiece(pieces_ + joined.stage() * kPieceSize, total);
      if (joined.piece() == kTilePieces - 1) {
        if (lane_ == 0) tile_totals[joined.tile()] = total;
        total = Operator::Identity();
      }
      __syncwarp();  // The next load is to the same place.
    }
  }

 private:
  // Goes through the pieces of a warp's tiles, which are strided over the warps of the grid.
  class Cursor {
   public:
    __device__ explicit Cursor(uint32_t tile_count)
        : tile_count_(tile_count), tile_(blockIdx.x * kTotalsWarps + threadIdx.x / kScanLanes) {}

    __device__ explicit operator bool() const { return tile_ < tile_count_; }
    __device__ void Advance() {
      stage_ = stage_ + 1 == kStages ? 0 : stage_ + 1;
      if (++piece_ < kTilePieces) return;
      piece_ = 0;
      tile_ += gridDim.x * kTotalsWarps;
    }

    __device__ uint32_t tile() const { return tile_; }
    __device__ int piece() const { return piece_; }
    __device__ int stage() const { return stage_; }

   private:
    const uint32_t tile_count_;
    uint32_t tile_;
    int piece_ = 0;
    int stage_ = 0;
  };

  // Makes a batch of copies, which is empty where no piece is left.
  __device__ void BeginPiece(Cursor& cursor) const {
    if (cursor) {
      const TurnSpan span(arguments_, uint64_t{cursor.tile()} * Scan::kTileSize, Scan::kTileSize);
      BeginLoad<kItems>(arguments_, span, cursor.piece() * kPieceSize, lane_,
                        NeutralElement<Operator, T>(arguments_),
                        pieces_ + cursor.stage() * kPieceSize);
      cursor.Advance();
    }
    __pipeline_commit();
  }

  // Joins the totals of the tree's warps in a piece to `total`, in all lanes.
  __device__ void JoinPiece(const T* piece, Value& total) const {
    constexpr HeadBits<kItems> kNoHeads{0};
    const WarpHeads<kRuns> warp_heads(warp_, kNoHeads);
    LaneRuns<Value, kRuns> runs = runs_.Totals(piece, kNoHeads, 0);
    InclusiveWarpScan<Operator>(warp_, warp_heads, runs);
#pragma unroll
    for (int w = 1; w <= kRuns; ++w) {
      const int last_lane = w * kTreeWarpLanes<kRuns> - 1;
      total = Operator::Combine(
          total, MoveValue(runs[kRuns - 1], [&](auto x) { return warp_.shfl(x, last_lane); }));
    }
  }

  const ScanArguments& arguments_;
  const uint32_t tile_count_;
  const Warp warp_;
  const int lane_;
  T* const pieces_;  // kStages of the warp.
  const RunScan<Operator, T, kItems, kRuns, kAnyOrderInTile<Operator, Out>> runs_;
};

template <class T, ScanOperation kOperation, class Out>
__global__ void __launch_bounds__(kTotalsWarps* kScanLanes, kTotalsBlocks)
    TotalTiles(const ScanArguments arguments, uint32_t tile_count, void* tile_totals) {
  using Totals = TileTotals<T, kOperation, Out>;
  alignas(128) extern __shared__ unsigned char shared_bytes[];
  Totals(arguments, tile_count, shared_bytes)
      .Run(static_cast<typename Totals::Value*>(tile_totals));
}

// A lane takes a tile. The last block may have fewer, where tiles are longer than the tree's.
template <class Operator>
__global__ void __launch_bounds__(kTotalsWarps* kScanLanes)
    TotalBlocksOfTiles(uint32_t tile_count, const void* tile_totals, void* block_totals) {
  using Value = typename Operator::Value;
  const Warp warp =
      cooperative_groups::tiled_partition<kScanLanes>(cooperative_groups::this_thread_block());
  const uint32_t block = blockIdx.x * kTotalsWarps + warp.meta_group_rank();
  const uint32_t first_tile = block * kScanTilesPerBlock;
  if (first_tile >= tile_count) return;
  const uint32_t lane = warp.thread_rank();
  const uint32_t tiles = min(tile_count - first_tile, uint32_t{kScanTilesPerBlock});
  GroupedOf<Operator> total = GroupedIdentity<Operator>();
  if (lane < tiles) total.value = static_cast<const Value*>(tile_totals)[first_tile + lane];
  total = InclusiveWarpScan<Operator>(warp, total);
  if (lane == tiles - 1) static_cast<Value*>(block_totals)[block] = total.value;
}

namespace totals_internal {

// Calls f(TypeTag<Out>) with the type of the results that decides which tiles a scan has. Only
// products of integers show it.
template <class T, ScanOperation kOperation, class F>
decltype(auto) VisitTiles(bool accumulator_output, F&& f) {
  if constexpr (kOperation == ScanOperation::kProduct && IntegerElement<T>) {
    return VisitOutput<T, kOperation>(accumulator_output, f);
  } else {
    return f(TypeTag<T>{});
  }
}

}  // namespace totals_internal

template <ScanOperation kOperation>
ScanTotalsKernels FindScanTotalsKernels(ElementType type, bool accumulator_output) {
  return VisitElementType(type, [&](auto type_tag) -> ScanTotalsKernels {
    using T = ScannedElement<typename decltype(type_tag)::type, kOperation>;
    if constexpr (!kHasOperator<T, kOperation>) {
      std::abort();  // OperatorOf gives none: a bug of the caller.
    } else {
      return totals_internal::VisitTiles<T, kOperation>(
          accumulator_output, [](auto out_tag) -> ScanTotalsKernels {
            using Out = typename decltype(out_tag)::type;
            using Totals = TileTotals<T, kOperation, Out>;
            return {.tiles = TotalTiles<T, kOperation, Out>,
                    .blocks = TotalBlocksOfTiles<typename Totals::Operator>,
                    .tile_size = Totals::Scan::kTileSize,
                    .shared_bytes = Totals::kSharedBytes,
                    .value_bytes = sizeof(typename Totals::Value)};
          });
    }
  });
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_TOTALS_CUH_
