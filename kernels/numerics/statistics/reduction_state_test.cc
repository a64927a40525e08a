#include "kernels/numerics/statistics/reduction_state.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/exact_sum.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels {
namespace {

using conformance::ExactSum;

// Numbers that every type has, some of them several times, so that extremes have ties.
template <class T>
T RandomElement(std::mt19937_64& random) {
  if constexpr (IntegerElement<T>) {
    return static_cast<T>(random() >> (random() % 64));
  } else {
    const double value =
        std::ldexp(static_cast<double>(random() % 256) - 128, static_cast<int>(random() % 9) - 4);
    if constexpr (HalfElement<T>) return T::FromDouble(value);
    return static_cast<T>(value);
  }
}

template <class T>
FullState<T> StateOf(const std::vector<T>& elements, bool ignore_nan = false) {
  FullState<T> state;
  for (size_t i = 0; i < elements.size(); ++i) state.Add(elements[i], i, ignore_nan);
  return state;
}

// Cuts the elements into runs, and merges their states in a random order, some into others first.
template <class T>
FullState<T> MergedState(const std::vector<T>& elements, std::mt19937_64& random) {
  std::vector<FullState<T>> states;
  for (size_t begin = 0; begin < elements.size();) {
    const size_t end = std::min(elements.size(), begin + random() % 40);
    FullState<T> state;
    for (size_t i = begin; i < end; ++i) state.Add(elements[i], i, false);
    states.push_back(state);
    begin = end;
  }
  while (states.size() > 1) {
    std::swap(states[random() % states.size()], states.back());
    const FullState<T> last = states.back();
    states.pop_back();
    states[random() % states.size()].Merge(last);
  }
  return states.empty() ? FullState<T>{} : states.front();
}

template <class T>
void ExpectSameExtremes(const FullState<T>& a, const FullState<T>& b) {
  const auto& x = a.template Part<kExtremesPart>();
  const auto& y = b.template Part<kExtremesPart>();
  EXPECT_EQ(x.min.index, y.min.index);
  EXPECT_EQ(x.max.index, y.max.index);
  EXPECT_EQ(x.min.value, y.min.value);
  EXPECT_EQ(x.max.value, y.max.value);
}

template <class T>
void ExpectSameState(const FullState<T>& a, const FullState<T>& b) {
  ExpectSameExtremes(a, b);
  const auto& x = a.template Part<kTallyPart>();
  const auto& y = b.template Part<kTallyPart>();
  EXPECT_EQ(x.nonzero, y.nonzero);
  EXPECT_EQ(x.nan, y.nan);
  EXPECT_EQ(x.infinite, y.infinite);
  EXPECT_EQ(statistic_internal::Quotient(a.template Part<kSumPart>(), 1),
            statistic_internal::Quotient(b.template Part<kSumPart>(), 1));
  EXPECT_EQ(statistic_internal::Quotient(a.template Part<kSquaresPart>(), 1),
            statistic_internal::Quotient(b.template Part<kSquaresPart>(), 1));
  EXPECT_EQ(statistic_internal::Quotient(a.template Part<kMagnitudesPart>(), 1),
            statistic_internal::Quotient(b.template Part<kMagnitudesPart>(), 1));
  if constexpr (IntegerElement<T>) {
    EXPECT_EQ(a.template Part<kSumPart>().sum, b.template Part<kSumPart>().sum);
    EXPECT_EQ(a.template Part<kProductPart>().product.wrapped,
              b.template Part<kProductPart>().product.wrapped);
    EXPECT_EQ(a.template Part<kBitsPart>().all, b.template Part<kBitsPart>().all);
    EXPECT_EQ(a.template Part<kBitsPart>().any, b.template Part<kBitsPart>().any);
    EXPECT_EQ(a.template Part<kBitsPart>().parity, b.template Part<kBitsPart>().parity);
  }
}

template <class T>
class ReductionStateTest : public testing::Test {};
using AllTypes = testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                                uint64_t, Float16, Bfloat16, float, double>;
TYPED_TEST_SUITE(ReductionStateTest, AllTypes);

TYPED_TEST(ReductionStateTest, AnySplitMergedInAnyOrderIsTheWhole) {
  std::mt19937_64 random(12);
  for (int round = 0; round < 60; ++round) {
    std::vector<TypeParam> elements(random() % 500);
    for (TypeParam& x : elements) x = RandomElement<TypeParam>(random);
    ExpectSameState(StateOf(elements), MergedState(elements, random));
  }
}

TYPED_TEST(ReductionStateTest, MergingAnEmptyStateChangesNothing) {
  std::mt19937_64 random(13);
  std::vector<TypeParam> elements(100);
  for (TypeParam& x : elements) x = RandomElement<TypeParam>(random);
  const FullState<TypeParam> state = StateOf(elements);
  FullState<TypeParam> before;
  before.Merge(state);
  FullState<TypeParam> after = state;
  after.Merge(FullState<TypeParam>{});
  ExpectSameState(state, before);
  ExpectSameState(state, after);
}

TYPED_TEST(ReductionStateTest, MomentsAreThoseOfTheElements) {
  std::mt19937_64 random(14);
  std::vector<TypeParam> elements(3000);
  ExactSum sum;
  ExactSum squares;
  ExactSum magnitudes;
  for (TypeParam& x : elements) {
    x = RandomElement<TypeParam>(random);
    // 64-bit integers in two halves, since a double may not hold them.
    if constexpr (IntegerElement<TypeParam>) {
      const double high = std::ldexp(static_cast<double>(Magnitude(x) >> 32), 32);
      const double low = static_cast<double>(Magnitude(x) & 0xFFFF'FFFF);
      const double sign = IsNegative(x) ? -1 : 1;
      for (const double part : {high, low}) {
        sum.Add(sign * part);
        magnitudes.Add(part);
      }
      squares.AddSquare(high);
      squares.AddSquare(low);
      // 2 * high * low, whose 64 significant bits are cut in two once more.
      const double low_end = std::fmod(low, 0x1p16);
      squares.Add(2 * high * low_end);
      squares.Add(2 * high * (low - low_end));
    } else {
      const double value = static_cast<double>(x);
      sum.Add(value);
      squares.AddSquare(value);
      magnitudes.Add(std::fabs(value));
    }
  }
  const FullState<TypeParam> state = StateOf(elements);
  EXPECT_EQ(statistic_internal::Quotient(state.template Part<kSumPart>(), 1),
            sum.Value().ToDouble());
  EXPECT_EQ(statistic_internal::Quotient(state.template Part<kSquaresPart>(), 1),
            squares.Value().ToDouble());
  EXPECT_EQ(statistic_internal::Quotient(state.template Part<kMagnitudesPart>(), 1),
            magnitudes.Value().ToDouble());
}

TEST(ExtremeStateTest, FirstIndexOfEqualValuesInAnyOrder) {
  using Min = ExtremeState<int32_t, false>;
  Min later;
  later.Add(5, 9);
  Min earlier;
  earlier.Add(5, 3);
  Min a = later;
  a.Merge(earlier);
  EXPECT_EQ(a.index, 3u);
  Min b = earlier;
  b.Merge(later);
  EXPECT_EQ(b.index, 3u);
}

TEST(ExtremeStateTest, ZerosOfEitherSignAreEqual) {
  for (const std::vector<double>& elements : {std::vector<double>{0.0, -0.0}, {-0.0, 0.0}}) {
    const FullState<double> state = StateOf(elements);
    const auto& extremes = state.Part<kExtremesPart>();
    EXPECT_EQ(extremes.min.index, 0u);
    EXPECT_EQ(extremes.max.index, 0u);
  }
}

TEST(ExtremeStateTest, FirstNanWins) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  std::mt19937_64 random(15);
  const std::vector<double> elements = {1, infinity, nan, -infinity, nan, 0};
  for (int round = 0; round < 20; ++round) {
    const FullState<double> state = MergedState(elements, random);
    const auto& extremes = state.Part<kExtremesPart>();
    EXPECT_EQ(extremes.min.index, 2u);
    EXPECT_EQ(extremes.max.index, 2u);
    EXPECT_TRUE(std::isnan(extremes.min.value));
  }
}

TEST(ReductionStateNanTest, AnIgnoredNanIsTalliedAndNothingElse) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const FullState<float> with = StateOf<float>({nan, 2, nan, -3}, true);
  EXPECT_EQ(with.Part<kTallyPart>().nan, 2u);
  EXPECT_EQ(with.Part<kTallyPart>().nonzero, 2u);
  EXPECT_EQ(with.Part<kSumPart>().sum.Rounded(), -1);
  EXPECT_EQ(with.Part<kMagnitudesPart>().sum.Rounded(), 5);
  EXPECT_EQ(with.Part<kSquaresPart>().sum.Rounded(), 13);
  EXPECT_EQ(with.Part<kExtremesPart>().min.index, 3u);
  EXPECT_EQ(with.Part<kExtremesPart>().max.index, 1u);
}

TEST(VisitPartSetTest, TheSetCoversWhatIsAskedFor) {
  for (uint32_t parts = 0; parts < 128; ++parts) {
    const uint32_t of_integers = VisitPartSet<int32_t>(parts, [](auto set) { return set.value; });
    EXPECT_EQ(parts & ~of_integers, 0u);
    const uint32_t float_parts = parts & ~(kProductPart | kBitsPart);
    const uint32_t of_floats = VisitPartSet<float>(float_parts, [](auto set) { return set.value; });
    EXPECT_EQ(float_parts & ~of_floats, 0u);
  }
}

}  // namespace
}  // namespace gridfold::kernels
