// Moving sums and means: those of the last `window` elements up to each one, exact and rounded
// once.
//
// What a window holds is one exact number and counts of what is not a finite number. Both can be
// taken out again: an element that enters is added, one that leaves is subtracted, and nothing is
// rounded on the way, so a result has the bits of summing its own window by itself. An infinity or
// a NaN is a count that goes back to 0 when the window has passed it.
//
//   MovingSum<T>     what a window holds
//   MovingRun<T>     a few results in a row: the elements that enter, and those that leave
//   Slide            goes through them and gives each result
//   words            the same as 64-bit integers without carries between them: those of chunks that
//                    follow one another add up word by word, and so does the difference of two
//                    prefixes, which is all that lies between
//
// Sums of floating-point elements move through the window of 128 bits of exact_prefix.h, or on
// limbs where their run does not fit it. Host and device.
#ifndef GRIDFOLD_KERNELS_NUMERICS_SCANS_MOVING_SUM_H_
#define GRIDFOLD_KERNELS_NUMERICS_SCANS_MOVING_SUM_H_

#include <cstdint>
#include <limits>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/arithmetic/exact_quotient.h"
#include "kernels/numerics/arithmetic/wide_integer.h"
#include "kernels/numerics/scans/exact_prefix.h"
#include "kernels/numerics/scans/exact_rounding.h"
#include "kernels/numerics/sums/exact_sum.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

// What results are. Plain data.
struct MovingRules {
  uint64_t window = 1;     // Elements, at least 1.
  uint64_t min_count = 0;  // Results of fewer elements that count are NaN.
  bool mean = false;       // Else the sum.
  bool ignore_nan = false;
  bool wrap = false;  // Sums of integers that do not fit.
};

// Results in a row.
inline constexpr int kMovingRun = 16;
inline constexpr int kMovingRunBits = 5;  // Both what enters and what leaves.
static_assert(2 * kMovingRun <= 1 << kMovingRunBits);

// The results of some positions of one group that follow one another.
template <class T>
struct MovingRun {
  T entering[kMovingRun];
  T leaving[kMovingRun];  // From first_leaving on.
  int count = 0;
  int first_leaving = 0;
  uint64_t held = 0;  // Elements in the window before the run.

  // Elements in the window of result k.
  GRIDFOLD_HD uint64_t SizeAt(int k) const {
    return held + static_cast<uint64_t>(k < first_leaving ? k + 1 : first_leaving);
  }
};

template <class T>
class MovingSum;

template <IntegerElement T>
class MovingSum<T> {
 public:
  static constexpr int kWords = 3;

  GRIDFOLD_HD void Take(const T* items, int count, const MovingRules&) {
    for (int i = 0; i < count; ++i) sum_ += items[i];
  }

  // Calls store(k, result, whether it fits) for each result.
  template <class Out, class Store>
  GRIDFOLD_HD void Slide(const MovingRun<T>& run, const MovingRules& rules, Store store) {
    for (int k = 0; k < run.count; ++k) {
      sum_ += run.entering[k];
      if (k >= run.first_leaving) sum_ -= run.leaving[k];
      if constexpr (FloatingElement<Out>) {
        store(k, Mean(run.SizeAt(k), rules), true);
      } else {
        const auto result = static_cast<Out>(sum_);
        store(k, result, rules.wrap || Int128{result} == sum_);
      }
    }
  }

  GRIDFOLD_HD void ToWords(int64_t* words) const {
    words[0] = static_cast<uint32_t>(sum_);
    words[1] = static_cast<uint32_t>(sum_ >> 32);
    words[2] = static_cast<int64_t>(sum_ >> 64);
  }
  // Adds what lies between two prefixes.
  GRIDFOLD_HD void AddDifference(const int64_t* after, const int64_t* before) {
    sum_ += Int128{after[0] - before[0]};
    sum_ += static_cast<Int128>(static_cast<Uint128>(Int128{after[1] - before[1]}) << 32);
    sum_ += static_cast<Int128>(static_cast<Uint128>(Int128{after[2] - before[2]}) << 64);
  }

 private:
  GRIDFOLD_HD double Mean(uint64_t size, const MovingRules& rules) const {
    if (size < rules.min_count) return std::numeric_limits<double>::quiet_NaN();
    const bool negative = sum_ < 0;
    const Uint128 magnitude = NegateIf(negative, static_cast<Uint128>(sum_));
    const uint64_t limbs[] = {static_cast<uint64_t>(magnitude),
                              static_cast<uint64_t>(magnitude >> kLimbBits)};
    return RoundQuotient<double>(negative,
                                 LeadingQuotient(LimbMagnitude::OfUnsigned(limbs, 2), 0, size));
  }

  Int128 sum_ = 0;
};

// How many elements of a window are what an exact sum has flags for.
struct MovingCounts {
  static constexpr int kCounts = 4;
  int64_t positive_infinities = 0;  // Of either infinity a NaN is one.
  int64_t negative_infinities = 0;
  int64_t other_than_negative_zeros = 0;
  int64_t ignored = 0;  // NaNs, which count as +0.0.

  // Adds x, or takes it out.
  template <std::floating_point F>
  GRIDFOLD_HD void Count(F x, bool ignore_nan, bool leaves) {
    const int64_t one = leaves ? -1 : 1;
    const bool is_ignored = ignore_nan && IsNan(x);
    const uint32_t flags = is_ignored ? kSawOtherThanNegativeZero : ExactSumFlagsOf(x);
    positive_infinities += (flags & kSawPositiveInfinity) != 0 ? one : 0;
    negative_infinities += (flags & kSawNegativeInfinity) != 0 ? one : 0;
    other_than_negative_zeros += (flags & kSawOtherThanNegativeZero) != 0 ? one : 0;
    ignored += is_ignored ? one : 0;
  }

  GRIDFOLD_HD uint32_t flags() const {
    return (positive_infinities != 0 ? kSawPositiveInfinity : 0) |
           (negative_infinities != 0 ? kSawNegativeInfinity : 0) |
           (other_than_negative_zeros != 0 ? kSawOtherThanNegativeZero : 0);
  }
};

template <FloatingElement T>
class MovingSum<T> {
 public:
  using Sum = PrefixSum<T>;
  static constexpr int kWords = Sum::kDigits + MovingCounts::kCounts;

  GRIDFOLD_HD void Take(const T* items, int count, const MovingRules& rules) {
    BitSpan span;
    for (int i = 0; i < count; ++i) {
      span.Include(ToCompute(items[i]));
      counts_.Count(ToCompute(items[i]), rules.ignore_nan, false);
    }
    const PrefixWindow<T> window(span, kMovingRunBits, false);
    if (!window.fits()) return TakeOnLimbs(items, count);
    WindowSum total;
    for (int i = 0; i < count; ++i) total.integer += IntegerIn(window, items[i]);
    finite_.Merge(window.SumOf(total, false));
  }

  template <class Out, class Store>
  GRIDFOLD_HD void Slide(const MovingRun<T>& run, const MovingRules& rules, Store store) {
    BitSpan span;
    for (int k = 0; k < run.count; ++k) {
      span.Include(ToCompute(run.entering[k]));
      if (k >= run.first_leaving) span.Include(ToCompute(run.leaving[k]));
    }
    const PrefixWindow<T> window(span, kMovingRunBits, false, &finite_);
    if (!window.fits()) return SlideOnLimbs<Out>(run, rules, store);
    WindowSum running = window.Carry();
    for (int k = 0; k < run.count; ++k) {
      CountStep(run, k, rules.ignore_nan);
      running.integer += IntegerIn(window, run.entering[k]);
      if (k >= run.first_leaving) running.integer -= IntegerIn(window, run.leaving[k]);
      const uint64_t numbers = run.SizeAt(k) - static_cast<uint64_t>(counts_.ignored);
      const WindowSum sum{running.integer, counts_.flags()};
      if (IsMissing(numbers, rules)) {
        store(k, NotFinite<Out>(std::numeric_limits<double>::quiet_NaN()), true);
      } else if (rules.mean) {
        store(k, window.template RoundMean<Out>(sum, numbers), true);
      } else {
        store(k, window.template Round<Out>(sum, true), true);
      }
    }
    finite_ = window.SumOf(running, true);
  }

  GRIDFOLD_HD void ToWords(int64_t* words) const {
    for (int i = 0; i < Sum::kDigits; ++i) {
      words[i] = static_cast<uint32_t>(finite_.limbs()[i / 2] >> (i % 2 * Sum::kDigitBits));
    }
    words += Sum::kDigits;
    words[0] = counts_.positive_infinities;
    words[1] = counts_.negative_infinities;
    words[2] = counts_.other_than_negative_zeros;
    words[3] = counts_.ignored;
  }
  GRIDFOLD_HD void AddDifference(const int64_t* after, const int64_t* before) {
    finite_.AddDigits([&](int i) { return after[i] - before[i]; });
    after += Sum::kDigits;
    before += Sum::kDigits;
    counts_.positive_infinities += after[0] - before[0];
    counts_.negative_infinities += after[1] - before[1];
    counts_.other_than_negative_zeros += after[2] - before[2];
    counts_.ignored += after[3] - before[3];
  }

 private:
  using F = ComputeType<T>;

  GRIDFOLD_HD static bool IsNumber(F x) { return x - x == 0; }
  GRIDFOLD_HD static Int128 IntegerIn(const PrefixWindow<T>& window, T x) {
    return IsNumber(ToCompute(x)) ? window.IntegerOf(ToCompute(x)) : 0;
  }
  GRIDFOLD_HD static bool IsMissing(uint64_t numbers, const MovingRules& rules) {
    return numbers < rules.min_count || (rules.mean && numbers == 0);
  }

  // Counts what enters with result k, and what leaves.
  GRIDFOLD_HD void CountStep(const MovingRun<T>& run, int k, bool ignore_nan) {
    counts_.Count(ToCompute(run.entering[k]), ignore_nan, false);
    if (k >= run.first_leaving) counts_.Count(ToCompute(run.leaving[k]), ignore_nan, true);
  }

  GRIDFOLD_HD void AddOnLimbs(T item, bool leaves) {
    const F x = ToCompute(item);
    if (!IsNumber(x)) return;
    const DecomposedFloat d = Decompose(x);
    finite_.AddInteger(d.significand, d.position, d.negative != leaves);
  }

  // These are rarely taken, and too large to be inlined.
  __attribute__((noinline)) GRIDFOLD_HD void TakeOnLimbs(const T* items, int count) {
    for (int i = 0; i < count; ++i) AddOnLimbs(items[i], false);
  }
  template <class Out, class Store>
  __attribute__((noinline)) GRIDFOLD_HD void SlideOnLimbs(const MovingRun<T>& run,
                                                          const MovingRules& rules, Store store) {
    for (int k = 0; k < run.count; ++k) {
      CountStep(run, k, rules.ignore_nan);
      AddOnLimbs(run.entering[k], false);
      if (k >= run.first_leaving) AddOnLimbs(run.leaving[k], true);
      const uint64_t numbers = run.SizeAt(k) - static_cast<uint64_t>(counts_.ignored);
      Sum sum = finite_;
      sum.AddFlags(counts_.flags());
      if (IsMissing(numbers, rules)) {
        store(k, NotFinite<Out>(std::numeric_limits<double>::quiet_NaN()), true);
      } else {
        store(k, rules.mean ? RoundMean<Out>(sum, numbers) : RoundOnce<Out>(sum), true);
      }
    }
  }

  Sum finite_;  // Of the finite elements; its flags stay 0.
  MovingCounts counts_;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_SCANS_MOVING_SUM_H_
