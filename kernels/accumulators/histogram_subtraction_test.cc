// Histograms' accumulators that are taken out of others, made of samples that are binned one by
// one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/accumulators/accumulator_test_util.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/plan_test_util.h"
#include "kernels/numerics/sums/weight_sum.h"

namespace gridfold::kernels {
namespace {

using testing::HasSubstr;

constexpr int64_t kBins = 7;

// A sample of one of two channels, and its weight.
struct Sample {
  int32_t value;
  double weight = 1;
};

// Sample i belongs to channel i % 2, whose bins are the integers from 0 to below kBins.
HistogramSpec IntegerBins(std::optional<ElementType> weight_type, OutOfRangePolicy policy) {
  HistogramSpec spec;
  spec.bins = {IntegerBinsSpec{0, kBins}};
  spec.channel_count = 2;
  spec.out_of_range_policy = policy;
  spec.weight_type = weight_type;
  spec.return_states = true;
  return spec;
}

template <class Value>
void AddWeight(double weight, Value& value) {
  if constexpr (std::is_same_v<Value, Int128>) {
    value += static_cast<int64_t>(weight);
  } else {
    value.Add(weight);
  }
}

template <class Value>
std::string Bytes(const HistogramSpec& spec, const std::vector<Sample>& samples) {
  const auto plan =
      PlanHistogram(ArrayDescription::Vector(ElementType::kInt32, samples.size()), spec, 1 << 20);
  EXPECT_TRUE(plan.ok()) << plan.status();
  HistogramResult result;
  result.bins = plan->bins;
  result.channels.resize(2);
  std::vector<Value> sums(2 * kBins);
  for (HistogramCounts& channel : result.channels) channel.counts.resize(kBins);
  for (size_t i = 0; i < samples.size(); ++i) {
    HistogramCounts& channel = result.channels[i % 2];
    int64_t bin = samples[i].value;
    if (bin < 0) ++channel.underflow_count;
    if (bin >= kBins) ++channel.overflow_count;
    if (spec.out_of_range_policy == OutOfRangePolicy::kClamp) {
      bin = std::clamp<int64_t>(bin, 0, kBins - 1);
    }
    if (bin < 0 || bin >= kBins) continue;
    if constexpr (std::is_same_v<Value, uint64_t>) {
      ++channel.counts[static_cast<size_t>(bin)];
    } else {
      AddWeight(samples[i].weight, sums[(i % 2) * kBins + static_cast<size_t>(bin)]);
    }
  }
  if constexpr (!std::is_same_v<Value, uint64_t>) result.weight_states = sums;
  return *MakeHistogramAccumulator(*plan, result);
}

template <class Value>
struct TypeOfWeights {
  static std::optional<ElementType> Get() { return ElementType::kFloat64; }
};
template <>
struct TypeOfWeights<uint64_t> {
  static std::optional<ElementType> Get() { return std::nullopt; }
};
template <>
struct TypeOfWeights<Int128> {
  static std::optional<ElementType> Get() { return ElementType::kInt64; }
};

template <class Value>
class HistogramSubtractionTest : public testing::Test {
 protected:
  static std::vector<Sample> RandomSamples(std::mt19937_64& random) {
    std::vector<Sample> samples(2 * (random() % 8));
    for (Sample& sample : samples) {
      sample.value = static_cast<int32_t>(random() % (kBins + 4)) - 2;
      sample.weight = static_cast<double>(random() % 7) - 3;
      if (std::is_same_v<Value, ExactSum<double, 1>>) {
        sample.weight = std::ldexp(sample.weight, static_cast<int>(random() % 80) - 40);
      }
    }
    return samples;
  }
};
using Values = testing::Types<uint64_t, Int128, ExactSum<double, 1>>;
TYPED_TEST_SUITE(HistogramSubtractionTest, Values);

TYPED_TEST(HistogramSubtractionTest, GivesBackWhatWasMerged) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 2'000; ++round) {
    const HistogramSpec spec =
        IntegerBins(TypeOfWeights<TypeParam>::Get(),
                    round % 2 == 0 ? OutOfRangePolicy::kDrop : OutOfRangePolicy::kClamp);
    const std::string rest = Bytes<TypeParam>(spec, this->RandomSamples(random));
    std::vector<std::string> taken(1 + random() % 3);
    for (std::string& part : taken) part = Bytes<TypeParam>(spec, this->RandomSamples(random));
    std::vector<std::string> parts = taken;
    parts.push_back(rest);
    const auto remainder = Subtract(MergeByRandomTree(parts, random), taken);
    ASSERT_TRUE(remainder.ok()) << remainder.status();
    ASSERT_EQ(BytesOf(*remainder), rest) << "in round " << round;
    // The answer is the one of what remains, by itself.
    const auto& actual = std::get<HistogramMerge>(*remainder).result;
    const auto expected = MergeAll({rest});
    for (size_t c = 0; c < 2; ++c) {
      const HistogramCounts& channel = std::get<HistogramMerge>(*expected).result.channels[c];
      EXPECT_EQ(actual.channels[c].counts, channel.counts);
      EXPECT_EQ(actual.channels[c].weight_sums, channel.weight_sums);
    }
  }
}

TYPED_TEST(HistogramSubtractionTest, ForgedBytes) {
  std::mt19937_64 random(9);
  const HistogramSpec spec = IntegerBins(TypeOfWeights<TypeParam>::Get(), OutOfRangePolicy::kClamp);
  int accepted = 0;
  for (int round = 0; round < 6'000; ++round) {
    const std::string rest = Bytes<TypeParam>(spec, this->RandomSamples(random));
    std::string taken = Bytes<TypeParam>(spec, this->RandomSamples(random));
    std::string whole = BytesOf(*MergeAll({rest, taken}));
    for (std::string* const bytes : {&taken, &whole}) {
      *bytes = Unsealed(*bytes);
      for (uint64_t change = random() % 2; change > 0; --change) {
        char& byte = (*bytes)[bytes->size() - 1 - random() % std::min<size_t>(bytes->size(), 60)];
        byte = static_cast<char>(byte + (random() % 2 == 0 ? 1 : -1));
      }
      *bytes = Sealed(*bytes);
    }
    const auto remainder = Subtract(whole, {taken});
    if (!remainder.ok()) {
      EXPECT_FALSE(FieldOf(remainder.status()).empty()) << remainder.status();
      continue;
    }
    ++accepted;
    const auto back = MergeAll({BytesOf(*remainder), taken});
    ASSERT_TRUE(back.ok()) << back.status();
    ASSERT_EQ(BytesOf(*back), BytesOf(*MergeAll({whole})));
  }
  EXPECT_GT(accepted, 100);
}

std::string Counts(const std::vector<Sample>& samples,
                   OutOfRangePolicy policy = OutOfRangePolicy::kDrop) {
  return Bytes<uint64_t>(IntegerBins(std::nullopt, policy), samples);
}
std::string Weights(const std::vector<Sample>& samples) {
  return Bytes<ExactSum<double, 1>>(IntegerBins(ElementType::kFloat64, OutOfRangePolicy::kDrop),
                                    samples);
}

TEST(HistogramSubtractionErrorTest, WhatWasNeverIn) {
  const std::string whole = Counts({{1}, {2}, {3}, {4}});
  for (const std::string& other : {Counts({{1}, {1}}), Counts({{-1}, {2}}), Counts({{9}, {4}}),
                                   Counts({{1}, {2}, {3}, {4}, {1}, {2}})}) {
    const auto remainder = Subtract(whole, {other});
    ExpectInvalid(remainder.status(), "subtrahends");
    EXPECT_THAT(remainder.status().message(), HasSubstr("was never in it"));
  }
  EXPECT_TRUE(Subtract(whole, {Counts({{3}, {2}})}).ok());
  // Of two samples in the first bin one lies below it: not those that are left of three.
  const auto clamp = OutOfRangePolicy::kClamp;
  ExpectInvalid(
      Subtract(Counts({{-1}, {1}, {0}, {1}}, clamp), {Counts({{0}, {1}, {0}, {1}}, clamp)})
          .status(),
      "subtrahends");
  ExpectInvalid(Subtract(whole, {Weights({{1}, {2}})}).status(), "subtrahends[0]");
}

TEST(HistogramSubtractionErrorTest, WeightsThatAreNoNumbers) {
  const std::string whole = Weights({{1, NAN}, {2, 3.0}, {1, 5.0}, {4, INFINITY}});
  // It is in the whole alone.
  const auto remainder = Subtract(whole, {Weights({{1, 5.0}, {2, 3.0}})});
  ASSERT_TRUE(remainder.ok()) << remainder.status();
  EXPECT_EQ(BytesOf(*remainder), Weights({{1, NAN}, {4, INFINITY}}));
  // In both: whether another one remains is not known, unless no sample does.
  const auto untold = Subtract(whole, {Weights({{1, NAN}, {2, 3.0}})});
  ExpectInvalid(untold.status(), "subtrahends");
  EXPECT_THAT(untold.status().message(), HasSubstr("it cannot be told"));
  const auto nothing = Subtract(whole, {whole});
  ASSERT_TRUE(nothing.ok()) << nothing.status();
  EXPECT_EQ(BytesOf(*nothing), Weights({}));
}

// Bins that are 0 have one form, whether weights have led to it or there were none.
TEST(HistogramZeroTest, BinsAreAlike) {
  const std::string cancelled = Weights({{1, 1.5}, {1, 0.0}, {1, -1.5}, {3, 0.0}});
  const auto remainder = Subtract(BytesOf(*MergeAll({cancelled, Weights({{5, 2.0}, {1, 1.0}})})),
                                  {Weights({{5, 2.0}, {1, 1.0}})});
  ASSERT_TRUE(remainder.ok()) << remainder.status();
  EXPECT_EQ(BytesOf(*remainder), cancelled);
}

}  // namespace
}  // namespace gridfold::kernels
