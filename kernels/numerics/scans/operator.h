// What a scan accumulates: the value carried from element to element, how two values are joined,
// and how a value becomes a result.
//
// ScanOperator<T, op> has
//   Value                       what is carried
//   Identity()                  Combine(Identity(), v) == v, bit for bit
//   EmptyResult()               what an exclusive scan gives where nothing came before
//   Lift(x, ignore_nan)         the value of one element; a sum takes an ignored NaN as +0.0
//                               (NumPy's nancumsum), a product as 1
//   Combine(a, b)               a's elements come before b's
//   kIsAssociative              whether the order of joins changes no bits
//   Store<Out>(v, wrap, &out)   the result of type Out (T, or T's accumulator type); false where it
//                               does not fit and wrap is false
// Integer values are exact, so their order does not matter. Floating-point sums and products are
// float64 numbers, rounded once on Store, and their order is fixed by tree.h.
//
// Sums of float64 elements, and floating-point products, may leave the range in a part of the tree
// although they do not. Their operators have a wide form, an operator of values that have no such
// range, and the same bits wherever plain float64 numbers serve:
//   kWideForm                   its operation
//   Holds(v)                    whether a result v, or what a next part continues from, may be that
//                               of the wide form; Store says that no other one fits
// and the wide form has
//   Plain                       the plain operator
//   IsPlain(v)                  whether Plain can continue from v, as v.Rounded()
// A scan is made with the plain operator first. If all that it gives Holds, it is the answer. Else
// it is made once more, with the wide form: of products always, of sums where numbers are large
// enough for parts to overflow (SumsMayPassTheLargest).
//
// Minima, and extremes of unsigned elements, are scanned as the maxima of signed ones that stand
// for them: `MirrorBits` of elements and results are flipped by `Mirrored`. Extremes that ignore
// NaNs have an operator of their own, kMaxOfNumbers, whose value is NaN until the first number.
#ifndef GRIDFOLD_KERNELS_NUMERICS_SCANS_OPERATOR_H_
#define GRIDFOLD_KERNELS_NUMERICS_SCANS_OPERATOR_H_

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/arithmetic/estimated_product.h"
#include "kernels/numerics/arithmetic/scaled_product.h"
#include "kernels/numerics/arithmetic/unbounded_sum.h"
#include "kernels/numerics/arithmetic/wide_integer.h"
#include "kernels/types/element_type.h"
#include "kernels/types/host_device.h"
#include "kernels/types/scan_operation.h"

namespace gridfold::kernels {

template <class T, ScanOperation kOperation>
struct ScanOperator;

// Sums of integers. 64 bits hold the sum of kScanElementsMax elements of up to 32 bits.
template <IntegerElement T>
struct ScanOperator<T, ScanOperation::kSum> {
  using Value = std::conditional_t<sizeof(T) == 8, Int128, int64_t>;
  static constexpr bool kIsAssociative = true;
  GRIDFOLD_HD static Value Identity() { return 0; }
  GRIDFOLD_HD static Value EmptyResult() { return 0; }
  GRIDFOLD_HD static Value Lift(T x, bool) { return x; }
  GRIDFOLD_HD static Value Combine(Value a, Value b) { return a + b; }
  template <class Out>
  GRIDFOLD_HD static bool Store(Value v, bool wrap, Out* out) {
    *out = static_cast<Out>(v);
    // Sums of unsigned elements that Value holds are not negative, so it holds them as Out as well.
    return wrap || static_cast<Value>(*out) == v;
  }
};

template <IntegerElement T>
struct ScanOperator<T, ScanOperation::kProduct> {
  using Value = EstimatedProduct;
  static constexpr bool kIsAssociative = true;  // Results are exact; estimates are not compared.
  GRIDFOLD_HD static Value Identity() { return {}; }
  GRIDFOLD_HD static Value EmptyResult() { return {}; }
  GRIDFOLD_HD static Value Lift(T x, bool) { return EstimatedProduct::Of(x); }
  GRIDFOLD_HD static Value Combine(Value a, const Value& b) {
    a.Merge(b);
    return a;
  }
  template <class Out>
  GRIDFOLD_HD static bool Store(const Value& v, bool wrap, Out* out) {
    using Wide = std::conditional_t<std::is_signed_v<Out>, int64_t, uint64_t>;
    const Wide wide = static_cast<Wide>(v.wrapped);
    *out = static_cast<Out>(wide);
    return wrap || (v.template Fits<Wide>() && static_cast<Wide>(*out) == wide);
  }
};

template <FloatingElement T>
struct ScanOperator<T, ScanOperation::kSum> {
  using Value = double;
  static constexpr bool kIsAssociative = false;
  static constexpr ScanOperation kWideForm = ScanOperation::kUnboundedSum;
  // float64 holds any sum of the other types.
  GRIDFOLD_HD static bool Holds(Value v) { return !std::is_same_v<T, double> || IsFinite(v); }
  // Not +0.0, which would turn a leading -0.0 into +0.0.
  GRIDFOLD_HD static Value Identity() { return -0.0; }
  GRIDFOLD_HD static Value EmptyResult() { return 0.0; }
  GRIDFOLD_HD static Value Lift(T x, bool ignore_nan) {
    const double value = static_cast<double>(x);
    return ignore_nan && IsNan(value) ? EmptyResult() : value;
  }
  GRIDFOLD_HD static Value Combine(Value a, Value b) { return a + b; }
  template <class Out>
  GRIDFOLD_HD static bool Store(Value v, bool, Out* out) {
    *out = RoundTo<Out>(v);
    return Holds(v);
  }
};

template <>
struct ScanOperator<double, ScanOperation::kUnboundedSum> {
  using Value = UnboundedSum;
  using Plain = ScanOperator<double, ScanOperation::kSum>;
  static constexpr bool kIsAssociative = false;
  GRIDFOLD_HD static bool IsPlain(const Value& v) { return v.exponent == 0; }
  GRIDFOLD_HD static Value Identity() { return {}; }
  GRIDFOLD_HD static Value EmptyResult() { return UnboundedSum::Of(0.0); }
  GRIDFOLD_HD static Value Lift(double x, bool ignore_nan) {
    return ignore_nan && IsNan(x) ? EmptyResult() : UnboundedSum::Of(x);
  }
  GRIDFOLD_HD static Value Combine(const Value& a, const Value& b) { return a.Plus(b); }
  template <class Out>
  GRIDFOLD_HD static bool Store(const Value& v, bool, Out* out) {
    *out = v.Rounded();
    return true;
  }
};

template <FloatingElement T>
struct ScanOperator<T, ScanOperation::kProduct> {
  using Value = double;
  static constexpr bool kIsAssociative = false;
  static constexpr ScanOperation kWideForm = ScanOperation::kScaledProduct;
  GRIDFOLD_HD static bool Holds(Value v) { return IsInRunningWindow(v); }
  GRIDFOLD_HD static Value Identity() { return 1; }
  GRIDFOLD_HD static Value EmptyResult() { return 1; }
  GRIDFOLD_HD static Value Lift(T x, bool ignore_nan) {
    const double value = static_cast<double>(x);
    return ignore_nan && IsNan(value) ? EmptyResult() : value;
  }
  GRIDFOLD_HD static Value Combine(Value a, Value b) { return a * b; }
  template <class Out>
  GRIDFOLD_HD static bool Store(Value v, bool, Out* out) {
    *out = RoundTo<Out>(v);
    return Holds(v);
  }
};

template <FloatingElement T>
struct ScanOperator<T, ScanOperation::kScaledProduct> {
  using Value = ScaledProduct;
  using Plain = ScanOperator<T, ScanOperation::kProduct>;
  static constexpr bool kIsAssociative = false;
  GRIDFOLD_HD static bool IsPlain(const Value& v) { return Plain::Holds(v.Rounded()); }
  GRIDFOLD_HD static Value Identity() { return {}; }
  GRIDFOLD_HD static Value EmptyResult() { return {}; }
  GRIDFOLD_HD static Value Lift(T x, bool ignore_nan) {
    return ScaledProduct::Of(Plain::Lift(x, ignore_nan));
  }
  GRIDFOLD_HD static Value Combine(const Value& a, const Value& b) { return a.Times(b); }
  template <class Out>
  GRIDFOLD_HD static bool Store(const Value& v, bool, Out* out) {
    *out = RoundTo<Out>(v.Rounded());
    return true;
  }
};

// Maxima. A NaN wins over every number; of equal values (0.0 and -0.0) the earlier one stays. The
// result has the element's own type.
template <class T>
requires(FloatingElement<T> || std::is_signed_v<T>) struct ScanOperator<T, ScanOperation::kMax> {
  using Value = ComputeType<T>;
  static constexpr bool kIsAssociative = true;
  GRIDFOLD_HD static Value Identity() {
    using Limits = std::numeric_limits<Value>;
    return FloatingElement<T> ? -Limits::infinity() : Limits::lowest();
  }
  GRIDFOLD_HD static Value EmptyResult() { return Identity(); }
  GRIDFOLD_HD static Value Lift(T x, bool) { return ToCompute(x); }
  GRIDFOLD_HD static Value Combine(Value a, Value b) {
    if constexpr (FloatingElement<T>) {
      // A comparison with NaN is false: b is taken where it is NaN, unless a is.
      return a >= b || IsNan(a) ? a : b;
    } else {
      return a < b ? b : a;
    }
  }
  template <class Out>
  GRIDFOLD_HD static bool Store(Value v, bool, Out* out) {
    static_assert(std::is_same_v<Out, T>);
    if constexpr (HalfElement<T>) {
      *out = T::FromFloat(v);
    } else {
      *out = v;
    }
    return true;
  }
};

// Maxima of numbers. A NaN is no number, and stands for there having been none. Of equal values
// (0.0 and -0.0) the earlier one stays.
template <FloatingElement T>
struct ScanOperator<T, ScanOperation::kMaxOfNumbers> : ScanOperator<T, ScanOperation::kMax> {
  using Value = ComputeType<T>;
  GRIDFOLD_HD static Value Identity() { return std::numeric_limits<Value>::quiet_NaN(); }
  // That of other maxima: there has been no element at all.
  GRIDFOLD_HD static Value EmptyResult() { return -std::numeric_limits<Value>::infinity(); }
  // One NaN for all, so that the order of joins does not show.
  GRIDFOLD_HD static Value Lift(T x, bool) { return IsNan(x) ? Identity() : ToCompute(x); }
  GRIDFOLD_HD static Value Combine(Value a, Value b) {
    // A comparison with NaN is false: a is kept where b is NaN.
    return b > a || IsNan(a) ? b : a;
  }
};

constexpr bool IsExtreme(ScanOperation operation) {
  using enum ScanOperation;
  return operation == kMin || operation == kMax || operation == kMaxOfNumbers;
}

// The operation whose operator a scan of elements of type `type` takes.
constexpr ScanOperation OperatorOf(ScanOperation operation, ElementType type, bool ignore_nan) {
  if (!IsExtreme(operation)) return operation;
  const bool is_of_numbers = ignore_nan && IsFloatingPoint(type);
  return is_of_numbers ? ScanOperation::kMaxOfNumbers : ScanOperation::kMax;
}
// Whether elements of type T have an operator.
template <class T, ScanOperation kOperation>
inline constexpr bool kHasOperator =
    kOperation == ScanOperation::kMaxOfNumbers || kOperation == ScanOperation::kScaledProduct
        ? FloatingElement<T>
        : kOperation != ScanOperation::kUnboundedSum || std::is_same_v<T, double>;

// Whether scans of elements of type T are made with a plain operator first.
template <class T, ScanOperation kOperation>
inline constexpr bool kHasWideForm = (kOperation == ScanOperation::kSum &&
                                      std::is_same_v<T, double>) ||
                                     (kOperation == ScanOperation::kProduct && FloatingElement<T>);

// The elements that stand for an array's of type T.
template <class T, ScanOperation kOperation>
using ScannedElement =
    typename std::conditional_t<IsExtreme(kOperation) && IntegerElement<T>, std::make_signed<T>,
                                std::type_identity<T>>::type;

// Which bits of elements are flipped in a scan's operator: of integers, those of the lower end; of
// floating-point numbers the sign, or none.
inline uint64_t MirrorBits(ScanOperation operation, ElementType type) {
  if (!IsExtreme(operation)) return 0;
  const uint64_t reversed = operation == ScanOperation::kMin ? ~uint64_t{0} : 0;
  const uint64_t sign = uint64_t{1} << (8 * ElementSize(type) - 1);
  return IsUnsigned(type) ? reversed ^ sign : reversed;
}

template <class Operator>
inline constexpr bool kIsMirrored = false;
template <class T>
inline constexpr bool kIsMirrored<ScanOperator<T, ScanOperation::kMax>> = true;
template <class T>
inline constexpr bool kIsMirrored<ScanOperator<T, ScanOperation::kMaxOfNumbers>> = true;

// An element, a result or a Value with those bits flipped, which changes extremes only. The inverse
// of itself.
template <class Operator, class V>
GRIDFOLD_HD inline V Mirrored(const V& v, uint64_t mirror_bits) {
  if constexpr (!kIsMirrored<Operator>) {
    return v;
  } else if constexpr (IntegerElement<V>) {
    return static_cast<V>(v ^ static_cast<V>(mirror_bits));
  } else if constexpr (HalfElement<V>) {
    return V{static_cast<uint16_t>(v.bits ^ (mirror_bits & 0x8000))};
  } else {
    using Bits = std::conditional_t<sizeof(V) == 4, uint32_t, uint64_t>;
    constexpr Bits kSign = Bits{1} << (8 * sizeof(V) - 1);
    return std::bit_cast<V>(std::bit_cast<Bits>(v) ^ (static_cast<Bits>(mirror_bits) & kSign));
  }
}

// The value of an element,
template <class Operator, class T>
GRIDFOLD_HD inline typename Operator::Value LiftElement(T x, bool ignore_nan,
                                                        uint64_t mirror_bits) {
  return Operator::Lift(Mirrored<Operator>(x, mirror_bits), ignore_nan);
}
// and the result of a value.
template <class Operator, class Out>
GRIDFOLD_HD inline bool StoreResult(const typename Operator::Value& v, bool wrap,
                                    uint64_t mirror_bits, Out* out) {
  return Operator::Store(Mirrored<Operator>(v, mirror_bits), wrap, out);
}

// A value and whether a group starts at or within its elements: what a scan over several groups in
// a row carries. Joining two such values is associative wherever joining plain values is.
template <class Value>
struct GroupedValue {
  Value value;
  bool starts_group;
};

template <class Operator>
GRIDFOLD_HD inline GroupedValue<typename Operator::Value> CombineGrouped(
    const GroupedValue<typename Operator::Value>& a,
    const GroupedValue<typename Operator::Value>& b) {
  if (b.starts_group) return b;
  return {Operator::Combine(a.value, b.value), a.starts_group};
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_SCANS_OPERATOR_H_
