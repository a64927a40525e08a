#include "kernels/conformance/group_facts.h"

#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/conformance/exact_sum.h"
#include "kernels/conformance/float_trees.h"

namespace gridfold::kernels::conformance {

namespace {

using Uint128 = unsigned __int128;

// Integers' sums, the squares by halves of 32 bits.
class IntegerSums {
 public:
  void Add(__int128 x) {
    const Uint128 magnitude = static_cast<Uint128>(x < 0 ? -x : x);
    sum_ += x;
    magnitudes_ += magnitude;
    const uint64_t high = static_cast<uint64_t>(magnitude >> 32);
    const uint64_t low = static_cast<uint64_t>(magnitude & 0xFFFF'FFFF);
    high_squares_ += Uint128{high} * high;
    mixed_ += Uint128{high} * low;
    low_squares_ += Uint128{low} * low;
  }

  __int128 sum() const { return sum_; }
  Dyadic Magnitudes() const { return Dyadic::FromInteger(static_cast<__int128>(magnitudes_)); }
  Dyadic Squares() const {
    const Dyadic base = Dyadic::FromInteger(__int128{1} << 32);
    const Dyadic high = Dyadic::FromInteger(static_cast<__int128>(high_squares_));
    const Dyadic mixed = Dyadic::FromInteger(static_cast<__int128>(2 * mixed_));
    const Dyadic low = Dyadic::FromInteger(static_cast<__int128>(low_squares_));
    return high.Times(base).Plus(mixed).Times(base).Plus(low);
  }

 private:
  __int128 sum_ = 0;
  Uint128 magnitudes_ = 0;
  Uint128 high_squares_ = 0;
  Uint128 mixed_ = 0;
  Uint128 low_squares_ = 0;
};

// Magnitude of a product, as long as it is below 2^64, and whether it stayed so.
class BoundedProduct {
 public:
  void Multiply(__int128 x) {
    has_zero_ = has_zero_ || x == 0;
    negative_ = negative_ != (x < 0);
    wrapped_ *= static_cast<uint64_t>(x);
    if (x == 0 || too_large_) return;
    magnitude_ *= static_cast<Uint128>(x < 0 ? -x : x);
    too_large_ = magnitude_ >> 64 != 0;
  }

  uint64_t wrapped() const { return wrapped_; }
  bool Fits(ElementType type) const {
    if (has_zero_) return true;
    const Uint128 signed_most = (Uint128{1} << 63) - (negative_ ? 0 : 1);
    return !too_large_ && (IsUnsigned(type) || magnitude_ <= signed_most);
  }

 private:
  bool has_zero_ = false;
  bool negative_ = false;
  bool too_large_ = false;
  Uint128 magnitude_ = 1;
  uint64_t wrapped_ = 1;
};

void ExamineExtremes(long double x, uint64_t i, GroupFacts& facts) {
  // A NaN is more extreme than every number, but not than an earlier NaN.
  const auto replaces = [&](long double old, bool smaller) {
    if (!facts.has_extremes) return true;
    if (std::isnan(old)) return false;
    return std::isnan(x) || (smaller ? x < old : x > old);
  };
  const bool new_min = replaces(facts.min, true);
  const bool new_max = replaces(facts.max, false);
  if (new_min) std::tie(facts.min, facts.argmin) = std::pair(x, i);
  if (new_max) std::tie(facts.max, facts.argmax) = std::pair(x, i);
  facts.has_extremes = true;
}

GroupFacts ExamineIntegers(const TestArray& array, const GroupElements& group) {
  GroupFacts facts;
  IntegerSums sums;
  BoundedProduct product;
  for (uint64_t i = 0; i < group.count; ++i) {
    const long double x = array[group.index(i)];
    const auto integer = static_cast<__int128>(x);
    ExamineExtremes(x, i, facts);
    facts.nonzero += integer != 0 ? 1 : 0;
    sums.Add(integer);
    product.Multiply(integer);
    facts.bits_and &= static_cast<uint64_t>(integer);
    facts.bits_or |= static_cast<uint64_t>(integer);
    facts.bits_xor ^= static_cast<uint64_t>(integer);
  }
  facts.count = group.count;
  facts.only_negative_zeros = false;
  facts.integer_sum = sums.sum();
  facts.sum = Dyadic::FromInteger(sums.sum());
  facts.squares = sums.Squares();
  facts.magnitudes = sums.Magnitudes();
  facts.wrapped_product = product.wrapped();
  facts.product_fits = product.Fits(array.type());
  return facts;
}

GroupFacts ExamineFloats(const TestArray& array, const GroupElements& group, bool ignore_nan) {
  GroupFacts facts;
  ExactSum sum;
  ExactSum squares;
  ExactSum magnitudes;
  std::vector<double> factors;
  for (uint64_t i = 0; i < group.count; ++i) {
    const auto x = static_cast<double>(array[group.index(i)]);
    facts.nan += std::isnan(x) ? 1 : 0;
    factors.push_back(ignore_nan && std::isnan(x) ? 1.0 : x);
    if (ignore_nan && std::isnan(x)) continue;
    ++facts.count;
    facts.nonzero += x != 0 ? 1 : 0;
    facts.positive_infinity += x == HUGE_VAL ? 1 : 0;
    facts.negative_infinity += x == -HUGE_VAL ? 1 : 0;
    facts.only_negative_zeros = facts.only_negative_zeros && x == 0 && std::signbit(x);
    ExamineExtremes(x, i, facts);
    if (!std::isfinite(x)) continue;
    sum.Add(x);
    squares.AddSquare(x);
    magnitudes.Add(std::fabs(x));
  }
  facts.sum = sum.Value();
  facts.squares = squares.Value();
  facts.magnitudes = magnitudes.Value();
  facts.tree_product = ProductByTree(factors);
  return facts;
}

}  // namespace

GroupFacts ExamineGroup(const TestArray& array, const GroupElements& group, bool ignore_nan) {
  return IsFloatingPoint(array.type()) ? ExamineFloats(array, group, ignore_nan)
                                       : ExamineIntegers(array, group);
}

}  // namespace gridfold::kernels::conformance
