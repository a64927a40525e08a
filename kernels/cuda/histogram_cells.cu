// Bins between edges of a table, of one channel, found by cells (numerics/bin_cells.h), whose notes
// stand in shared memory beside the counters and the edges.
#include <type_traits>

#include "kernels/cuda/histogram_guessing.cuh"
#include "kernels/cuda/histogram_strategy.h"
#include "kernels/numerics/bin_cells.h"

namespace gridfold::kernels::cuda {

namespace {

// The cells of this block's bins.
template <class W>
__device__ const BinCells<W>& CellsOf(const HistogramArguments& arguments) {
  const uint32_t part = blockIdx.x % arguments.part_count;
  if constexpr (std::is_same_v<W, float>) {
    return arguments.float_cells[part];
  } else {
    return arguments.double_cells[part];
  }
}

// Which bins of a table a block counts.
struct OwnBins {
  uint32_t first;
  uint32_t count;
  bool is_last;

  __device__ static OwnBins Of(const HistogramArguments& arguments) {
    const BinRange range = BinRange::Of(arguments);
    const uint32_t left = static_cast<uint32_t>(arguments.bin_count) - range.first;
    return {range.first, min(range.count, left), left <= range.count};
  }
};

template <class W, bool kInParts>
class CellLocator {
 public:
  static constexpr uint32_t kArrays = 1;
  struct Guessed {
    uint32_t bin;
    bool is_sure;
  };

  // `edges`, as LocateInCell takes them, and notes are in shared memory.
  __device__ CellLocator(const HistogramArguments& arguments, const OwnBins& own, const W* edges,
                         const int32_t* notes)
      : cells_(CellsOf<W>(arguments)),
        own_(own),
        // Samples below the first part's bins and above the last part's are for those to resolve.
        first_sure_(kInParts && own.first > 0 ? kBelowBins : 0),
        sure_count_(own.count + (kInParts && own.first > 0 ? 1 : 0) +
                    (kInParts && !own.is_last ? 1 : 0)),
        bin_count_(arguments.bin_count),
        policy_(arguments.out_of_range_policy),
        last_edge_(&arguments.edges[arguments.bin_count]),
        edges_(edges),
        notes_(notes) {}

  template <class T>
  __device__ Guessed Guess(const SamplePoint<T>& point) const {
    const W x = static_cast<W>(point.x);
    const uint32_t bin = LocateInCell(notes_[CellOf(cells_, x)], edges_, x);
    const bool is_sure = bin - first_sure_ < sure_count_;
    // Infinities and NaN may be in any cell.
    return {bin + own_.first, kInParts ? is_sure && x - x == 0 : is_sure};
  }
  __device__ bool IsSure(const Guessed& guess) const { return guess.is_sure; }
  template <class T>
  __device__ Placement Resolve(const Guessed&, const SamplePoint<T>& point) const {
    const int64_t located = Locate(static_cast<W>(point.x));
    return located == kElsewhere ? Placement{-1, 0} : Place(located, bin_count_, policy_);
  }
  __device__ bool Reports(int64_t outcome, const BinRange& range) const {
    return outcome == kOverflowBin ? own_.is_last : range.is_first();
  }
  template <class T>
  __device__ uint32_t ChannelOf(const SamplePoint<T>&) const {
    return 0;
  }

 private:
  static constexpr int64_t kElsewhere = kNanBin - 1;  // In bins of another part, or outside.

  // As LocateBin does: a sample reaches an edge if it reaches what EdgeAs made of it.
  __device__ int64_t Locate(W x) const {
    if (x != x) return kNanBin;
    if (x < edges_[0]) return own_.first == 0 ? kUnderflowBin : kElsewhere;
    if (x >= edges_[own_.count]) {
      if (!own_.is_last) return kElsewhere;
      // The next number behind an infinite edge is that edge.
      return IsGreater(x, *last_edge_) ? kOverflowBin : static_cast<int64_t>(bin_count_) - 1;
    }
    uint32_t low = 0;
    for (uint32_t length = own_.count; length > 1;) {
      const uint32_t half = length / 2;
      if (x >= edges_[low + half]) low += half;
      length -= half;
    }
    return int64_t{own_.first} + low;
  }

  const BinCells<W> cells_;
  const OwnBins own_;
  const uint32_t first_sure_;
  const uint32_t sure_count_;
  const uint64_t bin_count_;
  const OutOfRangePolicy policy_;
  const double* const last_edge_;  // In device memory.
  const W* const edges_;
  const int32_t* const notes_;
};

// Fills the tables in shared memory. All threads of the block; needs a barrier after.
template <class W, bool kInParts>
__device__ inline void FillCells(const HistogramArguments& arguments, const OwnBins& own, W* edges,
                                 int32_t* notes) {
  for (uint32_t e = threadIdx.x; e <= own.count; e += blockDim.x) {
    const uint64_t edge = own.first + e;
    edges[e] = EdgeAs<W>(edge < arguments.bin_count ? arguments.edges[edge]
                                                    : arguments.last_edge_for_cells);
  }
  __syncthreads();
  const BinCells<W> cells = CellsOf<W>(arguments);
  for (uint32_t c = threadIdx.x; c <= cells.last; c += blockDim.x) {
    notes[c] = CellNote(cells, edges, own.count, c, !kInParts);
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
  const OwnBins own = OwnBins::Of(arguments);
  W* const edges = reinterpret_cast<W*>(part);
  part += HistogramPartBytes((arguments.bins_per_block + 1) * sizeof(double));
  int32_t* const notes = reinterpret_cast<int32_t*>(part);
  FillCells<W, kInParts>(arguments, own, edges, notes);
  __syncthreads();
  const CellLocator<W, kInParts> locator(arguments, own, edges, notes);
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
