// Words of random parts, added as plain integers, against merges of their accumulators; golden
// words that were made without the kernels; and words that no data have led to.
#include "kernels/folds/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/accumulators/accumulator_test_util.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/folds/fold_test_util.h"

namespace gridfold::kernels {
namespace {

using Words = std::vector<int64_t>;

void Add(const Words& other, Words& words) {
  ASSERT_EQ(other.size(), words.size());
  for (size_t i = 0; i < words.size(); ++i) {
    ASSERT_FALSE(__builtin_add_overflow(words[i], other[i], &words[i])) << "word " << i;
  }
}

Words WordsFrom(const std::string& accumulator) {
  const absl::StatusOr<Words> words = WordsOf(accumulator, kRoomyLimits);
  EXPECT_TRUE(words.ok()) << words.status();
  if (!words.ok()) return {};
  EXPECT_EQ(*WordCountOf(accumulator, kRoomyLimits), words->size());
  return *words;
}

std::string Back(const Words& words) {
  const absl::StatusOr<std::string> accumulator = AccumulatorOfWords(words, kRoomyLimits);
  EXPECT_TRUE(accumulator.ok()) << accumulator.status();
  return accumulator.ok() ? *accumulator : "";
}

class WordsTest : public FoldTest {
 protected:
  // The accumulator of segments of `elements`, with all statistics that are sums.
  std::string Reduction(ElementType type, const std::string& elements,
                        const std::vector<uint64_t>& offsets, NanPolicy nan_policy) {
    ReductionSpec spec;
    for (int i = 0; i < kStatisticCount; ++i) {
      const auto statistic = static_cast<Statistic>(i);
      if (IsSum(statistic) && IsDefinedFor(statistic, type)) spec.statistics.push_back(statistic);
    }
    spec.grouping = {GroupingKind::kSegments, offsets};
    spec.nan_policy = nan_policy;
    spec.return_states = true;
    return Reduction(type, elements, spec);
  }

  std::string Reduction(ElementType type, const std::string& elements, const ReductionSpec& spec) {
    const ReductionPlan plan =
        PlanReduction(ArrayDescription::Vector(type, elements.size() / ElementSize(type)), spec)
            .value();
    ReductionPlan states = PlanStates(plan);
    states.overflow_policy = OverflowPolicy::kWrap;
    RunStatistics statistics;
    const auto result = lane_->RunReduction(states, SpanOf(elements), {}, statistics).value();
    return MakeReductionAccumulator(plan, result.states).value();
  }

  std::string Histogram(const HistogramSpec& spec, uint64_t count) {
    const HistogramPlan plan =
        PlanHistogram(ArrayDescription::Vector(ElementType::kFloat32, count), spec, 1 << 20)
            .value();
    const std::string x = RandomElements(ElementType::kFloat32, count);
    const std::string y = RandomElements(ElementType::kFloat32, spec.two_dimensional ? count : 0);
    const std::string weights = RandomElements(spec.weight_type.value_or(ElementType::kInt8),
                                               spec.weight_type.has_value() ? count : 0);
    RunStatistics statistics;
    const auto result = lane_
                            ->RunHistogram(PlanStates(plan),
                                           {SpanOf(x), SpanOf(y), SpanOf(weights)}, {}, statistics)
                            .value();
    return MakeHistogramAccumulator(plan, result).value();
  }

  // Words that were added are those of the merged accumulators.
  void ExpectWordsAdd(const std::vector<std::string>& parts) {
    Words sum = WordsFrom(parts[0]);
    for (size_t i = 1; i < parts.size(); ++i) Add(WordsFrom(parts[i]), sum);
    const std::string merged = BytesOf(*MergeAll(parts, /*partial=*/true));
    EXPECT_EQ(Back(sum), merged);
    // What comes back is one part again.
    EXPECT_EQ(Back(WordsFrom(Back(sum))), merged);
  }

 private:
  static bool IsSum(Statistic statistic) {
    constexpr std::array kOthers = {Statistic::kProduct, Statistic::kMin,    Statistic::kMax,
                                    Statistic::kArgmin,  Statistic::kArgmax, Statistic::kRange};
    return std::ranges::find(kOthers, statistic) == kOthers.end();
  }
};

TEST_F(WordsTest, OfReductionsAdd) {
  for (int i = 0; i < kElementTypeCount; ++i) {
    const auto type = static_cast<ElementType>(i);
    for (const NanPolicy policy : {NanPolicy::kPropagate, NanPolicy::kIgnore}) {
      for (int round = 0; round < 30; ++round) {
        SCOPED_TRACE(ElementTypeName(type));
        std::vector<std::string> parts(1 + random_() % 9);
        for (std::string& part : parts) {
          const uint64_t count = random_() % 40;
          std::vector<uint64_t> offsets = {0, random_() % (count + 1), random_() % (count + 1),
                                           count};
          std::sort(offsets.begin(), offsets.end());
          part = Reduction(type, RandomElements(type, count), offsets, policy);
        }
        ExpectWordsAdd(parts);
      }
    }
  }
}

TEST_F(WordsTest, OfHistogramsAdd) {
  std::vector<HistogramSpec> specs(4);
  specs[0].bins = {EvenBinsSpec{7, -2.0, 2.0}};
  specs[0].quantiles = {0.5};
  specs[1].bins = {EdgeBinsSpec{{-INFINITY, -1, 0.25, INFINITY}}, EvenBinsSpec{3, 0.0, 1.0}};
  specs[1].channel_count = 2;
  specs[1].out_of_range_policy = OutOfRangePolicy::kClamp;
  specs[2].bins = {EvenBinsSpec{3, -1.0, 1.0}, EvenBinsSpec{2, -1.0, 1.0}};
  specs[2].two_dimensional = true;
  specs[2].sparse = true;
  specs[3].bins = {EvenBinsSpec{9, -4.0, 4.0}};
  specs[3].channel_count = 3;
  for (HistogramSpec& spec : specs) {
    spec.return_states = true;
    for (const std::optional<ElementType> weights :
         {std::optional<ElementType>(), std::optional(ElementType::kInt64),
          std::optional(ElementType::kUint8), std::optional(ElementType::kFloat16),
          std::optional(ElementType::kFloat32), std::optional(ElementType::kFloat64)}) {
      spec.weight_type = weights;
      if (weights.has_value()) spec.quantiles.clear();
      for (int round = 0; round < 20; ++round) {
        std::vector<std::string> parts(1 + random_() % 9);
        for (std::string& part : parts) part = Histogram(spec, random_() % 9 * spec.channel_count);
        ExpectWordsAdd(parts);
      }
    }
  }
}

// 2^31 parts, of which each has the words of one.
TEST_F(WordsTest, OfAsManyPartsAsThereMayBe) {
  const std::vector<std::string> parts = {
      Reduction(ElementType::kInt64, BytesOf(std::vector<int64_t>{INT64_MIN, INT64_MIN, -1}),
                {0, 1, 3}, NanPolicy::kPropagate),
      Reduction(ElementType::kUint64, BytesOf(std::vector<uint64_t>(3, UINT64_MAX)), {0, 3},
                NanPolicy::kPropagate),
      Reduction(ElementType::kFloat64, BytesOf(std::vector<double>{1.7e308, -5e-324, 0.1}), {0, 3},
                NanPolicy::kPropagate),
      Reduction(ElementType::kFloat32, BytesOf(std::vector<float>{INFINITY, -0.0F, NAN}),
                {0, 1, 2, 3}, NanPolicy::kIgnore)};
  for (const std::string& part : parts) {
    std::string merged = part;
    for (int64_t count = 1; count < kWordPartsMax; count *= 2) {
      merged = BytesOf(*MergeAll({merged, merged}, /*partial=*/true));
    }
    Words words = WordsFrom(part);
    for (int64_t& word : words) {
      EXPECT_LT(std::abs(word), int64_t{1} << 32);
      ASSERT_FALSE(__builtin_mul_overflow(word, kWordPartsMax, &word));
    }
    EXPECT_EQ(Back(words), merged);
    words[0] += 1;
    EXPECT_EQ(FieldOf(AccumulatorOfWords(words, kRoomyLimits).status()), "words");
  }
}

struct GoldenCase {
  std::string name;
  std::string accumulator;
  Words words;
};

std::vector<GoldenCase> GoldenCases() {
  std::ifstream file(GRIDFOLD_GOLDEN_WORDS);
  std::vector<GoldenCase> cases;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    GoldenCase& golden = cases.emplace_back();
    std::string digits;
    fields >> golden.name >> digits;
    for (size_t i = 0; i + 1 < digits.size(); i += 2) {
      golden.accumulator += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
    }
    for (int64_t word = 0; fields >> word;) golden.words.push_back(word);
  }
  return cases;
}

TEST(GoldenWordsTest, AreReadAndWritten) {
  const std::vector<GoldenCase> cases = GoldenCases();
  EXPECT_EQ(cases.size(), 12u);
  for (const GoldenCase& golden : cases) {
    SCOPED_TRACE(golden.name);
    EXPECT_EQ(WordsFrom(golden.accumulator), golden.words);
    EXPECT_EQ(Back(golden.words), golden.accumulator);
  }
}

void ExpectRefused(const Words& words, const std::string& reason) {
  const absl::Status status = AccumulatorOfWords(words, kRoomyLimits).status();
  EXPECT_EQ(FieldOf(status), "words") << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr(reason));
}

TEST(ForgedWordsTest, OtherBytesOrParts) {
  ExpectRefused({}, "there are none");
  for (const GoldenCase& golden : GoldenCases()) {
    SCOPED_TRACE(golden.name);
    const auto with = [&](size_t i, int64_t word) {
      Words words = golden.words;
      words[i] = word;
      return words;
    };
    ExpectRefused(with(0, 0), "0 parts");
    ExpectRefused(with(0, -1), "-1 parts");
    ExpectRefused(with(1, 5), "not words");
    ExpectRefused(with(2, 2), "version 2");
    ExpectRefused(with(3, 7), "their opening");
    ExpectRefused(with(3, 1 << 30), "not of one operation");
    ExpectRefused(with(5, 1), "their opening");
    for (const size_t size : {size_t{1}, size_t{3}, golden.words.size() - 1}) {
      ExpectRefused(Words(golden.words.begin(), golden.words.begin() + ptrdiff_t(size)), "words: ");
    }
    Words longer = golden.words;
    longer.push_back(0);
    ExpectRefused(longer, "words, where this operation has");
    // Of two parts, of which one is another operation's.
    Words two = golden.words;
    for (int64_t& word : two) word *= 2;
    two[4] += 2;
    ExpectRefused(two, "their opening");
  }
}

// Any change of one word, or of one at random in all of them, is refused or the words of other
// data: never taken for what no part could have.
TEST(ForgedWordsTest, WordsThatNoDataHave) {
  std::mt19937_64 random(5);
  const int64_t far[] = {INT64_MIN, INT64_MAX, -1, int64_t{1} << 32, 3};
  for (const GoldenCase& golden : GoldenCases()) {
    SCOPED_TRACE(golden.name);
    for (size_t i = 0; i < golden.words.size(); ++i) {
      for (const int64_t word : far) {
        Words words = golden.words;
        words[i] = word;
        const absl::StatusOr<std::string> made = AccumulatorOfWords(words, kRoomyLimits);
        if (made.ok()) {
          EXPECT_TRUE(MergeAll({*made}, /*partial=*/true).ok());
          EXPECT_EQ(Back(WordsFrom(*made)), *made);
        }
        const bool is_beyond = word == INT64_MIN || word == INT64_MAX;
        EXPECT_FALSE(made.ok() && is_beyond) << i;
      }
    }
    for (int round = 0; round < 200; ++round) {
      Words words = golden.words;
      for (int64_t& word : words) word = random() % 3 == 0 ? static_cast<int64_t>(random()) : word;
      const absl::StatusOr<std::string> made = AccumulatorOfWords(words, kRoomyLimits);
      EXPECT_TRUE(made.ok() || FieldOf(made.status()) == "words") << made.status();
    }
  }
}

TEST_F(WordsTest, LimitsBoundWhatTheOpeningClaims) {
  const std::string part = Reduction(ElementType::kInt8, "", {0, 0, 0, 0}, NanPolicy::kPropagate);
  const Words words = WordsFrom(part);
  const absl::Status status = AccumulatorOfWords(words, {2, 1 << 20, 8}).status();
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("3 groups are more than the 2"));
}

TEST_F(WordsTest, WhatIsNoSumIsRefusedByName) {
  for (const Statistic statistic : {Statistic::kMin, Statistic::kMax, Statistic::kArgmin,
                                    Statistic::kArgmax, Statistic::kRange, Statistic::kProduct}) {
    ReductionSpec spec;
    spec.statistics = {Statistic::kSum, statistic};
    spec.return_states = true;
    const std::string part = Reduction(ElementType::kInt32, BytesOf(std::vector{1, 2}), spec);
    for (const absl::Status& status :
         {WordsOf(part, kRoomyLimits).status(), WordCountOf(part, kRoomyLimits).status()}) {
      EXPECT_EQ(FieldOf(status), "statistics[1]");
      EXPECT_THAT(std::string(status.message()), testing::HasSubstr(StatisticName(statistic)));
    }
  }
  EXPECT_TRUE(absl::IsInvalidArgument(WordsOf("GFAC", kRoomyLimits).status()));
}

}  // namespace
}  // namespace gridfold::kernels
