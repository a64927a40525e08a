// Accumulators of histograms. Counts come from an engine; sums of weights are added one by one.
#include "kernels/accumulators/histogram_accumulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/accumulators/accumulator_test_util.h"
#include "kernels/contract/engine.h"
#include "kernels/contract/plan_test_util.h"

namespace gridfold::kernels {
namespace {

constexpr uint64_t kBinCountMax = 1 << 20;

class HistogramAccumulatorTest : public testing::Test {
 protected:
  static HistogramPlan Plan(const HistogramSpec& spec, size_t count) {
    const auto plan =
        PlanHistogram(ArrayDescription::Vector(ElementType::kFloat32, count), spec, kBinCountMax);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return *plan;
  }

  HistogramResult Run(const HistogramPlan& plan, const std::vector<float>& x,
                      const std::vector<float>& y) {
    const auto bytes = [](const std::vector<float>& values) {
      return HostSpan{reinterpret_cast<const std::byte*>(values.data()),
                      values.size() * sizeof(float)};
    };
    RunStatistics statistics;
    const auto result = lane_->RunHistogram(
        plan, {bytes(x), plan.two_dimensional ? bytes(y) : HostSpan(), {}}, {}, statistics);
    EXPECT_TRUE(result.ok()) << result.status();
    return *result;
  }

  std::string Accumulator(const HistogramSpec& spec, const std::vector<float>& x,
                          const std::vector<float>& y) {
    HistogramSpec part = spec;
    part.return_states = true;
    const HistogramPlan plan = Plan(part, x.size());
    const auto accumulator = MakeHistogramAccumulator(plan, Run(PlanStates(plan), x, y));
    EXPECT_TRUE(accumulator.ok()) << accumulator.status();
    EXPECT_LE(accumulator->size(), HistogramAccumulatorBytesMax(plan));
    return *accumulator;
  }

  static void ExpectSame(const HistogramResult& actual, const HistogramResult& expected) {
    ASSERT_EQ(actual.channels.size(), expected.channels.size());
    for (size_t c = 0; c < expected.channels.size(); ++c) {
      EXPECT_EQ(actual.channels[c].counts, expected.channels[c].counts);
      EXPECT_EQ(actual.channels[c].bin_indices, expected.channels[c].bin_indices);
      EXPECT_EQ(actual.channels[c].underflow_count, expected.channels[c].underflow_count);
      EXPECT_EQ(actual.channels[c].overflow_count, expected.channels[c].overflow_count);
      EXPECT_EQ(actual.channels[c].nan_count, expected.channels[c].nan_count);
      EXPECT_EQ(actual.channels[c].quantile_values, expected.channels[c].quantile_values);
    }
    ASSERT_EQ(actual.bins.size(), expected.bins.size());
    for (size_t b = 0; b < expected.bins.size(); ++b) {
      EXPECT_EQ(actual.bins[b].bin_count, expected.bins[b].bin_count);
      EXPECT_EQ(EdgesOf(actual.bins[b]), EdgesOf(expected.bins[b]));
    }
  }

  // Splits the samples at random, merges them by random trees and compares with one call.
  void ExpectMergeable(const HistogramSpec& spec, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal(0, 2);
    const size_t count = 240;
    std::vector<float> x(count);
    std::vector<float> y(count);
    for (float& value : x) value = random() % 20 == 0 ? NAN : normal(random);
    for (float& value : y) value = normal(random);
    const std::string whole = Accumulator(spec, x, y);
    const HistogramResult one_call = Run(Plan(spec, count), x, y);
    for (int tree = 0; tree < 200; ++tree) {
      std::vector<size_t> cuts = {0, count};
      for (uint64_t i = random() % 6; i > 0; --i) cuts.push_back(random() % (count / 6 + 1) * 6);
      std::sort(cuts.begin(), cuts.end());
      std::vector<std::string> parts;
      for (size_t p = 0; p + 1 < cuts.size(); ++p) {
        const auto begin = static_cast<ptrdiff_t>(cuts[p]);
        const auto end = static_cast<ptrdiff_t>(cuts[p + 1]);
        parts.push_back(Accumulator(spec, {x.begin() + begin, x.begin() + end},
                                    {y.begin() + begin, y.begin() + end}));
      }
      const std::string merged = MergeByRandomTree(parts, random);
      ASSERT_EQ(merged, whole);
      const auto answer = MergeAll({merged});
      ASSERT_TRUE(answer.ok()) << answer.status();
      ExpectSame(std::get<HistogramMerge>(*answer).result, one_call);
    }
  }

  std::unique_ptr<Engine> engine_ = *CreateEngine({.kind = EngineKind::kCpu, .cpu_threads = 1});
  std::unique_ptr<Lane> lane_ = *engine_->CreateLane({1 << 20, 1 << 20, kBinCountMax, 1 << 10});
};

TEST_F(HistogramAccumulatorTest, EvenBinsWithQuantiles) {
  HistogramSpec spec;
  spec.bins = {EvenBinsSpec{37, -3.0, 3.0}};
  spec.quantiles = {0.1, 0.5, 0.9};
  ExpectMergeable(spec, 1);
}

TEST_F(HistogramAccumulatorTest, TablesOfEdges) {
  HistogramSpec spec;
  spec.bins = {EdgeBinsSpec{{-INFINITY, -1, 0.25, INFINITY}}};
  ExpectMergeable(spec, 2);
  spec.bins = {LogarithmicBinsSpec{11, 0.01, 10}};
  spec.out_of_range_policy = OutOfRangePolicy::kClamp;
  ExpectMergeable(spec, 3);
}

TEST_F(HistogramAccumulatorTest, ChannelsWithBinsOfTheirOwn) {
  HistogramSpec spec;
  spec.channel_count = 3;
  spec.bins = {EvenBinsSpec{5, -1.0, 1.0}, EvenBinsSpec{900, -9.0, 9.0}, EdgeBinsSpec{{-1, 0, 2}}};
  ExpectMergeable(spec, 4);
  spec.bins = {EvenBinsSpec{5, -1.0, 1.0}};
  spec.sparse = true;
  ExpectMergeable(spec, 5);
}

TEST_F(HistogramAccumulatorTest, TwoDimensionsSparse) {
  HistogramSpec spec;
  spec.two_dimensional = true;
  spec.bins = {EvenBinsSpec{100, -3.0, 3.0}, EvenBinsSpec{80, -3.0, 3.0}};
  spec.sparse = true;
  ExpectMergeable(spec, 6);
}

TEST_F(HistogramAccumulatorTest, EmptyBinsTakeNoRoom) {
  HistogramSpec spec;
  spec.bins = {EvenBinsSpec{1'000'000, -3.0, 3.0}};
  EXPECT_LT(Accumulator(spec, {0.5F, 1.5F, 2.5F}, {}).size(), 100u);
  // A dense one takes no more than its values and their lengths.
  spec.bins = {EvenBinsSpec{100, 0.0, 100.0}};
  std::vector<float> samples(100);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<float>(i);
  EXPECT_LT(Accumulator(spec, samples, {}).size(), 2 * samples.size() + 100);
}

// Automatic ranges differ from part to part.
TEST_F(HistogramAccumulatorTest, OtherBinsAreRefused) {
  HistogramSpec spec;
  spec.bins = {EvenBinsSpec{10, {}, {}}};
  const std::string a = Accumulator(spec, {1, 2}, {});
  const std::string b = Accumulator(spec, {1, 3}, {});
  const absl::Status status = MergeAll({a, b}).status();
  ExpectInvalid(status, "accumulators[1]");
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("bins"));
}

template <class Sum>
Sum Add(Sum sum, double weight) {
  if constexpr (std::is_same_v<Sum, Int128>) {
    return sum + static_cast<Int128>(weight);
  } else if constexpr (std::is_same_v<Sum, ExactSum<float, 1>>) {
    sum.Add(static_cast<float>(weight));
    return sum;
  } else {
    sum.Add(weight);
    return sum;
  }
}

// Weights of two channels of 50 bins, as an engine returns their sums.
template <class Sum>
void ExpectWeightsMergeable(ElementType weight_type) {
  constexpr size_t kBins = 100;
  HistogramSpec spec;
  spec.bins = {EvenBinsSpec{kBins / 2, 0.0, 1.0}};
  spec.channel_count = 2;
  spec.weight_type = weight_type;
  spec.return_states = true;
  const auto accumulator_of = [&](const std::vector<std::pair<size_t, double>>& weights) {
    const auto plan = PlanHistogram(ArrayDescription::Vector(ElementType::kFloat32, weights.size()),
                                    spec, kBinCountMax);
    EXPECT_TRUE(plan.ok()) << plan.status();
    HistogramResult result;
    result.bins = plan->bins;
    result.channels.resize(2);
    std::vector<Sum> sums(kBins);
    for (const auto& [bin, weight] : weights) sums[bin] = Add(sums[bin], weight);
    result.weight_states = sums;
    const auto accumulator = MakeHistogramAccumulator(*plan, result);
    EXPECT_TRUE(accumulator.ok()) << accumulator.status();
    EXPECT_LE(accumulator->size(), HistogramAccumulatorBytesMax(*plan));
    return *accumulator;
  };
  std::mt19937_64 random(7);
  std::vector<std::pair<size_t, double>> weights(60);
  for (auto& [bin, weight] : weights) {
    bin = random() % kBins;
    weight = IsFloatingPoint(weight_type) ? std::ldexp(static_cast<double>(random() % 2001) - 1000,
                                                       static_cast<int>(random() % 60) - 30)
                                          : static_cast<double>(random() % 2001) - 1000;
    if (IsUnsigned(weight_type)) weight = std::abs(weight);
    if (IsFloatingPoint(weight_type) && random() % 20 == 0) weight = INFINITY;
    if (IsFloatingPoint(weight_type) && random() % 20 == 0) weight = -0.0;
  }
  const std::string whole = accumulator_of(weights);
  for (int tree = 0; tree < 200; ++tree) {
    std::shuffle(weights.begin(), weights.end(), random);
    std::vector<std::string> parts;
    for (size_t begin = 0; begin < weights.size();) {
      const size_t end = std::min(weights.size(), begin + 2 * (random() % 20));
      parts.push_back(accumulator_of({weights.begin() + static_cast<ptrdiff_t>(begin),
                                      weights.begin() + static_cast<ptrdiff_t>(end)}));
      begin = end;
    }
    const std::string merged = MergeByRandomTree(parts, random);
    ASSERT_EQ(merged, whole);
    const auto answer = MergeAll({merged});
    ASSERT_TRUE(answer.ok()) << answer.status();
    // Long doubles hold these sums exactly.
    std::vector<long double> expected(kBins);
    for (const auto& [bin, weight] : weights) expected[bin] += weight;
    for (size_t bin = 0; bin < kBins; ++bin) {
      const double actual =
          std::get<HistogramMerge>(*answer).result.channels[bin / 50].weight_sums[bin % 50];
      EXPECT_EQ(actual, static_cast<double>(expected[bin]));
      EXPECT_FALSE(actual == 0 && std::signbit(actual));
    }
  }
}

TEST(WeightAccumulatorTest, SumsOfFloats) {
  ExpectWeightsMergeable<ExactSum<float, 1>>(ElementType::kFloat32);
}
TEST(WeightAccumulatorTest, SumsOfDoubles) {
  ExpectWeightsMergeable<ExactSum<double, 1>>(ElementType::kFloat64);
}
TEST(WeightAccumulatorTest, SumsOfIntegers) {
  ExpectWeightsMergeable<Int128>(ElementType::kInt16);
  ExpectWeightsMergeable<Int128>(ElementType::kUint64);
}

TEST(WeightAccumulatorTest, AnEngineWithoutStatesIsAnInternalError) {
  HistogramSpec spec;
  spec.bins = {EvenBinsSpec{5, 0.0, 1.0}};
  spec.weight_type = ElementType::kFloat32;
  spec.return_states = true;
  const auto plan =
      PlanHistogram(ArrayDescription::Vector(ElementType::kFloat32, 0), spec, kBinCountMax);
  HistogramResult result;
  result.bins = plan->bins;
  result.channels.resize(1);
  result.channels[0].weight_sums.resize(5);
  EXPECT_TRUE(absl::IsInternal(MakeHistogramAccumulator(*plan, result).status()));
}

}  // namespace
}  // namespace gridfold::kernels
