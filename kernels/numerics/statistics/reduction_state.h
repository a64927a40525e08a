// The state of a reduction: what is kept of the elements of a group while they are looked at once.
//
// A state is made of parts, and a kernel keeps only the parts that the requested statistics need.
// Every part has an identity (its default), Add (one element) and Merge (another part of the same
// group). Merging is associative and commutative, bit for bit: sums are exact
// (numerics/sums/exact_sum.h).
//
// Kernels are instantiated for the four sets of parts of VisitPartSet, not for each combination.
// Host and device; no state beyond the values.
#ifndef GRIDFOLD_KERNELS_NUMERICS_STATISTICS_REDUCTION_STATE_H_
#define GRIDFOLD_KERNELS_NUMERICS_STATISTICS_REDUCTION_STATE_H_

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/numerics/arithmetic/checked_product.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/arithmetic/wide_integer.h"
#include "kernels/numerics/sums/exact_sum.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

// Bits of a set of parts.
inline constexpr uint32_t kSumPart = 1;
inline constexpr uint32_t kSquaresPart = 2;
inline constexpr uint32_t kExtremesPart = 4;
inline constexpr uint32_t kTallyPart = 8;
inline constexpr uint32_t kMagnitudesPart = 16;
inline constexpr uint32_t kProductPart = 32;  // Integers only; floats have product_tree.h.
inline constexpr uint32_t kBitsPart = 64;     // Integers only.
// Long numbers where elements are floating-point.
inline constexpr uint32_t kMomentParts = kSumPart | kSquaresPart | kMagnitudesPart;

// Index of no element.
inline constexpr uint64_t kNoIndex = ~uint64_t{0};

// Moments are exact numbers. Their states share a form, for numerics/statistics/statistic_value.h:
// whether the number is finite and what stands for it otherwise, and its magnitude in units of
// 2^kLowestExponent, for which there is room for kLimbs limbs where the state has it in other form.
template <class Sum>
struct ExactMoment {
  static constexpr int kLimbs = Sum::kLimbs;
  static constexpr int kLowestExponent = Sum::kLowestExponent;
  Sum sum;
  GRIDFOLD_HD bool is_finite() const { return sum.is_finite(); }
  GRIDFOLD_HD double NotFiniteValue() const { return sum.NotFiniteValue(); }
  GRIDFOLD_HD LimbMagnitude Magnitude(uint64_t* /*room*/) const {
    return LimbMagnitude::OfSigned(sum.limbs(), kLimbs);
  }
};
template <int kLimbCount>
struct IntegerMoment {
  static constexpr int kLimbs = kLimbCount;
  static constexpr int kLowestExponent = 0;
  GRIDFOLD_HD bool is_finite() const { return true; }
  GRIDFOLD_HD double NotFiniteValue() const { return 0; }

 protected:
  GRIDFOLD_HD static void Split(Uint128 x, uint64_t* limbs) {
    limbs[0] = static_cast<uint64_t>(x);
    limbs[1] = static_cast<uint64_t>(x >> kLimbBits);
  }
};

template <class T>
struct SumState : ExactMoment<ExactSum<ComputeType<T>, 1>> {
  GRIDFOLD_HD void Add(T x, uint64_t) { this->sum.Add(ToCompute(x)); }
  GRIDFOLD_HD void Merge(const SumState& other) { this->sum.Merge(other.sum); }
};
template <IntegerElement T>
struct SumState<T> : IntegerMoment<2> {
  Int128 sum = 0;
  GRIDFOLD_HD void Add(T x, uint64_t) { sum += x; }
  GRIDFOLD_HD void Merge(const SumState& other) { sum += other.sum; }
  GRIDFOLD_HD LimbMagnitude Magnitude(uint64_t* room) const {
    this->Split(static_cast<Uint128>(sum), room);
    return LimbMagnitude::OfSigned(room, this->kLimbs);
  }
};

// Sum of squares.
template <class T>
struct SquaresState : ExactMoment<ExactSum<ComputeType<T>, 2>> {
  GRIDFOLD_HD void Add(T x, uint64_t) { this->sum.AddSquare(ToCompute(x)); }
  GRIDFOLD_HD void Merge(const SquaresState& other) { this->sum.Merge(other.sum); }
};
template <IntegerElement T>
struct SquaresState<T> : IntegerMoment<(sizeof(T) == 8 ? 3 : 2)> {
  std::conditional_t<sizeof(T) == 8, Uint192, Uint128> sum{};
  GRIDFOLD_HD void Add(T x, uint64_t) {
    if constexpr (sizeof(T) == 8) {
      const uint64_t magnitude = kernels::Magnitude(x);
      sum.Add(Uint128{magnitude} * magnitude);
    } else {
      sum += kernels::Magnitude(x) * kernels::Magnitude(x);
    }
  }
  GRIDFOLD_HD void Merge(const SquaresState& other) {
    if constexpr (sizeof(T) == 8) {
      sum.Merge(other.sum);
    } else {
      sum += other.sum;
    }
  }
  GRIDFOLD_HD LimbMagnitude Magnitude(uint64_t* room) const {
    if constexpr (sizeof(T) == 8) {
      return LimbMagnitude::OfUnsigned(sum.limbs, this->kLimbs);
    } else {
      this->Split(sum, room);
      return LimbMagnitude::OfUnsigned(room, this->kLimbs);
    }
  }
};

// Sum of absolute values.
template <class T>
struct MagnitudesState : ExactMoment<ExactSum<ComputeType<T>, 1>> {
  GRIDFOLD_HD void Add(T x, uint64_t) { this->sum.Add(fabs(ToCompute(x))); }
  GRIDFOLD_HD void Merge(const MagnitudesState& other) { this->sum.Merge(other.sum); }
};
template <IntegerElement T>
struct MagnitudesState<T> : IntegerMoment<2> {
  Uint128 sum = 0;
  GRIDFOLD_HD void Add(T x, uint64_t) { sum += kernels::Magnitude(x); }
  GRIDFOLD_HD void Merge(const MagnitudesState& other) { sum += other.sum; }
  GRIDFOLD_HD LimbMagnitude Magnitude(uint64_t* room) const {
    this->Split(sum, room);
    return LimbMagnitude::OfUnsigned(room, this->kLimbs);
  }
};

// One extreme and its first index. NaN counts as more extreme than every number (NumPy's rule).
template <class T, bool kIsMax>
struct ExtremeState {
  ComputeType<T> value{};
  uint64_t index = kNoIndex;

  GRIDFOLD_HD static bool IsBefore(ComputeType<T> a, ComputeType<T> b) {
    if (kIsMax ? b < a : a < b) return true;
    if constexpr (FloatingElement<T>) return IsNan(a) && !IsNan(b);
    return false;
  }
  GRIDFOLD_HD void Add(T x, uint64_t i) { Merge({ToCompute(x), i}); }
  GRIDFOLD_HD void ShiftIndex(uint64_t first_index) {
    if (index != kNoIndex) index += first_index;
  }
  GRIDFOLD_HD void Merge(const ExtremeState& other) {
    if (other.index == kNoIndex) return;
    if (index == kNoIndex || IsBefore(other.value, value) ||
        (other.index < index && !IsBefore(value, other.value))) {
      *this = other;
    }
  }
};

template <class T>
struct ExtremesState {
  ExtremeState<T, false> min;
  ExtremeState<T, true> max;
  GRIDFOLD_HD void Add(T x, uint64_t i) {
    min.Add(x, i);
    max.Add(x, i);
  }
  // Makes indices of a part those of the whole, in which the part begins at `first_index`.
  GRIDFOLD_HD void ShiftIndices(uint64_t first_index) {
    min.ShiftIndex(first_index);
    max.ShiftIndex(first_index);
  }
  GRIDFOLD_HD void Merge(const ExtremesState& other) {
    min.Merge(other.min);
    max.Merge(other.max);
  }
};

// Counts of what elements are.
template <class T>
struct TallyState {
  uint64_t nonzero = 0;
  uint64_t nan = 0;
  uint64_t infinite = 0;
  GRIDFOLD_HD void Add(T x, uint64_t) {
    nonzero += ToCompute(x) != ComputeType<T>{0} ? 1 : 0;
    if constexpr (FloatingElement<T>) {
      nan += IsNan(x) ? 1 : 0;
      infinite += IsInfinite(x) ? 1 : 0;
    }
  }
  GRIDFOLD_HD void Merge(const TallyState& other) {
    nonzero += other.nonzero;
    nan += other.nan;
    infinite += other.infinite;
  }
};

template <class T>
struct ProductState {
  CheckedProduct product;
  GRIDFOLD_HD void Add(T x, uint64_t) { product.Merge(CheckedProduct::Of(x)); }
  GRIDFOLD_HD void Merge(const ProductState& other) { product.Merge(other.product); }
};

template <class T>
struct BitsState {
  T all = static_cast<T>(~T{0});
  T any = 0;
  T parity = 0;
  GRIDFOLD_HD void Add(T x, uint64_t) { Merge({x, x, x}); }
  GRIDFOLD_HD void Merge(const BitsState& other) {
    all = static_cast<T>(all & other.all);
    any = static_cast<T>(any | other.any);
    parity = static_cast<T>(parity ^ other.parity);
  }
};

namespace reduction_internal {

// Which state a part has. Elements of the 16-bit floating-point types are floats to it.
template <class S, uint32_t kPart>
struct PartType;
template <class S>
struct PartType<S, kSumPart> {
  using type = SumState<S>;
};
template <class S>
struct PartType<S, kSquaresPart> {
  using type = SquaresState<S>;
};
template <class S>
struct PartType<S, kExtremesPart> {
  using type = ExtremesState<S>;
};
template <class S>
struct PartType<S, kTallyPart> {
  using type = TallyState<S>;
};
template <class S>
struct PartType<S, kMagnitudesPart> {
  using type = MagnitudesState<S>;
};
template <class S>
struct PartType<S, kProductPart> {
  using type = ProductState<S>;
};
template <class S>
struct PartType<S, kBitsPart> {
  using type = BitsState<S>;
};

// A base that is empty, and so takes no room, where the part is not in the set.
template <class T, uint32_t kPart, bool kPresent>
struct Holder {};
template <class T, uint32_t kPart>
struct Holder<T, kPart, true> {
  typename PartType<ComputeType<T>, kPart>::type part;
};

template <class T, uint32_t kParts, uint32_t kPart>
using HolderOf = Holder<T, kPart, (kParts & kPart) != 0>;

}  // namespace reduction_internal

template <class T, uint32_t kPartSet>
struct ReductionState : reduction_internal::HolderOf<T, kPartSet, kSumPart>,
                        reduction_internal::HolderOf<T, kPartSet, kSquaresPart>,
                        reduction_internal::HolderOf<T, kPartSet, kExtremesPart>,
                        reduction_internal::HolderOf<T, kPartSet, kTallyPart>,
                        reduction_internal::HolderOf<T, kPartSet, kMagnitudesPart>,
                        reduction_internal::HolderOf<T, kPartSet, kProductPart>,
                        reduction_internal::HolderOf<T, kPartSet, kBitsPart> {
  using Element = T;
  static constexpr uint32_t kParts = kPartSet;

  // The state of one part of the set.
  template <uint32_t kPart>
  GRIDFOLD_HD auto& Part() {
    return static_cast<reduction_internal::Holder<T, kPart, true>&>(*this).part;
  }
  template <uint32_t kPart>
  GRIDFOLD_HD const auto& Part() const {
    return static_cast<const reduction_internal::Holder<T, kPart, true>&>(*this).part;
  }

  // Calls f(part) for each part of the set; f is a generic callable.
  template <class F>
  GRIDFOLD_HD void ForEachPart(F&& f) {
    if constexpr ((kParts & kSumPart) != 0) f(Part<kSumPart>());
    if constexpr ((kParts & kSquaresPart) != 0) f(Part<kSquaresPart>());
    if constexpr ((kParts & kExtremesPart) != 0) f(Part<kExtremesPart>());
    if constexpr ((kParts & kTallyPart) != 0) f(Part<kTallyPart>());
    if constexpr ((kParts & kMagnitudesPart) != 0) f(Part<kMagnitudesPart>());
    if constexpr ((kParts & kProductPart) != 0) f(Part<kProductPart>());
    if constexpr ((kParts & kBitsPart) != 0) f(Part<kBitsPart>());
  }

  // Takes the element with index `i` of its group. An ignored NaN is tallied and nothing else.
  GRIDFOLD_HD void Add(T x, uint64_t i, bool ignore_nan) {
    const ComputeType<T> value = ToCompute(x);
    if (ignore_nan && IsNan(value)) {
      if constexpr ((kParts & kTallyPart) != 0) Part<kTallyPart>().nan += 1;
      return;
    }
    ForEachPart([&](auto& kept) { kept.Add(value, i); });
  }

  GRIDFOLD_HD void Merge(const ReductionState& other) {
    ForEachPartOf(*this, other, [](auto& mine, const auto& others) { mine.Merge(others); });
  }

  // Takes the parts of this set from a state that has them all.
  template <uint32_t kOtherParts>
  GRIDFOLD_HD void Assign(const ReductionState<T, kOtherParts>& other) {
    ForEachPartOf(*this, other, [](auto& mine, const auto& others) { mine = others; });
  }

  // Gives its parts to a state that has them all, of a type with the same compute type.
  template <class U, uint32_t kOtherParts>
  GRIDFOLD_HD void AssignTo(ReductionState<U, kOtherParts>& other) const {
    ForEachPartOf(*this, other, [](const auto& mine, auto& others) { others = mine; });
  }

 private:
  // Calls f(part of a, the same part of b) for each part of a.
  template <class A, class B, class F>
  GRIDFOLD_HD static void ForEachPartOf(A& a, B& b, F f) {
    if constexpr ((kParts & kSumPart) != 0)
      f(a.template Part<kSumPart>(), b.template Part<kSumPart>());
    if constexpr ((kParts & kSquaresPart) != 0)
      f(a.template Part<kSquaresPart>(), b.template Part<kSquaresPart>());
    if constexpr ((kParts & kExtremesPart) != 0)
      f(a.template Part<kExtremesPart>(), b.template Part<kExtremesPart>());
    if constexpr ((kParts & kTallyPart) != 0)
      f(a.template Part<kTallyPart>(), b.template Part<kTallyPart>());
    if constexpr ((kParts & kMagnitudesPart) != 0)
      f(a.template Part<kMagnitudesPart>(), b.template Part<kMagnitudesPart>());
    if constexpr ((kParts & kProductPart) != 0)
      f(a.template Part<kProductPart>(), b.template Part<kProductPart>());
    if constexpr ((kParts & kBitsPart) != 0)
      f(a.template Part<kBitsPart>(), b.template Part<kBitsPart>());
  }
};

// The state of a group of which everything may be asked.
template <class T>
inline constexpr uint32_t kFullPartSet = kSumPart | kSquaresPart | kExtremesPart | kTallyPart |
                                         kMagnitudesPart |
                                         (IntegerElement<T> ? kProductPart | kBitsPart : 0);
template <class T>
using FullState = ReductionState<T, kFullPartSet<T>>;

// The sets that kernels are built for.
inline constexpr uint32_t kCorePartSet = kSumPart | kSquaresPart | kExtremesPart | kTallyPart;
template <uint32_t kParts>
using PartSet = std::integral_constant<uint32_t, kParts>;

// Calls f(PartSet<P>{}) with the smallest P that covers `parts` for elements of type T.
template <class T, class F>
decltype(auto) VisitPartSet(uint32_t parts, F&& f) {
  if ((parts & ~kSumPart) == 0) return std::forward<F>(f)(PartSet<kSumPart>{});
  if ((parts & ~kExtremesPart) == 0) return std::forward<F>(f)(PartSet<kExtremesPart>{});
  if ((parts & ~kCorePartSet) == 0) return std::forward<F>(f)(PartSet<kCorePartSet>{});
  return std::forward<F>(f)(PartSet<kFullPartSet<T>>{});
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_STATISTICS_REDUCTION_STATE_H_
