// One lane scans a run: consecutive positions of its warp's piece, in one run or several.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_RUN_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_RUN_CUH_

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/scan/base/tile.cuh"
#include "kernels/cuda/scan/positions/packed_run.cuh"
#include "kernels/cuda/scan/positions/piece.cuh"
#include "kernels/cuda/scan/positions/warp_runs.cuh"

namespace gridfold::kernels::cuda {

// Which results a scan wants decides how many instructions an item takes. The plain modes are
// inclusive and exclusive scans of the elements in the order of memory, of warps where no group
// starts; the general one does everything else, too. Lanes of different modes would wait for each
// other.
enum class RunMode { kInclusive, kExclusive, kGeneral };

// kAnyOrder: see kAnyOrderInTile.
template <class Operator, class T, int kItems, int kRuns, bool kAnyOrder>
class RunScan {
 public:
  using Value = typename Operator::Value;
  using Values = LaneRuns<Value, kRuns>;
  static constexpr int kRunItems = kItems / kRuns;
  using Packed = PackedRun<Operator, T, kRunItems>;

  __device__ RunScan(const ScanArguments& arguments, int lane)
      : arguments_(arguments),
        lane_(lane),
        ignores_nan_(FloatingElement<T> && arguments.ignore_nan),
        plain_mode_(arguments.reverse || (ignores_nan_ && !kIsPackedWithNan) ? RunMode::kGeneral
                    : arguments.exclusive                                    ? RunMode::kExclusive
                                          : RunMode::kInclusive) {}

  // The last running values of the runs. Bit r of `runs_with_heads`: whether a group starts in any
  // lane's run r.
  __device__ Values Totals(const T* piece, HeadBits<kItems> heads, uint32_t runs_with_heads) const {
    Values totals;
    uint32_t left = kAllRuns;
    const bool is_packed = Packed::kExists && (kAnyOrder || !arguments_.reverse);
    if constexpr (Packed::kExists) {
      // All of a lane at once, so that its runs do not wait for each other.
      if (is_packed && runs_with_heads == 0) {
#pragma unroll
        for (int r = 0; r < kRuns; ++r) {
          if (PackedTotal(piece, RunOf(r), totals[r])) left &= ~(1u << r);
        }
      }
    }
    ForEachRun(left, [&](int r) {
      const bool has_heads = (runs_with_heads >> r & 1) != 0;
      Value total;
      bool is_known = false;
      if constexpr (Packed::kExists && kRuns > 1) {
        is_known = is_packed && !has_heads && PackedTotal(piece, RunOf(r), total);
      }
      if (!is_known) {
        const bool is_plain = !Packed::kExists && !has_heads && plain_mode_ != RunMode::kGeneral;
        const RunHeadBits run_heads = HeadsOf(heads, r);
        total = is_plain ? TotalOf<false>(piece, RunOf(r), run_heads)
                         : TotalOf<true>(piece, RunOf(r), run_heads);
      }
#pragma unroll
      for (int q = 0; q < kRuns; ++q) totals[q] = q == r ? total : totals[q];
    });
    return totals;
  }

  // Leaves the runs' results in a piece, which may be the same; or, those of another type, in the
  // lane's registers, in the order of memory. Returns whether the first `size` of them fit.
  __device__ bool Scan(const T* piece, HeadBits<kItems> heads, uint32_t runs_with_heads,
                       const Values& bases, int size, T* results) const {
    return ScanRuns<T>(piece, heads, runs_with_heads, bases, size, results);
  }
  template <class Out>
  __device__ bool Scan(const T* piece, HeadBits<kItems> heads, uint32_t runs_with_heads,
                       const Values& bases, int size, Out (&results)[kItems]) const {
    return ScanRuns<Out>(piece, heads, runs_with_heads, bases, size, results);
  }

 private:
  using RunHeadBits = HeadBits<kRunItems>;
  static constexpr uint32_t kAllRuns = (1u << kRuns) - 1;
  // Extremes of packed runs say where there is a NaN, and have no wider results.
  static constexpr bool kIsPackedWithNan = Packed::kExists && Operator::kIsAssociative;

  template <class Out, class Results>
  __device__ bool ScanRuns(const T* piece, HeadBits<kItems> heads, uint32_t runs_with_heads,
                           const Values& bases, int size, Results& results) const {
    constexpr bool kIsPacked = Packed::kExists && std::is_same_v<Out, T>;
    const uint32_t general =
        size < kItems || plain_mode_ == RunMode::kGeneral ? kAllRuns : runs_with_heads;
    uint32_t left = kAllRuns;
    if constexpr (kIsPacked) {
      if (general == 0) left = PackedScan<kRuns>(piece, RunOf(0), bases.values, results);
    }
    bool fits = true;
    ForEachRun(left, [&](int r) {
      Value base = bases[0];
#pragma unroll
      for (int q = 1; q < kRuns; ++q) base = q == r ? bases[q] : base;
      const bool is_general = (general >> r & 1) != 0;
      if constexpr (kIsPacked && kRuns > 1) {
        if (!is_general && PackedScan<1>(piece, RunOf(r), {base}, results) == 0) return;
      }
      const RunMode mode = kIsPacked || is_general ? RunMode::kGeneral : plain_mode_;
      fits &= ScanIn<Out>(mode, piece, RunOf(r), HeadsOf(heads, r), base, size - r * kRunItems,
                          results);
    });
    return fits;
  }

  __device__ static bool IsHead(RunHeadBits heads, int k) { return (heads >> k & 1) != 0; }
  __device__ static RunHeadBits HeadsOf(HeadBits<kItems> heads, int r) {
    return static_cast<RunHeadBits>(heads >> r * (kRuns == 1 ? 0 : kRunItems));
  }
  // Which of the piece's the lane's run r is.
  __device__ int RunOf(int r) const { return lane_ * kRuns + r; }

  // Calls visit(r) for the runs whose bits are set, by one copy of its code.
  template <class Visit>
  __device__ static void ForEachRun(uint32_t runs, Visit&& visit) {
    if constexpr (kRuns == 1) {
      if (runs != 0) visit(0);
    } else {
#pragma unroll 1
      for (int r = 0; runs >> r != 0; ++r) {
        if ((runs >> r & 1) != 0) visit(r);
      }
    }
  }

  // See PackedRun. Totals in any order that are answers are the same in either.
  __device__ bool PackedTotal(const T* piece, int run, Value& total) const {
    uint32_t words[Packed::kWords];
    LoadRunBytes<T, kItems>(piece, arguments_.reverse ? kScanLanes * kRuns - 1 - run : run, words);
    return Packed::Total(words, arguments_.mirror_bits, total);
  }
  // Scans kCount of the piece's runs from `first` on, in the plain mode, and returns the bits of
  // those that are left to be scanned.
  template <int kCount>
  __device__ uint32_t PackedScan(const T* piece, int first, const Value (&bases)[kCount],
                                 T* results) const {
    return plain_mode_ == RunMode::kInclusive ? PackedScanOf<false>(piece, first, bases, results)
                                              : PackedScanOf<true>(piece, first, bases, results);
  }
  template <bool kExclusive, int kCount>
  __device__ uint32_t PackedScanOf(const T* piece, int first, const Value (&bases)[kCount],
                                   T* results) const {
    uint32_t left = 0;
    uint32_t packed[kCount][Packed::kWords];
#pragma unroll
    for (int r = 0; r < kCount; ++r) {
      uint32_t words[Packed::kWords];
      LoadRunBytes<T, kItems>(piece, first + r, words);
      if (!Packed::template Scan<kExclusive>(words, bases[r], arguments_.wrap,
                                             arguments_.mirror_bits, packed[r])) {
        left |= 1u << r;
      }
    }
#pragma unroll
    for (int r = 0; r < kCount; ++r) {
      if ((left >> r & 1) == 0) StoreRunBytes<T, kItems>(packed[r], first + r, results);
    }
    return left;
  }

  template <bool kIsGeneral>
  __device__ void LoadItems(const T* piece, int run, T (&items)[kRunItems]) const {
    LoadRun<T, kItems>(piece, run, kIsGeneral && arguments_.reverse, items);
  }
  template <bool kIsGeneral>
  __device__ Value Lift(T item) const {
    return LiftElement<Operator>(item, kIsGeneral && ignores_nan_, arguments_.mirror_bits);
  }

  template <bool kIsGeneral>
  __device__ Value TotalOf(const T* piece, int run, RunHeadBits heads) const {
    T items[kRunItems];
    LoadItems<kIsGeneral>(piece, run, items);
    Value running = Operator::Identity();
#pragma unroll
    for (int k = 0; k < kRunItems; ++k) {
      if (kIsGeneral && IsHead(heads, k)) running = Operator::Identity();
      running = Operator::Combine(running, Lift<kIsGeneral>(items[k]));
    }
    return running;
  }

  template <class Out, class Results>
  __device__ bool ScanIn(RunMode mode, const T* piece, int run, RunHeadBits heads,
                         const Value& base, int size, Results& results) const {
    switch (mode) {
      case RunMode::kInclusive:
        return ScanOf<RunMode::kInclusive, Out>(piece, run, heads, base, size, results);
      case RunMode::kExclusive:
        return ScanOf<RunMode::kExclusive, Out>(piece, run, heads, base, size, results);
      case RunMode::kGeneral: break;
    }
    return ScanOf<RunMode::kGeneral, Out>(piece, run, heads, base, size, results);
  }
  template <RunMode kMode, class Out, class Results>
  __device__ bool ScanOf(const T* piece, int run, RunHeadBits heads, Value base, int size,
                         Results& results) const {
    constexpr bool kIsGeneral = kMode == RunMode::kGeneral;
    const bool exclusive = kMode == RunMode::kExclusive || (kIsGeneral && arguments_.exclusive);
    T items[kRunItems];
    LoadItems<kIsGeneral>(piece, run, items);
    Out stored[kRunItems];
    bool fits = true;
    // Where the order of joins does not matter, the base may be joined first.
    Value running = kAnyOrder ? base : Operator::Identity();
#pragma unroll
    for (int k = 0; k < kRunItems; ++k) {
      const bool is_head = kIsGeneral && IsHead(heads, k);
      // Joining the identity changes no bits, so it stands for what is left out.
      if (is_head) running = base = Operator::Identity();
      const Value before = running;
      running = Operator::Combine(running, Lift<kIsGeneral>(items[k]));
      Value result = exclusive ? before : running;
      if constexpr (!kAnyOrder) result = Operator::Combine(base, result);
      if (exclusive && is_head) result = Operator::EmptyResult();
      fits &= StoreResult<Operator>(result, arguments_.wrap, arguments_.mirror_bits, &stored[k]) ||
              (kIsGeneral && k >= size);
    }
    Leave(stored, run, kIsGeneral && arguments_.reverse, results);
    return fits;
  }

  __device__ static void Leave(T (&stored)[kRunItems], int run, bool reverse, T* piece) {
    StoreRun<T, kItems>(stored, run, reverse, piece);
  }
  template <class Out>
  __device__ static void Leave(Out (&stored)[kItems], int, bool reverse, Out (&results)[kItems]) {
    if (reverse) ReverseRun(stored);
#pragma unroll
    for (int k = 0; k < kItems; ++k) results[k] = stored[k];
  }

  const ScanArguments& arguments_;
  const int lane_;
  const bool ignores_nan_;
  const RunMode plain_mode_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_RUN_CUH_
