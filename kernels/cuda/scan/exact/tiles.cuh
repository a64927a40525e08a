// The kernels of exact scans over positions in a row: the totals of tiles, and the prefixes in
// them.
//
// Both take a tile as scan/base/tile.cuh does, with a run of consecutive elements in each thread,
// and look at it through a window of 128 bits where it fits, else on limbs: see
// numerics/scans/exact_prefix.h. `Terms` is PrefixWindow or PrefixLimbs.
//
// Example, a tile whose window ends at 2^-10, with elements 0.5, 2^-10 and 0.25:
//
//   in units of 2^-10: 512, 1, 256         prefixes: 512, 513, 769, each one addition
//   an element of 2^-40 would lie below the window: the tile goes to limbs
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_EXACT_TILES_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_EXACT_TILES_CUH_

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdint>

#include "kernels/cuda/scan/base/output.cuh"
#include "kernels/cuda/scan/base/tile.cuh"
#include "kernels/cuda/scan/exact/kernels.h"
#include "kernels/numerics/scans/operator.h"

namespace gridfold::kernels::cuda {

inline constexpr int kExactTileBits = 12;
static_assert(kScanTileSize == 1 << kExactTileBits);

// Blocks that a multiprocessor should hold: 128 registers a thread for sums of 128 bits.
inline constexpr int kExactResidentBlocks = 2;

template <class Move>
__device__ WindowSum MoveValue(const WindowSum& v, Move&& move) {
  return {MoveValue(v.integer, move), move(v.flags)};
}
template <std::floating_point F, class Move>
__device__ ExactSum<F, 1> MoveValue(const ExactSum<F, 1>& v, Move&& move) {
  ExactSum<F, 1> moved;
  for (int i = 0; i < ExactSum<F, 1>::kLimbs; ++i) {
    moved.mutable_limbs()[i] = move(v.limbs()[i]);
  }
  moved.AddFlags(move(v.flags()));
  return moved;
}

// What the threads of a block tell each other about a tile. Values have constructors, which shared
// memory cannot have; so it is bytes.
template <class T>
struct ExactTileShared {
  static constexpr size_t kLargestValueBytes = sizeof(GroupedOf<ExactSumOperator<T>>);
  static_assert(kLargestValueBytes >= sizeof(GroupedOf<WindowSumOperator>));

  template <class Operator>
  __device__ GroupedOf<Operator>* warp_totals() {
    return reinterpret_cast<GroupedOf<Operator>*>(value_bytes);
  }
  __device__ PrefixWindow<T>* window() { return reinterpret_cast<PrefixWindow<T>*>(window_bytes); }

  alignas(16) unsigned char value_bytes[kScanWarps * kLargestValueBytes];
  alignas(16) unsigned char window_bytes[sizeof(PrefixWindow<T>)];
  int span_first[kScanWarps];
  int span_end[kScanWarps];
};

__device__ inline Warp ThisWarp() {
  return cooperative_groups::tiled_partition<kScanLanes>(cooperative_groups::this_thread_block());
}
__device__ inline int WarpIndex() { return static_cast<int>(threadIdx.x) / kScanLanes; }

// The span of the tile, in all threads.
template <class T>
__device__ BitSpan SpanOfTile(const Run& run, const T* items, ExactTileShared<T>& shared) {
  BitSpan span;
#pragma unroll kScanUnroll
  for (int k = 0; k < kScanItems; ++k) {
    span.Include(ToCompute(items[PaddedTile<T>::IndexOf(run.begin + k)]));
  }
  const Warp warp = ThisWarp();
  const int first = cooperative_groups::reduce(warp, span.first, cooperative_groups::less<int>());
  const int end = cooperative_groups::reduce(warp, span.end, cooperative_groups::greater<int>());
  if (warp.thread_rank() == 0) {
    shared.span_first[WarpIndex()] = first;
    shared.span_end[WarpIndex()] = end;
  }
  __syncthreads();
#pragma unroll
  for (int w = 0; w < kScanWarps; ++w) span.Merge({shared.span_first[w], shared.span_end[w]});
  return span;
}

// The total of the runs of the warp's lanes up to this one. Leaves those of whole warps in `shared`
// and waits until they are there.
template <class Terms, class T>
__device__ GroupedOf<typename Terms::Operator> ScanRunTotals(const Terms& terms, const Run& run,
                                                             const T* items,
                                                             ExactTileShared<T>& shared) {
  using Operator = typename Terms::Operator;
  GroupedOf<Operator> total = GroupedIdentity<Operator>();
#pragma unroll kScanUnroll
  for (int k = 0; k < kScanItems; ++k) {
    if ((run.heads >> k & 1) != 0) total = {Operator::Identity(), true};
    terms.Take(total.value, items[PaddedTile<T>::IndexOf(run.begin + k)]);
  }
  const Warp warp = ThisWarp();
  const GroupedOf<Operator> scanned = InclusiveWarpScan<Operator>(warp, total);
  if (warp.thread_rank() == kScanLanes - 1) {
    shared.template warp_totals<Operator>()[WarpIndex()] = scanned;
  }
  __syncthreads();
  return scanned;
}

// Writes the tile's total.
template <class Terms, class T>
__device__ void TotalTile(const Terms& terms, const Run& run, const T* items,
                          ExactTileShared<T>& shared, ExactState<T>& state) {
  using Operator = typename Terms::Operator;
  ScanRunTotals(terms, run, items, shared);
  if (threadIdx.x != 0) return;
  const GroupedOf<Operator> total =
      JoinWarpTotals<Operator>(shared.template warp_totals<Operator>(), kScanWarps);
  state.sum = terms.SumOf(total.value, false);
  state.starts_group = total.starts_group ? 1 : 0;
}

// Writes the results of the thread's run. `results` may be where the items are.
template <class Out, class Terms, class T>
__device__ void ScanTile(const ScanArguments& arguments, const Terms& terms, const Run& run,
                         const T* items, ExactTileShared<T>& shared, Out* results) {
  using Operator = typename Terms::Operator;
  const GroupedOf<Operator> scanned = ScanRunTotals(terms, run, items, shared);
  const GroupedOf<Operator> before = CombineGrouped<Operator>(
      JoinWarpTotals<Operator>(shared.template warp_totals<Operator>(), WarpIndex()),
      ExclusiveOf<Operator>(ThisWarp(), scanned));
  bool after_carry = !before.starts_group;
  typename Operator::Value running =
      after_carry ? Operator::Combine(terms.Carry(), before.value) : before.value;
#pragma unroll kScanUnroll
  for (int k = 0; k < kScanItems; ++k) {
    const bool head = (run.heads >> k & 1) != 0;
    if (head) {
      running = Operator::Identity();
      after_carry = false;
    }
    const T x = items[PaddedTile<T>::IndexOf(run.begin + k)];
    if (!arguments.exclusive) terms.Take(running, x);
    const Out prefix = terms.template Round<Out>(running, after_carry);
    results[PaddedTile<Out>::IndexOf(run.begin + k)] =
        arguments.exclusive && head ? RoundTo<Out>(0) : prefix;
    if (arguments.exclusive) terms.Take(running, x);
  }
}

// Totals a tile on limbs: rarely called, and not inlined, so that it costs other tiles no
// registers.
template <class T>
__device__ __noinline__ void TotalTileOnLimbs(const ScanArguments& arguments, const Run& run,
                                              const T* items, ExactTileShared<T>& shared,
                                              ExactState<T>& state) {
  TotalTile(PrefixLimbs<T>(arguments.ignore_nan, nullptr), run, items, shared, state);
}
template <class Out, class T>
__device__ __noinline__ void ScanTileOnLimbs(const ScanArguments& arguments, const Run& run,
                                             const T* items, ExactTileShared<T>& shared,
                                             const PrefixSum<T>& carry, Out* results) {
  ScanTile(arguments, PrefixLimbs<T>(arguments.ignore_nan, &carry), run, items, shared, results);
}

template <class T>
__global__ void __launch_bounds__(kScanThreads, kExactResidentBlocks)
    TotalExactTiles(const ScanArguments arguments, const ScanHeads heads, const ExactTiles tiles) {
  alignas(16) extern __shared__ unsigned char tile_bytes[];
  __shared__ ExactTileShared<T> shared;
  T* const items = reinterpret_cast<T*>(tile_bytes);
  auto* const states = static_cast<ExactState<T>*>(tiles.states);
  for (uint64_t tile = blockIdx.x; tile < tiles.tile_count; tile += gridDim.x) {
    const uint64_t tile_begin = tile * kScanTileSize;
    LoadTile<ScanOperator<T, ScanOperation::kSum>>(arguments, tile_begin, items);
    __syncthreads();
    const Run run = RunOfThread(arguments, heads, tile_begin);
    const BitSpan span = SpanOfTile(run, items, shared);
    const PrefixWindow<T> window(span, kExactTileBits, arguments.ignore_nan);
    if (window.fits()) {
      TotalTile(window, run, items, shared, states[tile]);
    } else {
      TotalTileOnLimbs(arguments, run, items, shared, states[tile]);
    }
    if (threadIdx.x == 0) states[tile].span = span;
  }
}

template <class T>
__global__ void __launch_bounds__(kScanThreads, kExactResidentBlocks)
    ScanExactTiles(const ScanArguments arguments, const ScanHeads heads, const ExactTiles tiles) {
  alignas(16) extern __shared__ unsigned char tile_bytes[];
  __shared__ ExactTileShared<T> shared;
  T* const items = reinterpret_cast<T*>(tile_bytes);
  const auto* const states = static_cast<const ExactState<T>*>(tiles.states);
  for (uint64_t tile = blockIdx.x; tile < tiles.tile_count; tile += gridDim.x) {
    const uint64_t tile_begin = tile * kScanTileSize;
    const ExactState<T>& state = states[tile];
    LoadTile<ScanOperator<T, ScanOperation::kSum>>(arguments, tile_begin, items);
    if (threadIdx.x == 0) {
      *shared.window() =
          PrefixWindow<T>(state.span, kExactTileBits, arguments.ignore_nan, &state.sum);
    }
    __syncthreads();
    const PrefixWindow<T> window = *shared.window();
    const Run run = RunOfThread(arguments, heads, tile_begin);
    VisitOutput<T, ScanOperation::kSum>(arguments.accumulator_output, [&](auto tag) {
      using Out = typename decltype(tag)::type;
      // Results of the items' type take their place; others have their own behind them.
      Out* const results = reinterpret_cast<Out*>(
          tile_bytes + (std::is_same_v<Out, T> ? 0 : PaddedTileBytes(sizeof(T))));
      if (window.fits()) {
        ScanTile(arguments, window, run, items, shared, results);
      } else {
        ScanTileOnLimbs(arguments, run, items, shared, state.sum, results);
      }
      __syncthreads();
      StoreTile(arguments, tile_begin, results);
    });
    __syncthreads();  // Nobody reads this tile's results any more.
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_EXACT_TILES_CUH_
