// Exact prefix sums: the sum of the elements up to each one, rounded once.
//
// Carrying an ExactSum from element to element would cost dozens of limbs for each. But the
// elements of a tile, and all their prefix sums, nearly always lie within 127 bits of what the tile
// ends up with. So a tile looks at the world through a window of that width: its elements are
// integers in units of the window's last bit, the carry is cut to such an integer and the knowledge
// whether something was cut off, and a prefix is one addition of 128 bits, rounded by integer
// arithmetic. What the window cannot show falls back on the limbs: a tile with elements below the
// window as a whole, and single prefixes that cancel so far that what was cut off would decide.
// Either way the result is the exact prefix rounded once, so its bits depend on nothing else.
//
// A tile takes three steps: the BitSpan of its elements, the PrefixWindow for that span and the
// carry, and the sums in the window or, where it does not fit, on PrefixLimbs. These two have the
// same members:
//   Operator                   joins values, in the manner of operator.h
//   Carry()                    the carry's value
//   Take(value, x)             adds an element
//   SumOf(value, after_carry)  what the value stands for; after_carry says that it holds the carry
//   Round<Out>(value, after_carry)
// Host and device.
#ifndef GRIDFOLD_KERNELS_NUMERICS_SCANS_EXACT_PREFIX_H_
#define GRIDFOLD_KERNELS_NUMERICS_SCANS_EXACT_PREFIX_H_

#include <cstdint>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/scans/exact_rounding.h"
#include "kernels/numerics/sums/exact_sum.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

// Sums of elements of type T.
template <FloatingElement T>
using PrefixSum = ExactSum<ComputeType<T>, 1>;

// An element as sums take it: an ignored NaN counts as +0.0, as in scans that are not exact.
template <FloatingElement T>
GRIDFOLD_HD inline ComputeType<T> Addend(T x, bool ignore_nan) {
  const ComputeType<T> value = ToCompute(x);
  return ignore_nan && IsNan(value) ? ComputeType<T>{0} : value;
}

// The operator of exact sums as a whole, in the manner of operator.h.
template <FloatingElement T>
struct ExactSumOperator {
  using Value = PrefixSum<T>;
  GRIDFOLD_HD static Value Identity() { return Value{}; }
  GRIDFOLD_HD static Value EmptyResult() {
    Value v;
    v.AddFlags(kSawOtherThanNegativeZero);
    return v;
  }
  GRIDFOLD_HD static Value Lift(T x, bool ignore_nan) {
    Value v;
    v.Add(Addend(x, ignore_nan));
    return v;
  }
  GRIDFOLD_HD static Value Combine(Value a, const Value& b) {
    a.Merge(b);
    return a;
  }
  template <class Out>
  GRIDFOLD_HD static bool Store(const Value& v, bool, Out* out) {
    *out = RoundOnce<Out>(v);
    return true;
  }
};

// Where the bits of finite numbers other than 0 lie: in [first, end), counted from the smallest
// number of the format.
struct BitSpan {
  int first = kNone;
  int end = 0;

  template <std::floating_point F>
  GRIDFOLD_HD void Include(F x) {
    if (x == 0 || x - x != 0) return;  // Zeros have no bits; infinities and NaN no place.
    const int position = static_cast<int>(Decompose(x).position);
    Merge({position, position + FloatFormat<F>::kPrecision});
  }
  GRIDFOLD_HD void Merge(const BitSpan& other) {
    first = other.first < first ? other.first : first;
    end = other.end > end ? other.end : end;
  }

  static constexpr int kNone = 1 << 30;
};

// A sum in a window: an integer in units of the window's last bit, and kSaw... flags.
struct WindowSum {
  Int128 integer = 0;
  uint32_t flags = 0;
};

// The operator that joins them.
struct WindowSumOperator {
  using Value = WindowSum;
  GRIDFOLD_HD static Value Identity() { return {}; }
  GRIDFOLD_HD static Value Combine(const Value& a, const Value& b) {
    return {a.integer + b.integer, a.flags | b.flags};
  }
};

// -x or x, without a branch: signs are as good as random.
GRIDFOLD_HD inline Uint128 NegateIf(bool negative, Uint128 x) {
  const Uint128 mask = Uint128{0} - (negative ? 1 : 0);
  return (x ^ mask) - mask;
}

template <FloatingElement T>
class PrefixWindow {
 public:
  using Sum = PrefixSum<T>;
  using Operator = WindowSumOperator;

  // For up to 2^count_bits elements within `span`, after nothing.
  GRIDFOLD_HD PrefixWindow(const BitSpan& span, int count_bits, bool ignore_nan)
      : ignore_nan_(ignore_nan) {
    Place(span, span.end + count_bits);
  }
  // The window for such elements after `carry`, which must stay where it is.
  GRIDFOLD_HD PrefixWindow(const BitSpan& span, int count_bits, bool ignore_nan, const Sum* carry)
      : carry_(carry), ignore_nan_(ignore_nan) {
    const int carry_length = SignedLength(carry->limbs(), Sum::kLimbs);
    const int tile_length = span.end + count_bits;
    Place(span, carry_length > tile_length ? carry_length : tile_length);
    cut_carry_ = {static_cast<Int128>(BitsFrom(carry->limbs(), Sum::kLimbs, unit_)),
                  carry->flags()};
    carry_is_cut_ = HasBitsBelow(carry->limbs(), unit_);
  }

  // Whether the window shows all elements whole; what follows requires it.
  GRIDFOLD_HD bool fits() const { return fits_; }

  GRIDFOLD_HD WindowSum Carry() const { return cut_carry_; }

  GRIDFOLD_HD void Take(WindowSum& sum, T x) const {
    const ComputeType<T> value = Addend(x, ignore_nan_);
    const uint32_t flags = ExactSumFlagsOf(value);
    sum.flags |= flags;
    // Infinities and NaN lie above the window.
    if ((flags & kSawNan) == 0) sum.integer += IntegerOf(value);
  }
  // A finite number in units of the window's last bit. Zeros may lie below the window.
  GRIDFOLD_HD Int128 IntegerOf(ComputeType<T> value) const {
    const DecomposedFloat d = Decompose(value);
    const int shift = static_cast<int>(d.position) - unit_;
    if (shift < 0) return 0;
    return static_cast<Int128>(NegateIf(d.negative, Uint128{d.significand} << shift));
  }

  GRIDFOLD_HD Sum SumOf(const WindowSum& x, bool after_carry) const {
    Sum sum = after_carry ? *carry_ : Sum{};
    sum.AddFlags(x.flags);
    if (!sum.is_finite()) return sum;
    const Int128 integer = x.integer - (after_carry ? cut_carry_.integer : 0);
    sum.AddInteger(NegateIf(integer < 0, static_cast<Uint128>(integer)),
                   static_cast<uint32_t>(unit_), integer < 0);
    return sum;
  }

  template <FloatingElement Out>
  GRIDFOLD_HD Out Round(const WindowSum& x, bool after_carry) const {
    const bool is_cut = after_carry && carry_is_cut_;
    const bool negative = x.integer < 0;
    // What was cut off is positive, so the magnitude of a negative integer is too large.
    const Uint128 magnitude =
        NegateIf(negative, static_cast<Uint128>(x.integer)) - (negative && is_cut ? 1 : 0);
    const bool is_decided = !is_cut || (magnitude >> (kLimbBits - 1)) != 0;
    if ((x.flags & kSawNan) != 0 || !is_decided) return RoundOnLimbs<Out>(x, after_carry);
    return RoundOnce<Out>(negative || x.flags == 0,
                          LeadingBits{magnitude, Sum::kLowestExponent + unit_, is_cut});
  }

  // What x stands for behind the carry, divided by `count`, which is not 0.
  template <FloatingElement Out>
  GRIDFOLD_HD Out RoundMean(const WindowSum& x, uint64_t count) const {
    if ((x.flags & kSawNan) != 0 || carry_is_cut_) return RoundMeanOnLimbs<Out>(x, count);
    const bool negative = x.integer < 0;
    const Uint128 magnitude = NegateIf(negative, static_cast<Uint128>(x.integer));
    const uint64_t limbs[] = {static_cast<uint64_t>(magnitude),
                              static_cast<uint64_t>(magnitude >> kLimbBits)};
    return RoundQuotient<Out>(
        negative || x.flags == 0,
        LeadingQuotient(LimbMagnitude::OfUnsigned(limbs, 2), Sum::kLowestExponent + unit_, count));
  }

 private:
  // A sign and, below 2^126, room for the sum of carry and elements.
  static constexpr int kWindowBits = 126;

  // Puts the window where it shows sums of two numbers below 2^length.
  GRIDFOLD_HD void Place(const BitSpan& span, int length) {
    unit_ = length + 1 > kWindowBits ? length + 1 - kWindowBits : 0;
    fits_ = span.first >= unit_;
  }

  // Rarely taken, and too large to be inlined into every loop.
  template <FloatingElement Out>
  __attribute__((noinline)) GRIDFOLD_HD Out RoundOnLimbs(const WindowSum& x,
                                                         bool after_carry) const {
    if ((x.flags & kSawNan) == 0) return RoundOnce<Out>(SumOf(x, after_carry));
    Sum not_finite;
    not_finite.AddFlags(x.flags);
    return RoundOnce<Out>(not_finite);
  }
  template <FloatingElement Out>
  __attribute__((noinline)) GRIDFOLD_HD Out RoundMeanOnLimbs(const WindowSum& x,
                                                             uint64_t count) const {
    return gridfold::kernels::RoundMean<Out>(SumOf(x, true), count);
  }

  const Sum* carry_ = nullptr;
  WindowSum cut_carry_;  // The carry rounded down.
  int unit_;             // Position of the window's last bit.
  bool carry_is_cut_ = false;
  bool fits_;
  bool ignore_nan_;
};

template <FloatingElement T>
class PrefixLimbs {
 public:
  using Sum = PrefixSum<T>;
  using Operator = ExactSumOperator<T>;

  // `carry` may be null, for nothing.
  GRIDFOLD_HD PrefixLimbs(bool ignore_nan, const Sum* carry)
      : carry_(carry), ignore_nan_(ignore_nan) {}

  GRIDFOLD_HD Sum Carry() const { return carry_ == nullptr ? Sum{} : *carry_; }
  GRIDFOLD_HD void Take(Sum& sum, T x) const { sum.Add(Addend(x, ignore_nan_)); }
  GRIDFOLD_HD Sum SumOf(const Sum& sum, bool) const { return sum; }
  template <FloatingElement Out>
  GRIDFOLD_HD Out Round(const Sum& sum, bool) const {
    return RoundOnce<Out>(sum);
  }

 private:
  const Sum* carry_;
  bool ignore_nan_;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_SCANS_EXACT_PREFIX_H_
