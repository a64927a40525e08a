// Histograms of one channel on device spans, each by every strategy that can hold it. Layouts,
// types and policies in all their combinations are judged on both engines by kernels/conformance.
#include "kernels/cuda/histogram/histogram_device_test.h"

#include <vector>

namespace gridfold::kernels::cuda {
namespace {

TEST_F(HistogramDeviceTest, EveryStrategyOnEveryDistributionAndNumberOfBins) {
  for (const uint64_t bins : {1, 2, 16, 255, 1000, 28'000, 57'344, 65'536, 131'072, 1'048'576}) {
    for (const Distribution distribution : kDistributions) {
      SCOPED_TRACE(testing::Message()
                   << bins << " bins, distribution " << static_cast<int>(distribution));
      const Samples<float> samples{.x = MakeSamples<float>(distribution, 300'007, -1000, 1000),
                                   .misalignment = 1};
      const HistogramSpec spec = SpecOf({EvenBinsSpec{bins, -1000, 1000}});
      ForEachMethod(spec, samples, [&](const HistogramResult& result) {
        const Expected expected =
            LoopCounts(samples, 0, 1, EdgesOf(result.bins[0]), OutOfRangePolicy::kDrop);
        ExpectChannel(result.channels[0], expected, false);
      });
      if (HasFailure()) return;
    }
  }
}

// Small enough for a sanitizer.
TEST_F(HistogramDeviceTest, EveryStrategyOnFewSamples) {
  constexpr uint64_t kCount = 20'011;
  Samples<float> samples{.x = MakeSamples<float>(Distribution::kUniform, kCount, 0, 100),
                         .y = MakeSamples<float>(Distribution::kSkewed, kCount, 0, 100),
                         .misalignment = 1};
  for (const BinSpec& bins :
       {BinSpec{EvenBinsSpec{100, 0, 100}}, BinSpec{EvenBinsSpec{100'000, 0, 100}},
        BinSpec{EvenBinsSpec{300'000, 0, 100}}, BinSpec{EdgeBinsSpec{{1, 2, 4, 50, 100}}}}) {
    const HistogramSpec spec = SpecOf({bins});
    ForEachMethod(spec, samples, [&](const HistogramResult& result) {
      ExpectChannel(result.channels[0],
                    LoopCounts(samples, 0, 1, EdgesOf(result.bins[0]), spec.out_of_range_policy),
                    false);
    });
  }
  HistogramSpec pairs = SpecOf({EvenBinsSpec{50, 0, 100}, EvenBinsSpec{60, 0, 100}});
  pairs.two_dimensional = true;
  ForEachMethod(pairs, samples, [&](const HistogramResult& result) {
    ExpectChannel(result.channels[0],
                  LoopPairs(samples, EdgesOf(result.bins[0]), EdgesOf(result.bins[1]),
                            pairs.out_of_range_policy),
                  false);
  });
  HistogramSpec channels = SpecOf({EvenBinsSpec{50, 0, 100}});
  channels.channel_count = 2;
  samples.x.pop_back();
  ForEachMethod(channels, samples, [&](const HistogramResult& result) {
    for (uint32_t c = 0; c < 2; ++c) {
      ExpectChannel(
          result.channels[c],
          LoopCounts(samples, c, 2, EdgesOf(result.bins[0]), channels.out_of_range_policy), false);
    }
  });
}

template <class T>
class HistogramTypeTest : public HistogramDeviceTest {};
using AllTypes = ::testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                                  uint64_t, Float16, Bfloat16, float, double>;
TYPED_TEST_SUITE(HistogramTypeTest, AllTypes);

TYPED_TEST(HistogramTypeTest, EveryLayoutAndMisalignment) {
  const std::vector<double> edges = {1, 1.5, 2, 3, 10, 10.25, 40, 99.9, 100};
  for (const BinSpec& bins :
       {BinSpec{EvenBinsSpec{37, 1, 100}}, BinSpec{EdgeBinsSpec{edges}},
        BinSpec{LogarithmicBinsSpec{300, 1, 100}}, BinSpec{EvenBinsSpec{50, {}, {}}}}) {
    for (const OutOfRangePolicy policy : {OutOfRangePolicy::kDrop, OutOfRangePolicy::kClamp}) {
      HistogramSpec spec = SpecOf({bins});
      spec.out_of_range_policy = policy;
      Samples<TypeParam> samples{
          .x = MakeSamples<TypeParam>(Distribution::kUniform, 50'021, 0, 102)};
      for (samples.misalignment = 0; samples.misalignment < 3; ++samples.misalignment) {
        this->ForEachMethod(spec, samples, [&](const HistogramResult& result) {
          ExpectChannel(result.channels[0],
                        LoopCounts(samples, 0, 1, EdgesOf(result.bins[0]), policy), false);
        });
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(HistogramTypeTest, SumsOfWeights) {
  // Weights of which every sum is exact in float64 too.
  Samples<TypeParam> samples{.x = MakeSamples<TypeParam>(Distribution::kSkewed, 100'003, 0, 100)};
  for (uint64_t i = 0; i < samples.x.size(); ++i) {
    samples.weights.push_back(static_cast<float>(i % 17) * 0.25F - 1);
  }
  for (const uint64_t bins : {5, 1000, 40'000}) {
    HistogramSpec spec = SpecOf({EvenBinsSpec{bins, 0, 100}});
    spec.weight_type = ElementType::kFloat32;
    this->ForEachMethod(spec, samples, [&](const HistogramResult& result) {
      ExpectChannel(result.channels[0],
                    LoopCounts(samples, 0, 1, EdgesOf(result.bins[0]), OutOfRangePolicy::kDrop),
                    true);
    });
  }
}

TEST_F(HistogramDeviceTest, IntegerBinsOfNegativeSamples) {
  const Samples<int8_t> samples{.x =
                                    MakeSamples<int8_t>(Distribution::kUniform, 70'001, -127, 126)};
  ForEachMethod(SpecOf({IntegerBinsSpec{-100, 150}}), samples, [&](const HistogramResult& result) {
    std::vector<uint64_t> counts(150);
    uint64_t underflow = 0;
    uint64_t overflow = 0;
    for (const int x : samples.x) {
      if (x < -100) ++underflow;
      if (x > 49) ++overflow;
      if (x >= -100 && x <= 49) ++counts[x + 100];
    }
    EXPECT_EQ(result.channels[0].counts, counts);
    EXPECT_EQ(result.channels[0].underflow_count, underflow);
    EXPECT_EQ(result.channels[0].overflow_count, overflow);
  });
}

TEST_F(HistogramDeviceTest, NoSamplesAreNoWork) {
  for (const bool sparse : {false, true}) {
    HistogramSpec spec = SpecOf({EvenBinsSpec{10, {}, {}}});
    spec.sparse = sparse;
    ForEachMethod(spec, Samples<float>{}, [&](const HistogramResult& result) {
      EXPECT_EQ(result.channels[0].counts, std::vector<uint64_t>(sparse ? 0 : 10));
      EXPECT_EQ(result.bins[0].upper_bound, 1);
    });
  }
}

TEST_F(HistogramDeviceTest, TooLittleScratchIsAnError) {
  const auto plan = PlanHistogram(ArrayDescription::Vector(ElementType::kFloat32, 100),
                                  SpecOf({EvenBinsSpec{1000, 0, 1}}), 1000);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const DeviceArray<float> samples(100);
  const DeviceArray<std::byte> memory(1024);
  Scratch scratch(memory.data(), memory.size());
  const auto counted =
      LaunchHistogram(*plan, {.samples = {samples.data(), 100}}, scratch, properties(), stream());
  EXPECT_EQ(counted.status().code(), absl::StatusCode::kResourceExhausted) << counted.status();
  Synchronize();
}

TEST_F(HistogramDeviceTest, SamplesPass32Bits) {
  // More than 2^32, so that a counter of 32 bits would show.
  const uint64_t count = (uint64_t{1} << 32) + 54'321;
  if (FreeBytes() < 2 * count) GTEST_SKIP() << "not enough device memory";
  const DeviceArray<int8_t> samples(count);
  ASSERT_EQ(cudaMemset(samples.data(), 3, count), cudaSuccess);
  ASSERT_EQ(cudaMemset(samples.data() + count - 100, -2, 100), cudaSuccess);
  const auto plan = PlanHistogram(ArrayDescription::Vector(ElementType::kInt8, count),
                                  SpecOf({IntegerBinsSpec{-1, 5}}), 10);
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (const HistogramMethod method : kHistogramMethods) {
    SCOPED_TRACE(HistogramMethodName(method));
    const auto result = Count(*plan, {.samples = {samples.data(), count}}, {.method = method});
    if (result.status().code() == absl::StatusCode::kFailedPrecondition) continue;
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->channels[0].counts, (std::vector<uint64_t>{0, 0, 0, 0, count - 100}));
    EXPECT_EQ(result->channels[0].underflow_count, 100);
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
