// The kernel of scans along axis 0, in one pass: a block of threads loads a tile, totals it, finds
// what precedes it, and writes its results.
//
// Several blocks share a multiprocessor, so that some load and write while others wait for what
// precedes them. All blocks are resident (a cooperative launch), and each takes its turns in order.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_CUH_

#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/scan_column_chain.cuh"
#include "kernels/cuda/scan_column_kernels.h"
#include "kernels/cuda/scan_column_narrow_panel.cuh"
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
  using Chain = ColumnChain<Operator>;
  using Shared = typename Chain::Shared;
  static constexpr uint32_t kSharedBytes = kScanColumnWarps * Panel::kBytes + sizeof(Shared);
  static constexpr int kBlocks = ColumnScanBlocks(kSharedBytes, kIsNarrow);
  static_assert(kBlocks > 0);

  __device__ ColumnScan(const ScanArguments& arguments, const ColumnScanShape& shape,
                        const ColumnLookBackMemory& memory, unsigned char* shared_bytes)
      : arguments_(arguments),
        shape_(shape),
        shared_(*reinterpret_cast<Shared*>(shared_bytes)),
        panel_(arguments, shape,
               shared_bytes + sizeof(Shared) + threadIdx.x / kScanLanes * Panel::kBytes),
        chain_(shape, memory, shared_),
        warp_(cooperative_groups::tiled_partition<kScanLanes>(
            cooperative_groups::this_thread_block())) {}

  // All threads of the block.
  __device__ void Run() {
    const uint32_t turn_count = shape_.strip_count * shape_.tile_count;
    for (uint32_t turn = blockIdx.x; turn < turn_count; turn += gridDim.x) {
      ScanTile(turn / shape_.strip_count, turn % shape_.strip_count);
    }
  }

 private:
  static constexpr int kBatch = sizeof(Value) <= 8 ? 8 : 4;  // Items that are read together.
  static_assert(kScanColumnItems % (2 * kBatch) == 0);

  __device__ void ScanTile(uint32_t tile, uint32_t strip) {
    const uint32_t warp = threadIdx.x / kScanLanes;
    const uint32_t column = panel_.strip_column();
    panel_.Load(tile, strip);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
    panel_.MoveTo(tile, strip);
    const Value before = ShareTotals(Total(), warp);
    __syncthreads();
    const Value in_tile = Operator::Combine(shared_.JoinWarps(warp, column), before);
    chain_.CarryInto(tile, strip);
    Write(Operator::Combine(shared_.carry(column), in_tile));
    panel_.Flush();
    __syncwarp();
  }

  // Gives the block the totals of the warp's columns. Returns what precedes the lane's run in the
  // warp.
  __device__ Value ShareTotals(Value total, uint32_t warp) {
    Value before = Operator::Identity();
    if constexpr (kIsNarrow) {
      const uint32_t run_lanes = shape_.strip_columns;
      for (uint32_t delta = 1; delta < shape_.runs; delta *= 2) {
        const Value from =
            MoveValue(total, [&](auto x) { return warp_.shfl_up(x, delta * run_lanes); });
        if (panel_.run() >= delta) total = Operator::Combine(from, total);
      }
      const Value previous = MoveValue(total, [&](auto x) { return warp_.shfl_up(x, run_lanes); });
      if (panel_.run() > 0) before = previous;
    }
    if (panel_.run() == shape_.runs - 1) shared_.warp_total(warp, panel_.strip_column()) = total;
    return before;
  }

  // Whether the lane's run is a whole one of which nothing else is asked.
  __device__ bool IsPlain() const {
    return panel_.size() == kScanColumnItems && panel_.IsPlain() &&
           !(FloatingElement<T> && arguments_.ignore_nan);
  }

  __device__ Value Total() const {
    Value running = Operator::Identity();
    if (IsPlain()) {
      constexpr int kTotalled = sizeof(T) == 8 ? kBatch : 2 * kBatch;
#pragma unroll 1
      for (int begin = 0; begin < kScanColumnItems; begin += kTotalled) {
        T items[kTotalled];
        panel_.Read(begin, items);
#pragma unroll
        for (int k = 0; k < kTotalled; ++k) {
          running = Operator::Combine(running, Operator::Lift(items[k], false));
        }
      }
    } else {
      for (int k = 0; k < panel_.size(); ++k) {
        running = Operator::Combine(running, Operator::Lift(panel_.Item(k), arguments_.ignore_nan));
      }
    }
    return running;
  }

  __device__ void Write(const Value& base) {
    const bool starts_empty = arguments_.exclusive && panel_.IsFirst();
    const bool fits = IsPlain() && !starts_empty ? WriteItems<false>(base) : WriteItems<true>(base);
    if (!fits) ReportOverflow(arguments_);
  }

  // Returns whether all results fit.
  template <bool kIsGeneral>
  __device__ bool WriteItems(const Value& base) {
    const int size = kIsGeneral ? panel_.size() : kScanColumnItems;
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
          if (begin + k < size) items[k] = panel_.Item(begin + k);
        }
      } else {
        panel_.Read(begin, items);
      }
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        if (kIsGeneral && begin + k >= size) break;
        const Value before = running;
        running = Operator::Combine(running,
                                    Operator::Lift(items[k], kIsGeneral && arguments_.ignore_nan));
        Value result = arguments_.exclusive ? before : running;
        if constexpr (!Operator::kIsAssociative) result = Operator::Combine(base, result);
        if (kIsGeneral && arguments_.exclusive && panel_.IsFirst() && begin + k == 0) {
          result = Operator::EmptyResult();
        }
        fits &= Operator::Store(result, arguments_.wrap, &results[k]);
        if constexpr (kIsGeneral) panel_.Put(begin + k, results[k]);
      }
      if constexpr (!kIsGeneral) panel_.Write(begin, results);
    }
    return fits;
  }

  const ScanArguments& arguments_;
  const ColumnScanShape& shape_;
  Shared& shared_;
  Panel panel_;
  const Chain chain_;
  const Warp warp_;
};

template <class Scan>
__global__ void __launch_bounds__(kColumnScanThreads, Scan::kBlocks)
    ScanColumns(const ScanArguments arguments, const ColumnScanShape shape,
                const ColumnLookBackMemory memory) {
  alignas(16) extern __shared__ unsigned char column_shared_bytes[];
  Scan(arguments, shape, memory, column_shared_bytes).Run();
}

template <ScanOperation kOperation>
ColumnScanKernels FindColumnScanKernels(ElementType type, bool accumulator_output) {
  return VisitElementType(type, [&](auto type_tag) {
    using T = typename decltype(type_tag)::type;
    return VisitOutput<T, kOperation>(accumulator_output, [](auto out_tag) -> ColumnScanKernels {
      using Out = typename decltype(out_tag)::type;
      using Operator = ScanOperator<T, kOperation>;
      constexpr int kVector = kColumnVector<Operator, T, Out>;
      using Wide = ColumnScan<T, kOperation, Out, false>;
      using Narrow = ColumnScan<T, kOperation, Out, true>;
      return {.wide = {ScanColumns<Wide>, Wide::kSharedBytes},
              .narrow = {ScanColumns<Narrow>, Narrow::kSharedBytes},
              .whole_vectors = {ScanWholeColumns<Operator, T, Out, kVector>, kVector},
              .whole_columns = {ScanWholeColumns<Operator, T, Out, 1>, 1},
              .value_bytes = sizeof(typename Operator::Value)};
    });
  });
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_CUH_
