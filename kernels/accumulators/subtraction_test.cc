// Reductions' accumulators that are taken out of others: what remains has the bytes of the
// accumulator that was never merged with them, or is an error that says why it has not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "kernels/accumulators/accumulator_test_util.h"
#include "kernels/accumulators/bytes.h"
#include "kernels/accumulators/state_test_util.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::kernels {
namespace {

using testing::HasSubstr;

// Statistics whose states can be taken out of others.
bool IsOfSums(Statistic statistic) {
  switch (statistic) {
    case Statistic::kMin:
    case Statistic::kMax:
    case Statistic::kArgmin:
    case Statistic::kArgmax:
    case Statistic::kRange:
    case Statistic::kProduct:
    case Statistic::kBitwiseAnd:
    case Statistic::kBitwiseOr:
    case Statistic::kBitwiseXor: return false;
    default: return true;
  }
}

template <class T>
std::vector<Statistic> StatisticsOfSums() {
  std::vector<Statistic> statistics;
  for (const Statistic statistic : AllStatistics<T>()) {
    if (IsOfSums(statistic)) statistics.push_back(statistic);
  }
  return statistics;
}

template <class T>
std::string BytesOfElements(const std::vector<T>& elements, bool ignore_nan,
                            const std::vector<Statistic>& statistics) {
  return BytesOfState<T>(StateOf(elements, ignore_nan), elements.size(), ignore_nan, statistics);
}

template <class T>
bool IsSpecial(T x, bool ignore_nan) {
  if constexpr (IntegerElement<T>) return false;
  const auto value = static_cast<double>(ToCompute(x));
  return std::isinf(value) || (std::isnan(value) && !ignore_nan);
}
template <class T>
bool IsNumberButNegativeZero(T x) {
  if constexpr (IntegerElement<T>) return true;
  const auto value = static_cast<double>(ToCompute(x));
  return !std::isnan(value) && !(value == 0 && std::signbit(value));
}

template <class T>
class SubtractionTest : public testing::Test {};
using ElementTypes = testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                                    uint64_t, Float16, Bfloat16, float, double>;
TYPED_TEST_SUITE(SubtractionTest, ElementTypes);

TYPED_TEST(SubtractionTest, GivesBackWhatWasMerged) {
  using T = TypeParam;
  std::mt19937_64 random(7);
  const std::vector<Statistic> all = StatisticsOfSums<T>();
  int told = 0;
  for (int round = 0; round < 3'000; ++round) {
    const bool ignore_nan = random() % 2 == 0;
    std::vector<T> kinds(1 + random() % 4);
    for (T& x : kinds) x = RandomElement<T>(random);
    std::vector<Statistic> statistics;
    while (statistics.empty()) {
      for (const Statistic statistic : all) {
        if (random() % (round % 2 == 0 ? 1 : 6) == 0) statistics.push_back(statistic);
      }
    }
    const auto some = [&](uint64_t most) {
      std::vector<T> elements(random() % (most + 1));
      for (T& x : elements) x = kinds[random() % kinds.size()];
      return elements;
    };
    const std::vector<T> rest = some(5);
    const std::string expected = BytesOfElements(rest, ignore_nan, statistics);
    std::vector<std::string> taken(1 + random() % 3);
    bool takes_special = false;
    for (std::string& part : taken) {
      const std::vector<T> elements = some(4);
      for (const T x : elements) takes_special |= IsSpecial(x, ignore_nan);
      part = BytesOfElements(elements, ignore_nan, statistics);
    }
    std::vector<std::string> parts = taken;
    parts.push_back(expected);
    const std::string minuend = MergeByRandomTree(parts, random);
    const auto remainder = Subtract(minuend, taken);
    if (!remainder.ok()) {
      // Only where an infinity or NaN goes, and others are left.
      ASSERT_TRUE(takes_special && !rest.empty()) << remainder.status();
      ExpectInvalid(remainder.status(), "subtrahends");
      EXPECT_THAT(remainder.status().message(), HasSubstr("it cannot be told"));
      continue;
    }
    ++told;
    // What was taken out can come back.
    parts.back() = BytesOf(*remainder);
    ASSERT_EQ(MergeByRandomTree(parts, random), minuend) << "in round " << round;
    const bool has_number = std::any_of(rest.begin(), rest.end(), IsNumberButNegativeZero<T>);
    const bool has_special =
        std::any_of(rest.begin(), rest.end(), [&](T x) { return IsSpecial(x, ignore_nan); });
    // Of elements that are all -0.0, or ignored, a sum does not tell that they are.
    if (!rest.empty() && !has_number && !has_special) continue;
    ASSERT_EQ(BytesOf(*remainder), expected) << "in round " << round;
  }
  EXPECT_GT(told, 1'000);
}

// As a window moves over a stream.
TYPED_TEST(SubtractionTest, WindowsDoNotDrift) {
  using T = TypeParam;
  constexpr size_t kChunk = 3;
  constexpr size_t kWindow = 5;
  std::mt19937_64 random(3);
  const std::vector<Statistic> statistics = StatisticsOfSums<T>();
  std::vector<T> stream;
  std::vector<std::string> chunks;
  std::string window = BytesOfElements<T>({}, false, statistics);
  for (size_t step = 0; step < 1'000; ++step) {
    std::vector<T> chunk;
    while (chunk.size() < kChunk) {
      const T x = RandomElement<T>(random);
      if (!IsSpecial(x, false) && IsNumberButNegativeZero(x)) chunk.push_back(x);
    }
    stream.insert(stream.end(), chunk.begin(), chunk.end());
    chunks.push_back(BytesOfElements(chunk, false, statistics));
    window = BytesOf(*MergeAll({window, chunks.back()}, /*partial=*/true));
    if (step >= kWindow) {
      const auto moved = Subtract(window, {chunks[step - kWindow]});
      ASSERT_TRUE(moved.ok()) << moved.status();
      window = BytesOf(*moved);
    }
    const size_t size = std::min(stream.size(), kWindow * kChunk);
    const std::vector<T> inside(stream.end() - static_cast<ptrdiff_t>(size), stream.end());
    ASSERT_EQ(window, BytesOfElements(inside, false, statistics)) << "at step " << step;
  }
}

// Whatever bytes come: an error, or a remainder that is an accumulator and can be put back.
TYPED_TEST(SubtractionTest, ForgedBytes) {
  using T = TypeParam;
  std::mt19937_64 random(5);
  const std::vector<Statistic> all = StatisticsOfSums<T>();
  int accepted = 0;
  for (int round = 0; round < 4'000; ++round) {
    std::vector<Statistic> statistics;
    while (statistics.empty()) {
      for (const Statistic statistic : all) {
        if (random() % 5 == 0) statistics.push_back(statistic);
      }
    }
    std::vector<std::string> accumulators;
    for (int i = 0; i < 3; ++i) {
      std::vector<T> elements(random() % 5);
      for (T& x : elements) x = RandomElement<T>(random);
      std::string bytes = Unsealed(BytesOfElements(elements, round % 2 == 0, statistics));
      for (uint64_t change = random() % 3; change > 0; --change) {
        char& byte = bytes[bytes.size() - 1 - random() % std::min<size_t>(bytes.size(), 40)];
        byte = random() % 2 == 0 ? static_cast<char>(random()) : static_cast<char>(byte + 1);
      }
      accumulators.push_back(Sealed(bytes));
    }
    const auto alone = MergeAll({accumulators[0]}, /*partial=*/true);
    const auto remainder = Subtract(accumulators[0], {accumulators[1], accumulators[2]});
    if (!remainder.ok()) {
      EXPECT_FALSE(FieldOf(remainder.status()).empty()) << remainder.status();
      continue;
    }
    ++accepted;
    ASSERT_TRUE(alone.ok());
    const auto back = MergeAll({BytesOf(*remainder), accumulators[1], accumulators[2]}, true);
    ASSERT_TRUE(back.ok()) << back.status();
    ASSERT_EQ(BytesOf(*back), BytesOf(*alone));
  }
  EXPECT_GT(accepted, 0);
}

const std::vector<Statistic> kSumAlone = {Statistic::kSum};

std::string Doubles(const std::vector<double>& elements, bool ignore_nan = false,
                    const std::vector<Statistic>& statistics = kSumAlone) {
  return BytesOfElements(elements, ignore_nan, statistics);
}

TEST(SubtractionErrorTest, StatisticsWithoutADifferenceAreNamed) {
  for (const Statistic statistic : AllStatistics<int32_t>()) {
    if (statistic == Statistic::kSum) continue;
    const std::string bytes = BytesOfElements<int32_t>({3, 4}, false, {Statistic::kSum, statistic});
    const auto remainder = Subtract(bytes, {bytes});
    if (IsOfSums(statistic)) {
      EXPECT_TRUE(remainder.ok()) << remainder.status();
    } else {
      ExpectInvalid(remainder.status(), "minuend");
      EXPECT_THAT(remainder.status().message(),
                  HasSubstr(absl::StrCat(StatisticName(statistic), " (statistics[1])")));
    }
  }
}

TEST(SubtractionErrorTest, WhatWasNeverIn) {
  const std::string minuend = Doubles({1.5, 2.5});
  for (const std::string& other :
       {Doubles({1.5, 2.5, 3.5}), Doubles({1.5, 2.0}), Doubles({1.5, NAN}), Doubles({INFINITY})}) {
    const auto remainder = Subtract(minuend, {other});
    ExpectInvalid(remainder.status(), "subtrahends");
    EXPECT_THAT(remainder.status().message(), HasSubstr("group 0: what is taken out was never in"));
  }
  // Twice what is there once.
  EXPECT_TRUE(Subtract(minuend, {Doubles({1.5}), Doubles({2.5})}).ok());
  ExpectInvalid(Subtract(minuend, {Doubles({2.5}), Doubles({2.5})}).status(), "subtrahends");
  // No two elements have a mean of 6, and squares that sum up to 2.
  const std::vector<Statistic> moments = {Statistic::kVariance};
  ExpectInvalid(
      Subtract(Doubles({1, 2, 10}, false, moments), {Doubles({-2}, false, moments)}).status(),
      "subtrahends");
  // More elements other than 0 than elements.
  const std::vector<Statistic> counts = {Statistic::kNonzeroCount};
  ExpectInvalid(
      Subtract(Doubles({1, 2, 0}, false, counts), {Doubles({0, 0}, false, counts)}).status(),
      "subtrahends");
}

TEST(SubtractionErrorTest, WhatDoesNotAgree) {
  const std::string sum = Doubles({1, 2});
  ExpectInvalid(Subtract(sum, {Doubles({1}, true)}).status(), "subtrahends[0]");
  ExpectInvalid(Subtract(sum, {sum, BytesOfElements<float>({1}, false, kSumAlone)}).status(),
                "subtrahends[1]");
  ExpectInvalid(Subtract("no accumulator", {sum}).status(), "minuend");
  ExpectInvalid(Subtract(sum, {"no accumulator"}).status(), "subtrahends[0]");
  ExpectInvalid(Subtract(sum, {}).status(), "subtrahends");
}

// A whole that is too small now for one of its statistics.
TEST(SubtractionErrorTest, GroupThatIsLeftWithoutAValue) {
  const std::vector<Statistic> mean = {Statistic::kMean};
  const std::string bytes = Doubles({1, 2}, false, mean);
  ExpectInvalid(Subtract(bytes, {bytes}, /*partial=*/false).status(), "minuend");
  const auto partial = Subtract(bytes, {bytes}, /*partial=*/true);
  ASSERT_TRUE(partial.ok()) << partial.status();
  EXPECT_EQ(std::get<ReductionMerge>(*partial).element_count, 0u);
  EXPECT_EQ(BytesOf(*partial), Doubles({}, false, mean));
}

// --- What flags tell.

TEST(SubtractionFlagTest, SpecialsOfTheWholeAloneStay) {
  for (const double special :
       {static_cast<double>(NAN), static_cast<double>(INFINITY), -static_cast<double>(INFINITY)}) {
    const auto remainder = Subtract(Doubles({special, 1, 2}), {Doubles({2})});
    ASSERT_TRUE(remainder.ok()) << remainder.status();
    EXPECT_EQ(BytesOf(*remainder), Doubles({special, 1}));
    // Whether it was the only one is not known.
    ExpectInvalid(Subtract(Doubles({special, 1, 2}), {Doubles({special})}).status(), "subtrahends");
    ExpectInvalid(Subtract(Doubles({special, special}), {Doubles({special})}).status(),
                  "subtrahends");
  }
}

TEST(SubtractionFlagTest, TalliesTellWhichRemain) {
  const std::vector<Statistic> counted = {Statistic::kSum, Statistic::kNanCount};
  const auto bytes = [&](const std::vector<double>& x) { return Doubles(x, false, counted); };
  const auto expect = [&](const std::vector<double>& whole, const std::vector<double>& taken,
                          const std::vector<double>& rest) {
    const auto remainder = Subtract(bytes(whole), {bytes(taken)});
    ASSERT_TRUE(remainder.ok()) << remainder.status();
    EXPECT_EQ(BytesOf(*remainder), bytes(rest));
  };
  expect({NAN, NAN, 1, 2}, {NAN, 1}, {NAN, 2});
  expect({INFINITY, INFINITY, 1}, {INFINITY}, {INFINITY, 1});
  expect({NAN, INFINITY, 1}, {INFINITY}, {NAN, 1});
  // The sum of the numbers beside the last one is not in the accumulator.
  ExpectInvalid(Subtract(bytes({NAN, 1}), {bytes({NAN})}).status(), "subtrahends");
  // Which of two signs remains is not in it either.
  ExpectInvalid(Subtract(bytes({INFINITY, -INFINITY, INFINITY}), {bytes({INFINITY})}).status(),
                "subtrahends");
}

TEST(SubtractionFlagTest, IgnoredNansComeAndGo) {
  const std::vector<Statistic> mean = {Statistic::kMean, Statistic::kNanCount};
  const auto remainder =
      Subtract(Doubles({NAN, 1, NAN, 4}, true, mean), {Doubles({NAN, 1}, true, mean)});
  ASSERT_TRUE(remainder.ok()) << remainder.status();
  EXPECT_EQ(BytesOf(*remainder), Doubles({NAN, 4}, true, mean));
}

TEST(SubtractionFlagTest, ZeroIsPositiveUnlessAllWereNegative) {
  EXPECT_EQ(BytesOf(*Subtract(Doubles({-0.0, -0.0}), {Doubles({-0.0})})), Doubles({-0.0}));
  EXPECT_EQ(BytesOf(*Subtract(Doubles({0.0, 1}), {Doubles({1})})), Doubles({0.0}));
  EXPECT_EQ(BytesOf(*Subtract(Doubles({0.0, -0.0}), {Doubles({-0.0})})), Doubles({0.0}));
  // The documented exception.
  EXPECT_EQ(BytesOf(*Subtract(Doubles({-0.0, 1}), {Doubles({1})})), Doubles({0.0}));
}

// What the exception above leaves does not stand in the way of what follows.
TEST(SubtractionFlagTest, NegativeZerosComeAndGo) {
  for (const bool ignore_nan : {false, true}) {
    for (const Statistic statistic : {Statistic::kSum, Statistic::kL1Norm, Statistic::kVariance}) {
      const auto bytes = [&](const std::vector<double>& x) {
        return Doubles(x, ignore_nan, {statistic});
      };
      std::string window = bytes({1, 2});
      const std::vector<double> steps = {-0.0, -0.0, 0.0, 5, -0.0, ignore_nan ? NAN : 7, -0.0, 1};
      std::vector<std::string> inside = {window};
      for (const double step : steps) {
        inside.push_back(bytes({step}));
        window = BytesOf(*MergeAll({window, inside.back()}, /*partial=*/true));
        const auto moved = Subtract(window, {inside[inside.size() - 2]});
        ASSERT_TRUE(moved.ok()) << moved.status();
        window = BytesOf(*moved);
      }
      EXPECT_EQ(window, bytes({1}));
      const auto nothing = Subtract(window, {inside.back()});
      ASSERT_TRUE(nothing.ok()) << nothing.status();
      EXPECT_EQ(BytesOf(*nothing), bytes({}));
    }
  }
}

// A sum outside its type on the way is one of the state, which is wider.
TEST(SubtractionOverflowTest, ComesBack) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  const auto bytes = [](const std::vector<int64_t>& elements) {
    ReductionSpec spec;
    spec.statistics = kSumAlone;
    spec.return_states = true;
    const auto plan =
        PlanReduction(ArrayDescription::Vector(ElementType::kInt64, elements.size()), spec);
    return *MakeReductionAccumulator(*plan, GroupStates<int64_t>{StateOf(elements, false)});
  };
  const std::string whole = BytesOf(*MergeAll({bytes({most}), bytes({most, 7})}, true));
  EXPECT_TRUE(absl::IsOutOfRange(MergeAll({whole}).status()));
  EXPECT_TRUE(absl::IsOutOfRange(Subtract(whole, {bytes({7})}, /*partial=*/false).status()));
  const auto remainder = Subtract(whole, {bytes({most})}, /*partial=*/false);
  ExpectInvalid(Subtract(bytes({most, 7}), {bytes({most, most})}).status(), "subtrahends");
  EXPECT_TRUE(absl::IsOutOfRange(remainder.status()));
  const auto back = Subtract(whole, {bytes({most, 7})}, /*partial=*/false);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(std::get<ReductionMerge>(*back).result.columns[0].slots[0],
            static_cast<uint64_t>(most));
}

}  // namespace
}  // namespace gridfold::kernels
