// Prefix sums of integers where no group starts, in the type of the results: those of a vector by
// doubling, then what came before it is added to all of them. As long as the sums before fit, one
// addition says whether the next one does.
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_RUNNING_SUM_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_RUNNING_SUM_H_

#include <algorithm>
#include <climits>
#include <type_traits>

#include "kernels/cpu/base/instruction_set.h"
#include "kernels/cpu/base/streaming_store.h"
#include "kernels/cpu/base/vector.h"
#include "kernels/cpu/scan/tile.h"

namespace gridfold::kernels::cpu {

// Whether the sums of all elements but the last fit, and that of all.
struct SumsFit {
  bool before_last;
  bool last;
};

// With kWrap nothing is said of what fits.
template <class Out, bool kWrap>
class RunningSum {
 public:
  // After `before`, modulo 2^bits of a sum that fits or not.
  RunningSum(Out before, bool before_fits, const ScanRules& rules)
      : before_(Lanes{} + static_cast<Bits>(before)),
        exclusive_(rules.exclusive ? ~Lanes{} : Lanes{}),
        stream_(rules.stream),
        before_fits_(before_fits) {}

  // Elements in their order, and the result of each. Only the last call's number of elements need
  // not be a multiple of 16.
  void Add(const Out* elements, int count, Out* results) {
    int i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      const Lanes sums = AddVector(LoadVector<Bits>(elements + i));
      if (stream_) {
        StoreVector<true>(sums, results + i);
      } else {
        StoreVector<false>(sums, results + i);
      }
    }
    if (i == count) return;
    Out some[kLanes] = {};  // What is added of 0 changes no sum.
    std::copy(elements + i, elements + count, some);
    StoreVector<false>(AddVector(LoadVector<Bits>(some)), some);
    std::copy_n(some, count - i, results + i);
    last_lane_ = count - i - 1;
  }

  // The sum of all elements so far, modulo 2^bits.
  Out sum() const { return static_cast<Out>(before_[0]); }

  SumsFit Fit() const {
    if constexpr (kWrap) return {true, true};
    Lanes before_last = latest_;
    before_last[last_lane_] = 0;
    const bool fits = before_fits_ && !HasSign(overflowed_ | before_last);
    return {fits, fits && !HasSign(latest_)};
  }

 private:
  using Bits = std::make_unsigned_t<Out>;
  using Lanes = Vector<Bits>;
  static constexpr int kLanes = kVectorLanes<Bits>;

  Lanes AddVector(Lanes x) {
    Lanes sums = x;
    sums += MovedUp<Bits, 1>(sums);
    if constexpr (kLanes > 2) sums += MovedUp<Bits, 2>(sums);
    if constexpr (kLanes > 4) sums += MovedUp<Bits, 4>(sums);
    if constexpr (kLanes > 8) sums += MovedUp<Bits, 8>(sums);
    const Lanes total = LastLane<Bits>(sums);
    sums += before_;
    before_ += total;
    if constexpr (!kWrap) {
      overflowed_ |= latest_;
      latest_ = Overflow(sums - x, x, sums);
    }
    return sums - (x & exclusive_);
  }

  // The sign bits say where a + b = sum does not fit.
  static Lanes Overflow(Lanes a, Lanes b, Lanes sum) {
    if constexpr (std::is_signed_v<Out>) return (a ^ sum) & (b ^ sum);
    return (a & b) | ((a | b) & ~sum);
  }
  static bool HasSign(Lanes v) {
    Bits any = 0;
    for (int lane = 0; lane < kLanes; ++lane) any |= v[lane];
    return any >> (sizeof(Bits) * CHAR_BIT - 1) != 0;
  }

  Lanes before_;  // The sum of all elements so far, in each lane.
  const Lanes exclusive_;
  const bool stream_;
  const bool before_fits_;
  Lanes overflowed_ = {};  // Sign bits, of all vectors but the latest,
  Lanes latest_ = {};      // and of that.
  int last_lane_ = kLanes - 1;
};

namespace running_sum_internal {

// A kernel (base/instruction_set.h). `sum` goes from the sum before the tile to that of all.
template <bool kWrap, class T, class Out>
struct WriteKernel {
  static constexpr int kBlock = 256;

  static void Run(const LogicalTile<T>& tile, bool carry_fits, const ScanRules& rules, Out* results,
                  Out* sum, SumsFit* fit) {
    RunningSum<Out, kWrap> running(*sum, carry_fits, rules);
    for (int begin = 0; begin < tile.count; begin += kBlock) {
      const int count = std::min(kBlock, tile.count - begin);
      const T* const elements = tile.elements + begin;
      if constexpr (sizeof(T) == sizeof(Out)) {
        running.Add(elements, count, results + begin);
      } else {
        Out widened[kBlock];
        std::copy_n(elements, count, widened);
        running.Add(widened, count, results + begin);
      }
    }
    *sum = running.sum();
    *fit = running.Fit();
  }
};

}  // namespace running_sum_internal

// Writes the prefix sums of a tile in which no group starts, after `carry`, and gives the sum of
// carry and all elements modulo 2^bits of Out. Returns which sums fit; those that may wrap all do.
template <class T, class Out, class Value>
inline SumsFit WriteRunningSums(const LogicalTile<T>& tile, const Value& carry,
                                const ScanRules& rules, Out* results, Out* sum) {
  using namespace running_sum_internal;  // NOLINT
  *sum = static_cast<Out>(carry);
  const bool carry_fits = static_cast<Value>(*sum) == carry;
  SumsFit fit;
  const auto write = [&](auto wrap) {
    RunForProcessor<WriteKernel<wrap(), T, Out>>(tile, carry_fits, rules, results, sum, &fit);
  };
  rules.wrap ? write(std::true_type()) : write(std::false_type());
  if (rules.stream) FinishStreaming();
  return fit;
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_SCAN_RUNNING_SUM_H_
