// Histograms of more bins than a float32 counts.
#include <cmath>
#include <cstdint>
#include <map>

#include "gtest/gtest.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/test_data.h"

namespace gridfold::kernels::conformance {
namespace {

constexpr uint64_t kBins = (uint64_t{1} << 24) + 12'345;

using ManyBinsTest = EngineTest;

// Bins of width 1, so that each sample's is its integral part.
void ExpectSparseCounts(const TestArray& samples, const HistogramCounts& counts) {
  std::map<uint64_t, uint64_t> expected;
  uint64_t above = 0;
  for (uint64_t i = 0; i < samples.size(); ++i) {
    if (samples[i] > kBins) {
      ++above;
    } else {
      ++expected[samples[i] == kBins ? kBins - 1 : static_cast<uint64_t>(std::floor(samples[i]))];
    }
  }
  ASSERT_EQ(counts.bin_indices.size(), expected.size());
  uint64_t i = 0;
  for (const auto& [bin, count] : expected) {
    ASSERT_EQ(counts.bin_indices[i], bin);
    ASSERT_EQ(counts.counts[i++], count);
  }
  EXPECT_EQ(counts.overflow_count, above);
}

TEST_P(ManyBinsTest, EachSampleIsInTheBinOfItsInteger) {
  LaneOptions options = kRoomyLane;
  options.bin_count_max = kBins;
  EngineUnderTest engine(GetParam(), options);
  for (const ElementType type :
       {ElementType::kFloat32, ElementType::kFloat64, ElementType::kUint32}) {
    TestArray samples = MakeUniform(type, 4000, 0, kBins + 50, 24);
    samples.Set(0, kBins);
    samples.Set(1, kBins - 2);
    samples.Set(2, kBins + 2);
    HistogramSpec spec;
    spec.bins.push_back(EvenBinsSpec{kBins, 0.0, static_cast<double>(kBins)});
    spec.sparse = true;
    const auto plan = PlanHistogram(samples.description(), spec, kBins);
    ASSERT_TRUE(plan.ok()) << plan.status();
    RunStatistics statistics;
    const auto result = engine.lane().RunHistogram(
        *plan, {.array = samples.span(), .y_array = {}, .weights = {}}, {}, statistics);
    ASSERT_TRUE(result.ok()) << result.status();
    ExpectSparseCounts(samples, result->channels[0]);
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, ManyBinsTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, ManyBinsTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
