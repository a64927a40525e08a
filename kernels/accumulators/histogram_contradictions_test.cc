// Accumulators of histograms whose parts are well-formed and contradict each other: a rule of
// histogram_accumulator.cc for each.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "kernels/accumulators/accumulator_test_util.h"
#include "kernels/accumulators/histogram_accumulator.h"
#include "kernels/contract/plan_test_util.h"

namespace gridfold::kernels {
namespace {

class HistogramContradictionTest : public testing::Test {
 protected:
  // 10 samples: 3, 0 and 4 in bins, 2 below and 1 above; 1 NaN where the samples are of floats.
  static HistogramResult Result(const HistogramPlan& plan) {
    HistogramResult result;
    result.bins = plan.bins;
    result.channels.resize(plan.channel_count);
    for (HistogramCounts& channel : result.channels) {
      channel.counts = {3, 0, 3};
      channel.underflow_count = 2;
      channel.overflow_count = 1;
      channel.nan_count = 1;
      if (plan.out_of_range_policy == OutOfRangePolicy::kClamp) channel.counts = {5, 0, 4};
    }
    return result;
  }

  static HistogramPlan Plan(OutOfRangePolicy policy, ElementType type = ElementType::kFloat32) {
    HistogramSpec spec;
    spec.bins = {EvenBinsSpec{3, 0.0, 3.0}};
    spec.channel_count = 2;
    spec.out_of_range_policy = policy;
    spec.return_states = true;
    return *PlanHistogram(ArrayDescription::Vector(type, 20), spec, 1000);
  }

  using Change = std::function<void(HistogramResult&)>;

  static absl::Status Merge(const HistogramPlan& plan, const Change& change) {
    HistogramResult result = Result(plan);
    change(result);
    return MergeAll({*MakeHistogramAccumulator(plan, result)}).status();
  }

  static void ExpectRefusedWith(const Change& change,
                                OutOfRangePolicy policy = OutOfRangePolicy::kDrop) {
    EXPECT_TRUE(Merge(Plan(policy), [](HistogramResult&) {}).ok());
    ExpectInvalid(Merge(Plan(policy), change), "accumulators[0]");
  }
};

TEST_F(HistogramContradictionTest, BinsHoldMoreSamplesThanThereAre) {
  for (const OutOfRangePolicy policy : {OutOfRangePolicy::kDrop, OutOfRangePolicy::kClamp}) {
    for (const size_t channel : {0, 1}) {
      ExpectRefusedWith([=](HistogramResult& r) { ++r.channels[channel].counts[0]; }, policy);
    }
  }
}

TEST_F(HistogramContradictionTest, SamplesAreNowhere) {
  for (const OutOfRangePolicy policy : {OutOfRangePolicy::kDrop, OutOfRangePolicy::kClamp}) {
    ExpectRefusedWith([](HistogramResult& r) { --r.channels[0].counts[0]; }, policy);
    ExpectRefusedWith([](HistogramResult& r) { r.channels[1].counts = {0, 0, 0}; }, policy);
    ExpectRefusedWith([](HistogramResult& r) { r.channels[1].nan_count = 0; }, policy);
  }
}

TEST_F(HistogramContradictionTest, OneChannelHasTheSamplesOfAnother) {
  ExpectRefusedWith([](HistogramResult& r) {
    ++r.channels[0].counts[0];
    --r.channels[1].counts[0];
  });
}

TEST_F(HistogramContradictionTest, MoreAreOutsideThanThereAre) {
  for (const OutOfRangePolicy policy : {OutOfRangePolicy::kDrop, OutOfRangePolicy::kClamp}) {
    ExpectRefusedWith([](HistogramResult& r) { r.channels[0].underflow_count = 11; }, policy);
    ExpectRefusedWith([](HistogramResult& r) { r.channels[0].overflow_count = ~uint64_t{0}; },
                      policy);
    ExpectRefusedWith([](HistogramResult& r) { r.channels[0].nan_count = 8; }, policy);
  }
}

TEST_F(HistogramContradictionTest, ClampedSamplesAreInTheOutermostBins) {
  ExpectRefusedWith(
      [](HistogramResult& r) {
        r.channels[0].counts = {1, 4, 4};
      },
      OutOfRangePolicy::kClamp);
  ExpectRefusedWith(
      [](HistogramResult& r) {
        r.channels[0].counts = {5, 4, 0};
      },
      OutOfRangePolicy::kClamp);
}

TEST_F(HistogramContradictionTest, IntegersAreNoNans) {
  ExpectInvalid(Merge(Plan(OutOfRangePolicy::kDrop, ElementType::kInt32), [](HistogramResult&) {}),
                "accumulators[0]");
  EXPECT_TRUE(Merge(Plan(OutOfRangePolicy::kDrop, ElementType::kInt32), [](HistogramResult& r) {
                for (HistogramCounts& channel : r.channels) {
                  channel.nan_count = 0;
                  ++channel.counts[1];
                }
              }).ok());
}

TEST_F(HistogramContradictionTest, WeightsOfNoSamples) {
  HistogramSpec spec;
  spec.bins = {EvenBinsSpec{3, 0.0, 3.0}};
  spec.weight_type = ElementType::kFloat32;
  spec.return_states = true;
  const auto plan = PlanHistogram(ArrayDescription::Vector(ElementType::kFloat32, 4), spec, 1000);
  for (const float weight : {1.0F, INFINITY}) {
    std::vector<ExactSum<float, 1>> sums(3);
    sums[1].Add(weight);
    HistogramResult result;
    result.bins = plan->bins;
    result.channels.resize(1);
    result.weight_states = sums;
    result.channels[0].nan_count = 3;
    EXPECT_TRUE(MergeAll({*MakeHistogramAccumulator(*plan, result)}).ok());
    result.channels[0].nan_count = 4;
    ExpectInvalid(MergeAll({*MakeHistogramAccumulator(*plan, result)}).status(), "accumulators[0]");
  }
}

}  // namespace
}  // namespace gridfold::kernels
