// Exact sums of strips at the edges of what the slices take (slice_window.h), against a long
// accumulator that shares no code with them.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/conformance/exact_sum.h"
#include "kernels/cpu/reduce/exact_few.h"
#include "kernels/cpu/reduce/kernels.h"
#include "kernels/cpu/reduce/slice_window.h"

namespace gridfold::kernels::cpu {
namespace {

// Elements in rows of `columns`, with `gap` elements after each row that belong to nobody.
template <class F>
struct Strip {
  std::vector<F> elements;
  uint32_t columns = 1;
  uint32_t gap = 0;

  uint64_t rows() const { return elements.size() / (columns + gap); }
  F At(uint64_t row, uint32_t column) const { return elements[row * (columns + gap) + column]; }
};

template <class F>
std::vector<FullState<F>> Reduce(const Strip<F>& strip) {
  std::vector<FullState<F>> states(strip.columns);
  std::vector<ScaledProduct> products(strip.columns);
  const StripShape shape{(strip.columns + strip.gap) * sizeof(F), strip.rows(), strip.columns, 0};
  ReduceStrip<F>(reinterpret_cast<const std::byte*>(strip.elements.data()), shape,
                 {.parts = kSumPart | kSquaresPart | kMagnitudesPart, .ignore_nan = true},
                 states.data(), products.data());
  return states;
}

uint64_t Bits(double x) { return std::bit_cast<uint64_t>(x); }

// Elements must be finite, or NaN, which is ignored. The rounded sums are compared with the
// oracle's, and all their bits with those of adding element by element.
template <class F>
void ExpectExact(const Strip<F>& strip, const std::string& what) {
  const auto states = Reduce(strip);
  for (uint32_t column = 0; column < strip.columns; ++column) {
    FullState<F> one_by_one;
    conformance::ExactSum sum;
    conformance::ExactSum squares;
    conformance::ExactSum magnitudes;
    for (uint64_t row = 0; row < strip.rows(); ++row) {
      const F x = strip.At(row, column);
      one_by_one.Add(x, row, true);
      if (std::isnan(x)) continue;
      sum.Add(x);
      squares.AddSquare(x);
      magnitudes.Add(std::fabs(x));
    }
    const auto expect = [&](auto part, const conformance::ExactSum& oracle, const char* name) {
      const auto& result = states[column].template Part<part()>().sum;
      ASSERT_EQ(Bits(result.Rounded()), Bits(oracle.Value().ToDouble())) << what << ", " << name;
      ASSERT_TRUE(result == one_by_one.template Part<part()>().sum) << what << ", " << name;
    };
    expect(PartSet<kSumPart>{}, sum, "sum");
    expect(PartSet<kSquaresPart>{}, squares, "squares");
    expect(PartSet<kMagnitudesPart>{}, magnitudes, "magnitudes");
    if (testing::Test::HasFatalFailure()) return;
  }
}

// The same elements in all the ways that they are walked through: side by side in 128 lanes, in
// five lanes with gaps between the rows, and as integers.
template <class F>
void ExpectExactInEveryShape(const std::vector<F>& elements, const std::string& what) {
  ExpectExact<F>({elements, 1, 0}, what + ", contiguous");
  ExpectExact<F>({elements, 5, 1}, what + ", five columns of six");
  ExpectExact<F>({{elements.begin(), elements.begin() + kFewMax}, 1, 0}, what + ", a few");
}

template <class F>
class ExactStripTest : public testing::Test {
 protected:
  F WithSign(F x) { return random_() % 2 == 0 ? x : -x; }

  // Just below 2^top, all bits set; and the smallest with a last bit of 2^unit.
  static F Largest(int top) {
    return static_cast<F>(std::ldexp(std::ldexp(1.0, FloatFormat<F>::kPrecision) - 1,
                                     top - FloatFormat<F>::kPrecision));
  }
  static F WithLastBit(int unit) { return static_cast<F>(std::ldexp(1.0, unit)); }

  F AnyBits() { return std::bit_cast<F>(static_cast<typename FloatFormat<F>::Bits>(random_())); }

  std::mt19937_64 random_{5};
};

using Formats = testing::Types<float, double>;
TYPED_TEST_SUITE(ExactStripTest, Formats);

// Every distance between the largest and the smallest exponent, past what all slices take, at
// several places of the range. The sums of the large numbers cancel in part.
TYPED_TEST(ExactStripTest, AnyRangeOfExponents) {
  const int all_bits =
      FloatFormat<TypeParam>::kExponentLimit - FloatFormat<TypeParam>::kLowestExponent;
  const int step = sizeof(TypeParam) == 4 ? 1 : 3;
  for (int bits = FloatFormat<TypeParam>::kPrecision; bits <= std::min(all_bits, 420);
       bits += step) {
    for (const int top : {FloatFormat<TypeParam>::kExponentLimit, bits / 2,
                          FloatFormat<TypeParam>::kLowestExponent + bits}) {
      const int unit = top - bits;
      if (unit < FloatFormat<TypeParam>::kLowestExponent ||
          top > FloatFormat<TypeParam>::kExponentLimit) {
        continue;
      }
      std::vector<TypeParam> elements(1200);
      for (TypeParam& x : elements) {
        const uint64_t kind = this->random_() % 8;
        x = kind < 3   ? this->WithSign(this->Largest(top))
            : kind < 6 ? this->WithSign(this->Largest(unit + FloatFormat<TypeParam>::kPrecision))
            : kind < 7 ? this->WithSign(this->WithLastBit(unit))
                       : TypeParam{0};
      }
      ExpectExactInEveryShape(elements,
                              std::to_string(bits) + " bits below 2^" + std::to_string(top));
      if (this->HasFatalFailure()) return;
    }
  }
}

// As many addends of one sign as a slice takes, one fewer and one more. Each column fills another
// slice as fast as can be: with the largest numbers, or with what they leave to the next one. Where
// the largest are in the first row only, it is the second slice that is used up first.
TYPED_TEST(ExactStripTest, LanesThatAreUsedUp) {
  constexpr int kTop = 90;
  constexpr int kSlice = SliceWindow::kSliceBits;
  const TypeParam to_each_column[] = {
      this->Largest(kTop), -this->Largest(kTop), this->Largest(kTop - kSlice),
      -this->Largest(kTop - 2 * kSlice),
      // Rounded for float.
      static_cast<TypeParam>(std::ldexp(1.0, kTop - 1) + std::ldexp(1.0, kTop - kSlice) -
                             std::ldexp(1.0, kTop - 53)),
      TypeParam{0}};
  const uint64_t limit = SliceWindow::kAddendsMax;
  for (const uint64_t rows : {limit - 1, limit, limit + 1, 2 * limit + 1, 4 * limit + 33}) {
    for (const int bits : {24, 45, 46, 47, 60, 82, 83, 84, 125, 167, 209, 239}) {
      for (const bool largest_in_first_row : {false, true}) {
        Strip<TypeParam> strip{std::vector<TypeParam>(rows * 6), 5, 1};
        for (uint64_t i = 0; i < strip.elements.size(); ++i) {
          const uint64_t row = i / 6;
          TypeParam& x = strip.elements[i];
          x = to_each_column[i % 6];
          if (largest_in_first_row && row > 0 && std::fabs(x) > to_each_column[2]) {
            x = i % 6 == 1 ? -to_each_column[2] : to_each_column[2];
          }
          // Once in a tile, so that the range of exponents does not change.
          if (row % 16 == 3) x = this->WithLastBit(kTop - bits);
        }
        ExpectExact(strip, std::to_string(rows) + " rows of " + std::to_string(bits) + " bits");
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// Numbers that leave exactly half of a unit to the next slice, up or down.
TYPED_TEST(ExactStripTest, TiesBetweenSlices) {
  for (int distance = 1; distance < FloatFormat<TypeParam>::kPrecision; ++distance) {
    std::vector<TypeParam> elements(7000);
    for (TypeParam& x : elements) {
      const int top = this->random_() % 64 == 0 ? 60 : static_cast<int>(this->random_() % 3);
      x = this->WithSign(this->WithLastBit(top) +
                         this->WithSign(this->WithLastBit(top - distance)));
    }
    ExpectExactInEveryShape(elements, std::to_string(distance) + " bits apart");
    if (this->HasFatalFailure()) return;
  }
}

// Exponents that jump, so that the slices must be moved, or must not.
TYPED_TEST(ExactStripTest, ExponentsThatJump) {
  const int lowest = FloatFormat<TypeParam>::kLowestExponent + FloatFormat<TypeParam>::kPrecision;
  for (const int jump : {1, 10, 41, 42, 43, 51, 60, 126, 250, 1000}) {
    for (const bool up_and_down : {false, true}) {
      int top = lowest;
      int direction = 1;
      std::vector<TypeParam> elements(40'000);
      for (size_t i = 0; i < elements.size(); ++i) {
        if (i % 1500 == 0) {
          top += direction * jump;
          if (up_and_down) direction = -direction;
          if (top >= FloatFormat<TypeParam>::kExponentLimit) top = lowest;
        }
        elements[i] = this->WithSign(this->Largest(top - static_cast<int>(i % 2)));
      }
      ExpectExactInEveryShape(elements, "jumps of " + std::to_string(jump));
      if (this->HasFatalFailure()) return;
    }
  }
}

// All numbers there are, many of them outside any place of the slices, with ignored NaNs.
TYPED_TEST(ExactStripTest, AnyBits) {
  for (int round = 0; round < 20; ++round) {
    std::vector<TypeParam> elements(20'000);
    for (TypeParam& x : elements) {
      do {
        x = this->AnyBits();
      } while (std::isinf(x));
    }
    ExpectExactInEveryShape(elements, "any bits");
    if (this->HasFatalFailure()) return;
  }
}

// One number far from all others, larger or smaller, anywhere.
TYPED_TEST(ExactStripTest, OneOutlier) {
  using Limits = std::numeric_limits<TypeParam>;
  std::vector<TypeParam> elements(9000);
  for (TypeParam& x : elements) {
    x = static_cast<TypeParam>(static_cast<double>(this->random_()) * 0x1p-64);
  }
  for (const TypeParam outlier :
       {Limits::denorm_min(), Limits::min(), Limits::max(), -Limits::max(), Limits::quiet_NaN()}) {
    for (const size_t place : {size_t{0}, size_t{17}, size_t{4500}, elements.size() - 1}) {
      std::vector<TypeParam> changed = elements;
      changed[place] = outlier;
      ExpectExactInEveryShape(changed, "outlier at " + std::to_string(place));
      if (this->HasFatalFailure()) return;
    }
  }
}

// Float64 numbers around the bounds of what is added by slices at all, and whose squares are.
TEST(ExactStripBoundsTest, OfWhatFloat64Holds) {
  std::mt19937_64 random(9);
  for (const int bound : {-1022, -540, -481, -480, -479, 0, 495, 496, 497, 991, 992, 993, 1022}) {
    std::vector<double> elements(3000);
    for (double& x : elements) {
      const int exponent = bound + static_cast<int>(random() % 3) - 1;
      const double significand = 1 + static_cast<double>(random() >> 12) * 0x1p-52;
      x = std::ldexp(random() % 2 == 0 ? significand : -significand, std::min(exponent, 1023));
    }
    elements[100] = std::ldexp(1.0, bound);
    elements[101] = std::nextafter(elements[100], 0.0);
    ExpectExactInEveryShape(elements, "around 2^" + std::to_string(bound));
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace gridfold::kernels::cpu
