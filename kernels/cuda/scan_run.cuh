// What one lane scans: a run of consecutive positions of its warp's piece.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_RUN_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_RUN_CUH_

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/scan_packed_run.cuh"
#include "kernels/cuda/scan_piece.cuh"
#include "kernels/cuda/scan_tile.cuh"

namespace gridfold::kernels::cuda {

// Which results a scan wants decides how many instructions an item takes. The plain modes are
// inclusive and exclusive scans of the elements in the order of memory, of warps where no group
// starts; the general one does everything else, too. Lanes of different modes would wait for each
// other.
enum class RunMode { kInclusive, kExclusive, kGeneral };

template <class Operator, class T, int kItems>
class RunScan {
 public:
  using Value = typename Operator::Value;
  using Packed = PackedRun<Operator, T, kItems>;

  __device__ RunScan(const ScanArguments& arguments, int lane)
      : arguments_(arguments),
        lane_(lane),
        ignores_nan_(FloatingElement<T> && arguments.ignore_nan),
        plain_mode_(arguments.reverse || (ignores_nan_ && !kIsPackedWithNan) ? RunMode::kGeneral
                    : arguments.exclusive                                    ? RunMode::kExclusive
                                          : RunMode::kInclusive) {}

  // The last running value of the run. `warp_has_heads`: whether a group starts in any lane's run.
  __device__ Value Total(const T* piece, HeadBits<kItems> heads, bool warp_has_heads) const {
    if constexpr (Packed::kExists) {
      const bool has_order = Operator::kIsAssociative || !arguments_.reverse;
      Value total;
      if (!warp_has_heads && has_order && PackedTotal(piece, total)) return total;
    } else if (!warp_has_heads && plain_mode_ != RunMode::kGeneral) {
      return TotalOf<false>(piece, heads);
    }
    return TotalOf<true>(piece, heads);
  }

  // Stores the run's results in a piece, which may be the same. Returns whether the first `size` of
  // them fit.
  template <class Out>
  __device__ bool Scan(const T* piece, HeadBits<kItems> heads, bool warp_has_heads,
                       const Value& base, int size, Out* results) const {
    switch (warp_has_heads || size < kItems ? RunMode::kGeneral : plain_mode_) {
      case RunMode::kInclusive:
        if constexpr (Packed::kExists && std::is_same_v<Out, T>) {
          if (PackedScan<false>(piece, base, results)) return true;
          break;
        } else {
          return ScanOf<RunMode::kInclusive>(piece, heads, base, size, results);
        }
      case RunMode::kExclusive:
        if constexpr (Packed::kExists && std::is_same_v<Out, T>) {
          if (PackedScan<true>(piece, base, results)) return true;
          break;
        } else {
          return ScanOf<RunMode::kExclusive>(piece, heads, base, size, results);
        }
      case RunMode::kGeneral: break;
    }
    return ScanOf<RunMode::kGeneral>(piece, heads, base, size, results);
  }

 private:
  // Extremes of packed runs say where there is a NaN, and have no wider results.
  static constexpr bool kIsPackedWithNan = Packed::kExists && Operator::kIsAssociative;

  __device__ static bool IsHead(HeadBits<kItems> heads, int k) { return (heads >> k & 1) != 0; }

  // See PackedRun. Associative totals that are answers are the same in either order.
  __device__ bool PackedTotal(const T* piece, Value& total) const {
    uint32_t words[Packed::kWords];
    LoadRunBytes<T, kItems>(piece, arguments_.reverse ? kScanLanes - 1 - lane_ : lane_, words);
    return Packed::Total(words, arguments_.mirror_bits, total);
  }
  template <bool kExclusive>
  __device__ bool PackedScan(const T* piece, const Value& base, T* results) const {
    uint32_t words[Packed::kWords];
    LoadRunBytes<T, kItems>(piece, lane_, words);
    uint32_t packed[Packed::kWords];
    if (!Packed::template Scan<kExclusive>(words, base, arguments_.wrap, arguments_.mirror_bits,
                                           packed)) {
      return false;
    }
    StoreRunBytes<T, kItems>(packed, lane_, results);
    return true;
  }

  template <bool kIsGeneral>
  __device__ void LoadItems(const T* piece, T (&items)[kItems]) const {
    LoadRun(piece, lane_, kIsGeneral && arguments_.reverse, items);
  }
  template <bool kIsGeneral>
  __device__ Value Lift(T item) const {
    return LiftElement<Operator>(item, kIsGeneral && ignores_nan_, arguments_.mirror_bits);
  }

  template <bool kIsGeneral>
  __device__ Value TotalOf(const T* piece, HeadBits<kItems> heads) const {
    T items[kItems];
    LoadItems<kIsGeneral>(piece, items);
    Value running = Operator::Identity();
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      if (kIsGeneral && IsHead(heads, k)) running = Operator::Identity();
      running = Operator::Combine(running, Lift<kIsGeneral>(items[k]));
    }
    return running;
  }

  template <RunMode kMode, class Out>
  __device__ bool ScanOf(const T* piece, HeadBits<kItems> heads, Value base, int size,
                         Out* results) const {
    constexpr bool kIsGeneral = kMode == RunMode::kGeneral;
    const bool exclusive = kMode == RunMode::kExclusive || (kIsGeneral && arguments_.exclusive);
    T items[kItems];
    LoadItems<kIsGeneral>(piece, items);
    Out stored[kItems];
    bool fits = true;
    // Where the order of joins does not matter, the base may be joined first.
    Value running = Operator::kIsAssociative ? base : Operator::Identity();
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const bool is_head = kIsGeneral && IsHead(heads, k);
      // Joining the identity changes no bits, so it stands for what is left out.
      if (is_head) running = base = Operator::Identity();
      const Value before = running;
      running = Operator::Combine(running, Lift<kIsGeneral>(items[k]));
      Value result = exclusive ? before : running;
      if constexpr (!Operator::kIsAssociative) result = Operator::Combine(base, result);
      if (exclusive && is_head) result = Operator::EmptyResult();
      fits &= StoreResult<Operator>(result, arguments_.wrap, arguments_.mirror_bits, &stored[k]) ||
              (kIsGeneral && k >= size);
    }
    StoreRun(stored, lane_, kIsGeneral && arguments_.reverse, results);
    return fits;
  }

  const ScanArguments& arguments_;
  const int lane_;
  const bool ignores_nan_;
  const RunMode plain_mode_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_RUN_CUH_
