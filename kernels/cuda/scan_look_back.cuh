// The kernel of scans over positions in a row: whole arrays, rows and segments, in one pass.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_LOOK_BACK_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_LOOK_BACK_CUH_

#include <cooperative_groups.h>

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/scan_look_back_chain.cuh"
#include "kernels/cuda/scan_output.cuh"
#include "kernels/cuda/scan_tile.cuh"

namespace gridfold::kernels::cuda {

// The results of a thread's run. `results` may be where the items are: the thread that reads an
// item is the one that writes its result. Returns whether all of them fit.
template <class Operator, class Out, class T>
__device__ bool WriteRun(const ScanArguments& arguments, const Run& run,
                         const GroupedOf<Operator>& base, const T* items, Out* results) {
  bool fits = true;
  ForEachRunningValue<Operator>(
      run, items, arguments.ignore_nan,
      [&](int k, const GroupedOf<Operator>& before, const GroupedOf<Operator>& after) {
        const GroupedOf<Operator>& running = arguments.exclusive ? before : after;
        typename Operator::Value result =
            running.starts_group ? running.value : Operator::Combine(base.value, running.value);
        if (arguments.exclusive && (run.heads >> k & 1) != 0) result = Operator::EmptyResult();
        Out* const slot = &results[PaddedTile<Out>::IndexOf(run.begin + k)];
        const bool fits_here = Operator::Store(result, arguments.wrap, slot);
        fits &= fits_here || k >= run.size;
      });
  return fits;
}

// All threads of the block: writes the tile's results, by way of shared memory.
template <class Operator, class Out, class T>
__device__ void WriteTile(const ScanArguments& arguments, uint64_t tile_begin, const Run& run,
                          const GroupedOf<Operator>& base, T* items) {
  Out* results;
  if constexpr (std::is_same_v<Out, T>) {
    results = items;
  } else {
    results = reinterpret_cast<Out*>(reinterpret_cast<unsigned char*>(items) +
                                     PaddedTileBytes(sizeof(T)));
  }
  if (!WriteRun<Operator>(arguments, run, base, items, results)) ReportOverflow(arguments);
  __syncthreads();
  StoreTile(arguments, tile_begin, results);
}

// Blocks that a multiprocessor should hold: 64 registers a thread for values of 8 bytes, which they
// need without spilling, 128 for wider ones.
template <class Value>
inline constexpr int kScanResidentBlocks = sizeof(Value) <= 8 ? 4 : 2;

template <class T, ScanOperation kOperation>
__global__ void __launch_bounds__(kScanThreads,
                                  kScanResidentBlocks<typename ScanOperator<T, kOperation>::Value>)
    ScanByLookBack(const ScanArguments arguments, const ScanHeads heads,
                   const LookBackMemory memory) {
  using Operator = ScanOperator<T, kOperation>;
  using Grouped = GroupedOf<Operator>;
  alignas(16) extern __shared__ unsigned char tile_bytes[];
  // Values have constructors, which shared memory cannot have.
  alignas(16) __shared__ unsigned char grouped_bytes[(kScanWarps + 1) * sizeof(Grouped)];
  __shared__ uint32_t taken_tile;
  T* const items = reinterpret_cast<T*>(tile_bytes);
  Grouped* const warp_totals = reinterpret_cast<Grouped*>(grouped_bytes);
  Grouped* const tile_carry = warp_totals + kScanWarps;

  const auto block = cooperative_groups::this_thread_block();
  const Warp warp = cooperative_groups::tiled_partition<kScanLanes>(block);
  const int warp_index = static_cast<int>(threadIdx.x) / kScanLanes;
  LookBackChain<Operator> chain(warp, memory);
  for (;;) {
    if (threadIdx.x == 0) taken_tile = atomicAdd(memory.ticket, 1u);
    block.sync();  // Nobody reads the last tile's results any more.
    const uint32_t tile = taken_tile;
    if (tile >= memory.tile_count) return;

    const uint64_t tile_begin = uint64_t{tile} * kScanTileSize;
    LoadTile<Operator>(arguments, tile_begin, items);
    block.sync();
    const Run run = RunOfThread(arguments, heads, tile_begin);

    Grouped run_total = GroupedIdentity<Operator>();
    ForEachRunningValue<Operator>(
        run, items, arguments.ignore_nan,
        [&](int, const Grouped&, const Grouped& after) { run_total = after; });
    const Grouped scanned = InclusiveWarpScan<Operator>(warp, run_total);
    if (warp.thread_rank() == kScanLanes - 1) warp_totals[warp_index] = scanned;
    block.sync();

    const Grouped base_in_tile = CombineGrouped<Operator>(
        JoinWarpTotals<Operator>(warp_totals, warp_index), ExclusiveOf<Operator>(warp, scanned));
    if (warp_index == 0) {
      const Grouped total = JoinWarpTotals<Operator>(warp_totals, kScanWarps);
      const Grouped carry = chain.CarryOf(tile, total);
      if (warp.thread_rank() == 0) *tile_carry = carry;
    }
    block.sync();

    const Grouped base = CombineGrouped<Operator>(*tile_carry, base_in_tile);
    VisitOutput<T, kOperation>(arguments, [&](auto tag) {
      WriteTile<Operator, typename decltype(tag)::type>(arguments, tile_begin, run, base, items);
    });
  }
}

template <ScanOperation kOperation>
LookBackScanKernel FindLookBackScanKernel(ElementType type) {
  return VisitElementType(type, [](auto tag) -> LookBackScanKernel {
    return ScanByLookBack<typename decltype(tag)::type, kOperation>;
  });
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_LOOK_BACK_CUH_
