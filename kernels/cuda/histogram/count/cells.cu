// Bins between edges of a table, of one channel, found by cells (numerics/bins/cells.h), whose
// notes stand in shared memory beside the counters and the edges.
#include <limits>
#include <type_traits>

#include "kernels/cuda/histogram/count/guessing.cuh"
#include "kernels/cuda/histogram/place/block_sum.cuh"
#include "kernels/cuda/histogram/plan/block.h"
#include "kernels/numerics/bins/cells.h"

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

template <class W>
class CellLocator {
 public:
  static constexpr uint32_t kArrays = 1;
  static constexpr uint32_t kTurnRows = sizeof(W) == sizeof(float) ? 6 : kTurnVectors;
  static constexpr bool kCountsOutside = true;
  using Guessed = uint32_t;

  // `edges`, as LocateInCell takes them, and notes are in shared memory.
  __device__ CellLocator(const HistogramArguments& arguments, const BinRange& range, const W* edges,
                         const BinCellNote* notes)
      : cells_(CellsOf<W>(arguments)),
        range_(range),
        last_edge_(&arguments.edges[arguments.bin_count]),
        edges_(edges),
        notes_(notes) {}

  __device__ static int32_t zero() { return 0; }
  template <class T>
  __device__ Guessed Guess(const SamplePoint<T>& point) const {
    const W x = static_cast<W>(point.x);
    return LocateInCell(notes_[CellOf(cells_, x)], edges_, x);
  }
  // Where a guess is unsure, any.
  __device__ static int32_t NumberOf(Guessed bin) { return max(static_cast<int32_t>(bin), -1); }
  template <class T>
  __device__ static bool IsSure(Guessed bin, const SamplePoint<T>& point) {
    const W x = static_cast<W>(point.x);
    // Infinities and NaN may be in any cell.
    return (bin != kUnsureBin) & (fabs(x) < std::numeric_limits<W>::infinity());
  }
  template <class T>
  __device__ static bool IsFar(Guessed, const SamplePoint<T>&) {
    return false;
  }
  template <class T>
  __device__ Corrected Correct(Guessed, const SamplePoint<T>& point) const {
    return {Find(static_cast<W>(point.x)), 0};
  }
  // The counter's number, by a search.
  __device__ int32_t Find(W x) const {
    return x != x ? static_cast<int32_t>(range_.count) + 1 : Locate(x);
  }
  template <class T>
  __device__ static uint32_t ChannelOf(const SamplePoint<T>&) {
    return 0;
  }

 private:
  // Locates a bin as LocateBin does: a sample reaches an edge if it reaches what EdgeAs made of it.
  __device__ int32_t Locate(W x) const {
    const auto count = static_cast<int32_t>(range_.count);
    if (x < edges_[0]) return -1;
    // The next number behind an infinite edge is that edge.
    if (x >= edges_[count]) {
      return range_.is_last && !IsGreater(x, *last_edge_) ? count - 1 : count;
    }
    int32_t low = 0;
    for (int32_t length = count; length > 1;) {
      const int32_t half = length / 2;
      if (x >= edges_[low + half]) low += half;
      length -= half;
    }
    return low;
  }

  const BinCells<W> cells_;
  const BinRange range_;
  const double* const last_edge_;  // In device memory.
  const W* const edges_;
  const BinCellNote* const notes_;
};

}  // namespace

template <class T, class W>
inline constexpr bool kHasSteadyLocator<T, CellLocator<W>> = FloatingElement<T>;

// In doubt only of samples in cells of many edges.
template <class T, class W>
class SteadyLocator<T, CellLocator<W>> {
 public:
  static constexpr uint32_t kArrays = CellLocator<W>::kArrays;
  struct Guessed {
    int32_t number;
    bool is_sure;
  };

  __device__ explicit SteadyLocator(const CellLocator<W>& cells)
      : cells_(cells),
        nan_number_(cells.Find(std::numeric_limits<W>::quiet_NaN())),
        most_number_(cells.Find(std::numeric_limits<W>::infinity())),
        least_number_(cells.Find(-std::numeric_limits<W>::infinity())) {}

  __device__ static bool IsSettled(const CellLocator<W>&, uint32_t, const SamplePoint<T>& point) {
    return !IsFiniteW(static_cast<W>(point.x));
  }

  __device__ static int32_t zero() { return CellLocator<W>::zero(); }
  __device__ Guessed Guess(const SamplePoint<T>& point) const {
    const W x = static_cast<W>(point.x);
    const uint32_t bin = cells_.Guess(point);
    const bool is_finite = IsFiniteW(x);
    // All of these at once: branches would take longer.
    const int32_t number = CellLocator<W>::NumberOf(bin);
    const int32_t infinity_number = x > 0 ? most_number_ : least_number_;
    const int32_t other_number = x != x ? nan_number_ : infinity_number;
    const bool is_in_doubt = (bin == kUnsureBin) & is_finite;
    return {is_finite ? number : other_number, !is_in_doubt};
  }
  __device__ static int32_t NumberOf(const Guessed& guess) { return guess.number; }
  __device__ static bool IsSure(const Guessed& guess, const SamplePoint<T>&) {
    return guess.is_sure;
  }
  __device__ static bool IsFar(const Guessed&, const SamplePoint<T>&) { return false; }
  __device__ Corrected Correct(const Guessed&, const SamplePoint<T>& point) const {
    return cells_.Correct(kUnsureBin, point);
  }
  __device__ static uint32_t ChannelOf(const SamplePoint<T>&) { return 0; }

 private:
  __device__ static bool IsFiniteW(W x) { return fabs(x) < std::numeric_limits<W>::infinity(); }

  const CellLocator<W> cells_;
  const int32_t nan_number_;
  const int32_t most_number_;
  const int32_t least_number_;
};

namespace {

// Two notes of the cells that these counts of edges are of, behind cells with `before` edges.
__device__ inline uint32_t NotesOf(uint32_t counts, uint32_t& before) {
  const auto note_of = [&](uint32_t count) {
    const BinCellNote note = CellNote(before, count);
    before += count;
    return uint32_t{static_cast<uint16_t>(note)};
  };
  const uint32_t low = note_of(counts & 0xFFFF);
  return low | note_of(counts >> 16) << 16;
}

__device__ inline uint32_t SumOfHalves(uint32_t counts) {
  return (counts & 0xFFFF) + (counts >> 16);
}

// Fills the tables in shared memory; `warp_sums` is kBlockWarps words of it. All threads of the
// block; needs a barrier after.
//
// First the notes are counts of the edges in the cells: a search among the edges for each cell took
// a fiftieth of the time of a histogram of 2^28 samples.
template <class W>
__device__ inline void FillCells(const HistogramArguments& arguments, const BinRange& range,
                                 W* edges, BinCellNote* notes, uint32_t* warp_sums) {
  static_assert(sizeof(BinCellNote) == sizeof(uint16_t) &&
                kBinsOfCellsMax < std::numeric_limits<uint16_t>::max());
  const BinCells<W> cells = CellsOf<W>(arguments);
  constexpr uint32_t kVectorNotes = kVectorBytes / sizeof(BinCellNote);
  const uint32_t vectors = cells.last / kVectorNotes + 1;
  auto* const note_vectors = reinterpret_cast<uint4*>(notes);
  auto* const note_pairs = reinterpret_cast<uint32_t*>(notes);
  for (uint32_t v = threadIdx.x; v < vectors; v += kHistogramThreads) note_vectors[v] = uint4{};
  __syncthreads();
  for (uint32_t e = threadIdx.x; e <= range.count; e += kHistogramThreads) {
    const uint64_t edge = range.first + e;
    edges[e] = EdgeAs<W>(edge < arguments.bin_count ? arguments.edges[edge]
                                                    : arguments.last_edge_for_cells);
    const uint32_t cell = CellOf(cells, edges[e]);
    atomicAdd(&note_pairs[cell / 2], cell % 2 == 0 ? 1 : 1 << 16);
  }
  uint32_t before = 0;
  for (uint32_t first = 0; first < vectors; first += kHistogramThreads) {
    __syncthreads();
    const uint32_t v = first + threadIdx.x;
    uint4 own = v < vectors ? note_vectors[v] : uint4{};
    const BlockSums sums = BlockSums::Of(
        SumOfHalves(own.x) + SumOfHalves(own.y) + SumOfHalves(own.z) + SumOfHalves(own.w),
        warp_sums);
    uint32_t before_own = before + sums.before;
    own.x = NotesOf(own.x, before_own);
    own.y = NotesOf(own.y, before_own);
    own.z = NotesOf(own.z, before_own);
    own.w = NotesOf(own.w, before_own);
    if (v < vectors) note_vectors[v] = own;
    before += sums.total;
  }
}

template <class T>
__global__ void __launch_bounds__(kHistogramThreads)
    CountByCells(const __grid_constant__ HistogramArguments arguments) {
  using W = CellWide<T>;
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  __shared__ LeavableTurns turns;
  __shared__ uint32_t outcome_counts[SharedOutcomes::kWords];
  __shared__ uint32_t warp_sums[kBlockWarps];
  static_assert(sizeof(turns) + sizeof(outcome_counts) + sizeof(warp_sums) <=
                kHistogramCellsOwnBytes);
  const BinRange bins = BinRange::Of(arguments);
  SharedOutcomes outcomes(outcome_counts);
  outcomes.Clear();
  turns.Clear();
  SharedCounters counters = bins.CountersIn(arguments, shared);
  counters.Clear();
  unsigned char* part = shared + HistogramPartBytes(counters.size_bytes());
  W* const edges = reinterpret_cast<W*>(part);
  part += HistogramPartBytes((arguments.bins_per_block + 1) * sizeof(W));
  BinCellNote* const notes = reinterpret_cast<BinCellNote*>(part);
  FillCells<W>(arguments, bins, edges, notes, warp_sums);
  __syncthreads();
  CountGuessed<T>(arguments, BlockShare::Of(arguments.part_count), bins,
                  CellLocator<W>(arguments, bins, edges, notes), counters, outcomes, turns);
}

}  // namespace

HistogramKernel FindCellsHistogramKernel(ElementType type) {
  return VisitElementType(type, [](auto tag) -> HistogramKernel {
    using T = typename decltype(tag)::type;
    if constexpr (kHasBinCells<T>) {
      return CountByCells<T>;
    } else {
      return nullptr;
    }
  });
}

}  // namespace gridfold::kernels::cuda
