// Bins between edges of a table, of one channel, found by cells (numerics/bin_cells.h), whose notes
// stand in shared memory beside the counters and the edges.
#include <type_traits>

#include "kernels/cuda/histogram_guessing.cuh"
#include "kernels/cuda/histogram_strategy.h"
#include "kernels/numerics/bin_cells.h"

namespace gridfold::kernels::cuda {

namespace {

template <class W>
__device__ const BinCells<W>& CellsOf(const HistogramArguments& arguments) {
  if constexpr (std::is_same_v<W, float>) {
    return arguments.float_cells;
  } else {
    return arguments.double_cells;
  }
}

template <class W>
struct CellLocator {
  struct Located {
    uint32_t bin;
  };

  BinCells<W> cells;
  uint32_t bin_count;
  const double* all_edges;  // In device memory.
  const W* edges;           // As LocateInCell takes them, and notes: in shared memory.
  const int32_t* notes;

  template <class T>
  __device__ Located Guess(T x) const {
    const W wide = static_cast<W>(x);
    return {LocateInCell(notes[CellOf(cells, wide)], edges, wide)};
  }
  __device__ bool IsSure(const Located& located) const { return located.bin < bin_count; }
  template <class T>
  __device__ int64_t Resolve(const Located&, T x) const {
    return LocateBin(BinLayout::Table(all_edges, bin_count), x);
  }
};

// Fills the tables in shared memory. All threads of the block; needs a barrier after.
template <class W>
__device__ inline void FillCells(const HistogramArguments& arguments, W* edges, int32_t* notes) {
  const uint32_t bin_count = static_cast<uint32_t>(arguments.bin_count);
  for (uint32_t e = threadIdx.x; e <= bin_count; e += blockDim.x) {
    edges[e] = EdgeAs<W>(e < bin_count ? arguments.edges[e] : arguments.last_edge_for_cells);
  }
  __syncthreads();
  const BinCells<W> cells = CellsOf<W>(arguments);
  for (uint32_t c = threadIdx.x; c <= cells.last; c += blockDim.x) {
    notes[c] = CellNote(cells, edges, bin_count, c);
  }
}

template <class T, bool kInParts>
__global__ void __launch_bounds__(kHistogramThreads)
    CountByCells(const __grid_constant__ HistogramArguments arguments) {
  using W = CellWide<T>;
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  __shared__ uint32_t drawn;
  SharedCounters counters(arguments, reinterpret_cast<uint32_t*>(shared));
  counters.Clear();
  unsigned char* part = shared + HistogramPartBytes(counters.size_bytes());
  W* const edges = reinterpret_cast<W*>(part);
  part += HistogramPartBytes((arguments.bin_count + 1) * sizeof(double));
  int32_t* const notes = reinterpret_cast<int32_t*>(part);
  FillCells(arguments, edges, notes);
  __syncthreads();
  const CellLocator<W> locator{CellsOf<W>(arguments), static_cast<uint32_t>(arguments.bin_count),
                               arguments.edges, edges, notes};
  CountGuessed<T, kInParts>(arguments, locator, counters, &drawn);
}

}  // namespace

HistogramKernel FindCellsHistogramKernel(ElementType type, bool in_parts) {
  return VisitElementType(type, [&](auto tag) -> HistogramKernel {
    using T = typename decltype(tag)::type;
    if constexpr (kHasBinCells<T>) {
      return in_parts ? CountByCells<T, true> : CountByCells<T, false>;
    } else {
      return nullptr;
    }
  });
}

}  // namespace gridfold::kernels::cuda
