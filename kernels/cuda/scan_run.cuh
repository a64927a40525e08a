// What one lane scans: a run of consecutive positions of its warp's piece.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_RUN_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_RUN_CUH_

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/cuda/scan_piece.cuh"
#include "kernels/cuda/scan_tile.cuh"

namespace gridfold::kernels::cuda {

// Which results a scan wants decides how many instructions an item takes. The plain modes are
// inclusive and exclusive scans of the elements in the order of memory, of lanes where no group
// starts; the general one does everything else, too.
enum class RunMode { kInclusive, kExclusive, kGeneral };

template <class Operator, class T, int kItems>
class RunScan {
 public:
  using Value = typename Operator::Value;

  __device__ RunScan(const ScanArguments& arguments, int lane)
      : arguments_(arguments),
        lane_(lane),
        plain_mode_(arguments.reverse || (FloatingElement<T> && arguments.ignore_nan)
                        ? RunMode::kGeneral
                    : arguments.exclusive ? RunMode::kExclusive
                                          : RunMode::kInclusive) {}

  // The last running value of the run.
  __device__ Value Total(const T* piece, HeadBits<kItems> heads) const {
    return heads != 0 || plain_mode_ == RunMode::kGeneral ? TotalOf<true>(piece, heads)
                                                          : TotalOf<false>(piece, heads);
  }

  // The run's results. Returns whether the first `size` of them fit.
  template <class Out>
  __device__ bool Scan(const T* piece, HeadBits<kItems> heads, const Value& base, int size,
                       Out (&results)[kItems]) const {
    switch (heads != 0 || size < kItems ? RunMode::kGeneral : plain_mode_) {
      case RunMode::kInclusive:
        return ScanOf<RunMode::kInclusive>(piece, heads, base, size, results);
      case RunMode::kExclusive:
        return ScanOf<RunMode::kExclusive>(piece, heads, base, size, results);
      case RunMode::kGeneral: break;
    }
    return ScanOf<RunMode::kGeneral>(piece, heads, base, size, results);
  }

 private:
  __device__ static bool IsHead(HeadBits<kItems> heads, int k) { return (heads >> k & 1) != 0; }

  template <bool kIsGeneral>
  __device__ void LoadItems(const T* piece, T (&items)[kItems]) const {
    LoadRun(piece, lane_, kIsGeneral && arguments_.reverse, items);
  }
  template <bool kIsGeneral>
  __device__ Value Lift(T item) const {
    return Operator::Lift(item, kIsGeneral && arguments_.ignore_nan);
  }

  template <bool kIsGeneral>
  __device__ Value TotalOf(const T* piece, HeadBits<kItems> heads) const {
    T items[kItems];
    LoadItems<kIsGeneral>(piece, items);
    if constexpr (kIsNarrowSum && !kIsGeneral) return NarrowTotal(items);
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
                         Out (&results)[kItems]) const {
    constexpr bool kIsGeneral = kMode == RunMode::kGeneral;
    const bool exclusive = kMode == RunMode::kExclusive || (kIsGeneral && arguments_.exclusive);
    T items[kItems];
    LoadItems<kIsGeneral>(piece, items);
    if constexpr (kIsNarrowSum && !kIsGeneral && std::is_same_v<Out, T>) {
      return NarrowScan<kMode>(items, base, results);
    }
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
      fits &= Operator::Store(result, arguments_.wrap, &results[k]) || (kIsGeneral && k >= size);
    }
    return fits;
  }

  // The sum of a run of such elements has less than 32 bits.
  static constexpr bool kIsNarrowSum =
      std::is_same_v<Operator, ScanOperator<T, ScanOperation::kSum>> && IntegerElement<T> &&
      sizeof(T) <= 2;

  __device__ static int32_t NarrowTotal(const T (&items)[kItems]) {
    int32_t total = 0;
    if constexpr (sizeof(T) == 1) {
      // Four at a time.
      using Word = std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>;
      Word words[kItems / 4];
      std::memcpy(words, items, sizeof(words));
      Word sum = 0;
      for (const Word word : words) sum = __dp4a(word, Word{0x01010101}, sum);
      total = static_cast<int32_t>(sum);
    } else {
      for (const T item : items) total += item;
    }
    return total;
  }

  template <RunMode kMode>
  __device__ bool NarrowScan(const T (&items)[kItems], Value base, T (&results)[kItems]) const {
    constexpr int kBits = 8 * sizeof(T);
    // Added, it leaves results that fit without bits above T's.
    constexpr uint32_t kBias = std::is_signed_v<T> ? 1u << (kBits - 1) : 0;
    // What is farther away is as wrong.
    constexpr Value kFar = Value{1} << 30;
    if (!arguments_.wrap) base = max(min(base, kFar), -kFar);
    uint32_t running = static_cast<uint32_t>(base) + kBias;
    uint32_t seen = 0;
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const uint32_t before = running;
      running += static_cast<uint32_t>(static_cast<int32_t>(items[k]));
      const uint32_t result = kMode == RunMode::kExclusive ? before : running;
      seen |= result;
      results[k] = static_cast<T>(result - kBias);
    }
    return arguments_.wrap || seen >> kBits == 0;
  }

  const ScanArguments& arguments_;
  const int lane_;
  const RunMode plain_mode_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_RUN_CUH_
