// histogram/distributed: bins dealt over the shared memories of clusters of every size, by name.
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/histogram/histogram_device_test.h"

namespace gridfold::kernels::cuda {
namespace {

template <class T>
class HistogramDistributedTest : public HistogramDeviceTest {
 protected:
  void SetUp() override {
    HistogramDeviceTest::SetUp();
    if (!IsSkipped() && !properties().has_clusters) GTEST_SKIP() << "no clusters";
  }

  absl::StatusOr<HistogramResult> CountDistributed(const HistogramSpec& spec,
                                                   const Samples<T>& samples,
                                                   uint64_t samples_per_flush = uint64_t{1} << 31) {
    return Count(spec, samples,
                 {.method = HistogramMethod::kDistributed, .samples_per_flush = samples_per_flush});
  }
};
using Types = testing::Types<int8_t, int32_t, Float16, float, double>;
TYPED_TEST_SUITE(HistogramDistributedTest, Types);

// Clusters of 1, 2, 4, 8 and 16 blocks, and of more bins than 4,096 for each.
constexpr uint64_t kBinCounts[] = {1, 1000, 4096, 4097, 12'000, 30'000, 65'536, 200'000};

TYPED_TEST(HistogramDistributedTest, EveryClusterSize) {
  for (const uint64_t bins : kBinCounts) {
    for (const uint64_t count : {1, 1025, 40'000}) {
      SCOPED_TRACE(testing::Message() << bins << " bins, " << count << " samples");
      const Samples<TypeParam> samples{
          .x = MakeSamples<TypeParam>(Distribution::kUniform, count, 1, 100)};
      const auto result = this->CountDistributed(SpecOf({EvenBinsSpec{bins, 3, 98}}), samples);
      ASSERT_TRUE(result.ok()) << result.status();
      ExpectChannel(result->channels[0],
                    LoopCounts(samples, 0, 1, EdgesOf(result->bins[0]), OutOfRangePolicy::kDrop),
                    false);
    }
  }
}

// Counters are added up, and cleared, several times while others of the cluster wait.
TYPED_TEST(HistogramDistributedTest, SeveralFlushes) {
  const Samples<TypeParam> samples{
      .x = MakeSamples<TypeParam>(Distribution::kUniform, 3'000'000, 2, 100)};
  const auto result = this->CountDistributed(SpecOf({EvenBinsSpec{9000, 3, 98}}), samples, 4096);
  ASSERT_TRUE(result.ok()) << result.status();
  ExpectChannel(result->channels[0],
                LoopCounts(samples, 0, 1, EdgesOf(result->bins[0]), OutOfRangePolicy::kDrop),
                false);
}

}  // namespace
}  // namespace gridfold::kernels::cuda
