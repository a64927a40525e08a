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
class CellLocator {
 public:
  static constexpr uint32_t kArrays = 1;
  struct Guessed {
    uint32_t bin;
  };

  // `edges`, as LocateInCell takes them, and notes are in shared memory.
  __device__ CellLocator(const HistogramArguments& arguments, const W* edges, const int32_t* notes)
      : cells_(CellsOf<W>(arguments)),
        bin_count_(static_cast<uint32_t>(arguments.bin_count)),
        policy_(arguments.out_of_range_policy),
        all_edges_(arguments.edges),
        edges_(edges),
        notes_(notes) {}

  template <class T>
  __device__ Guessed Guess(const SamplePoint<T>& point) const {
    const W wide = static_cast<W>(point.x);
    return {LocateInCell(notes_[CellOf(cells_, wide)], edges_, wide)};
  }
  __device__ bool IsSure(const Guessed& guess) const { return guess.bin < bin_count_; }
  template <class T>
  __device__ Placement Resolve(const Guessed&, const SamplePoint<T>& point) const {
    return Place(Locate(static_cast<W>(point.x)), bin_count_, policy_);
  }
  template <class T>
  __device__ uint32_t ChannelOf(const SamplePoint<T>&) const {
    return 0;
  }

 private:
  // As LocateBin does: a sample reaches an edge if it reaches what EdgeAs made of it.
  __device__ int64_t Locate(W x) const {
    if (x != x) return kNanBin;
    if (x < edges_[0]) return kUnderflowBin;
    // The next number behind an infinite edge is that edge.
    if (x >= edges_[bin_count_]) {
      return IsGreater(x, all_edges_[bin_count_]) ? kOverflowBin : int64_t{bin_count_} - 1;
    }
    uint32_t low = 0;
    for (uint32_t length = bin_count_; length > 1;) {
      const uint32_t half = length / 2;
      if (x >= edges_[low + half]) low += half;
      length -= half;
    }
    return low;
  }

  const BinCells<W> cells_;
  const uint32_t bin_count_;
  const OutOfRangePolicy policy_;
  const double* const all_edges_;  // In device memory.
  const W* const edges_;
  const int32_t* const notes_;
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
  __shared__ uint32_t outcome_counts[SharedOutcomes::kWords];
  SharedOutcomes outcomes(outcome_counts);
  outcomes.Clear();
  SharedCounters counters(arguments, reinterpret_cast<uint32_t*>(shared));
  counters.Clear();
  unsigned char* part = shared + HistogramPartBytes(counters.size_bytes());
  W* const edges = reinterpret_cast<W*>(part);
  part += HistogramPartBytes((arguments.bin_count + 1) * sizeof(double));
  int32_t* const notes = reinterpret_cast<int32_t*>(part);
  FillCells(arguments, edges, notes);
  __syncthreads();
  const CellLocator<W> locator(arguments, edges, notes);
  CountGuessed<T, kInParts>(arguments, locator, counters, outcomes, &drawn);
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
