// Histograms in one launch (histogram/plan/together.h), at sizes around what a thread, a block and
// a cluster take, and of ranges that are found.
#include <cuda_runtime_api.h>

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/device/buffer.h"
#include "kernels/cuda/device/pinned_buffer.h"
#include "kernels/cuda/histogram/histogram_device_test.h"

namespace gridfold::kernels::cuda {
namespace {

constexpr HistogramMethod kTogether[] = {HistogramMethod::kOneCluster, HistogramMethod::kOneGrid};
constexpr uint64_t kCounts[] = {0,    1,    2,     31,    33,      1023,    1025,    4095,     4096,
                                4097, 8193, 16384, 65537, 100'003, 262'143, 262'145, 1'000'003};

template <class T>
class HistogramTogetherTest : public HistogramDeviceTest {};
using Types =
    testing::Types<int8_t, uint16_t, int32_t, int64_t, uint64_t, Float16, Bfloat16, float, double>;
TYPED_TEST_SUITE(HistogramTogetherTest, Types);

// The extremes of a channel's finite samples by a loop; 0 and 1 where there are none.
template <class T>
std::pair<long double, long double> Extremes(const std::vector<T>& values, uint64_t channel,
                                             uint64_t channel_count) {
  long double smallest = std::numeric_limits<long double>::infinity();
  long double largest = -smallest;
  for (uint64_t i = channel; i < values.size(); i += channel_count) {
    const long double x = ToLongDouble(values[i]);
    if (!std::isfinite(x)) continue;
    smallest = std::min(smallest, x);
    largest = std::max(largest, x);
  }
  if (smallest > largest) return {0, 1};
  return {smallest, largest};
}

TYPED_TEST(HistogramTogetherTest, EverySize) {
  for (const HistogramMethod method : kTogether) {
    for (const uint64_t count : kCounts) {
      for (const bool is_automatic : {false, true}) {
        SCOPED_TRACE(testing::Message() << HistogramMethodName(method) << ", " << count
                                        << " samples, automatic " << is_automatic);
        const Samples<TypeParam> samples{
            .x = MakeSamples<TypeParam>(Distribution::kUniform, count, 1, 100)};
        const EvenBinsSpec even =
            is_automatic ? EvenBinsSpec{77, {}, {}} : EvenBinsSpec{1000, 3, 98};
        const auto result = this->Count(SpecOf({even}), samples, {.method = method});
        ASSERT_TRUE(result.ok()) << result.status();
        if (is_automatic && count > 1) {
          const auto [smallest, largest] = Extremes(samples.x, 0, 1);
          EXPECT_EQ(result->bins[0].lower_bound, static_cast<double>(smallest));
          EXPECT_EQ(result->bins[0].upper_bound, static_cast<double>(largest));
        }
        ExpectChannel(result->channels[0],
                      LoopCounts(samples, 0, 1, EdgesOf(result->bins[0]), OutOfRangePolicy::kDrop),
                      false);
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(HistogramTogetherTest, ChannelsWithAndWithoutRanges) {
  for (const HistogramMethod method : kTogether) {
    for (const uint32_t channels : {2, 3, 4}) {
      for (const OutOfRangePolicy policy : {OutOfRangePolicy::kDrop, OutOfRangePolicy::kClamp}) {
        SCOPED_TRACE(testing::Message() << HistogramMethodName(method) << ", " << channels);
        const Samples<TypeParam> samples{
            .x = MakeSamples<TypeParam>(Distribution::kSkewed, channels * 10'007, 1, 100)};
        std::vector<BinSpec> bins = {EvenBinsSpec{20, 10, 50}, EvenBinsSpec{33, {}, {}},
                                     EdgeBinsSpec{{2, 3, 5, 8, 13, 21}}, EvenBinsSpec{100, {}, {}}};
        bins.resize(channels);
        HistogramSpec spec = SpecOf(bins);
        spec.channel_count = channels;
        spec.out_of_range_policy = policy;
        const auto result = this->Count(spec, samples, {.method = method});
        ASSERT_TRUE(result.ok()) << result.status();
        for (uint32_t c = 0; c < channels; ++c) {
          if (c % 2 == 1) {
            EXPECT_EQ(result->bins[c].upper_bound,
                      static_cast<double>(Extremes(samples.x, c, channels).second));
          }
          ExpectChannel(result->channels[c],
                        LoopCounts(samples, c, channels, EdgesOf(result->bins[c]), policy), false);
        }
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(HistogramTogetherTest, TwoDimensions) {
  for (const HistogramMethod method : kTogether) {
    const Samples<TypeParam> samples{
        .x = MakeSamples<TypeParam>(Distribution::kUniform, 30'011, 1, 100),
        .y = MakeSamples<TypeParam>(Distribution::kSkewed, 30'011, 1, 50)};
    HistogramSpec spec = SpecOf({EvenBinsSpec{30, {}, {}}, EvenBinsSpec{20, {}, {}}});
    spec.two_dimensional = true;
    const auto result = this->Count(spec, samples, {.method = method});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->bins[1].upper_bound, static_cast<double>(Extremes(samples.y, 0, 1).second));
    ExpectChannel(result->channels[0],
                  LoopPairs(samples, EdgesOf(result->bins[0]), EdgesOf(result->bins[1]),
                            OutOfRangePolicy::kDrop),
                  false);
  }
}

using HistogramTogetherDeviceTest = HistogramDeviceTest;

TEST_F(HistogramTogetherDeviceTest, NumbersThatAreNoneOrEqualOrFarApart) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<std::vector<double>> cases = {{kNan, kNan},     {kInfinity, -kInfinity, kNan},
                                                  {3, 3, 3},        {0x1p53, 0x1p53},
                                                  {1e300, 1e300},   {-0.0, 0.0},
                                                  {1e308, -1e308},  {5e-324, 0},
                                                  {1, 1 + 0x1p-52}, {kNan, 7, kInfinity, 9},
                                                  {-1e16, -1e16},   {1.7e18, 1.7e18 + 256}};
  for (const HistogramMethod method : kTogether) {
    for (const std::vector<double>& values : cases) {
      for (const uint64_t bins : {1, 2, 10, 1000}) {
        SCOPED_TRACE(testing::Message() << HistogramMethodName(method) << ", " << values[0] << " "
                                        << values[1] << ", " << bins << " bins");
        const Samples<double> samples{.x = values};
        const HistogramSpec spec = SpecOf({EvenBinsSpec{bins, {}, {}}});
        const auto result = Count(spec, samples, {.method = method});
        ASSERT_TRUE(result.ok()) << result.status();
        ExpectChannel(result->channels[0],
                      LoopCounts(samples, 0, 1, EdgesOf(result->bins[0]), OutOfRangePolicy::kDrop),
                      false);
      }
    }
  }
}

TEST_F(HistogramTogetherDeviceTest, SmallAnswersGoToTheHost) {
  constexpr size_t kBytes = 64 << 10;
  auto memory = PinnedBuffer::Allocate(kBytes);
  ASSERT_TRUE(memory.ok()) << memory.status();
  auto* const direct = reinterpret_cast<uint64_t*>(memory->data());
  const std::vector<float> values = MakeSamples<float>(Distribution::kUniform, 50'000, 0, 1);
  const DeviceArray<float> device{std::span(values), 0};
  const auto plan = PlanHistogram(ArrayDescription::Vector(ElementType::kFloat32, values.size()),
                                  SpecOf({EvenBinsSpec{500, {}, {}}}), 1000);
  ASSERT_TRUE(plan.ok());
  const auto result = Count(
      *plan,
      {.samples = {device.data(), values.size()}, .direct = {direct, kBytes / sizeof(uint64_t)}},
      {.method = HistogramMethod::kOneCluster});
  ASSERT_TRUE(result.ok()) << result.status();
  uint64_t total = 0;
  for (const uint64_t count : result->channels[0].counts) total += count;
  EXPECT_EQ(total, values.size());
  // The extremes stand first, then the outcomes.
  EXPECT_EQ(direct[2], 0);
  EXPECT_EQ(direct[5], result->channels[0].counts[0]);
}

// Cooperative launches need all multiprocessors at once: jobs of several streams must not wait for
// each other's parts.
TEST_F(HistogramTogetherDeviceTest, StreamsBesideEachOther) {
  constexpr int kStreams = 4;
  constexpr int kRuns = 100;
  const std::vector<float> values = MakeSamples<float>(Distribution::kUniform, 1 << 20, 0, 1);
  const DeviceArray<float> device{std::span(values), 0};
  const auto plan = PlanHistogram(ArrayDescription::Vector(ElementType::kFloat32, values.size()),
                                  SpecOf({EvenBinsSpec{1000, {}, {}}}), 1000);
  ASSERT_TRUE(plan.ok());
  const auto expected = Count(*plan, {.samples = {device.data(), values.size()}}, {});
  ASSERT_TRUE(expected.ok());
  std::vector<std::thread> threads;
  std::vector<int> wrong(kStreams);
  for (int s = 0; s < kStreams; ++s) {
    threads.emplace_back([&, s] {
      cudaSetDevice(properties().device);
      cudaStream_t stream = nullptr;
      cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
      auto memory = DeviceBuffer::Allocate(HistogramScratchBytes(*plan)).value();
      for (int run = 0; run < kRuns; ++run) {
        Scratch scratch(memory.data(), memory.size_bytes());
        const HistogramMethod method = kTogether[(s + run) % 2];
        auto counted = LaunchHistogram(*plan, {.samples = {device.data(), values.size()}}, scratch,
                                       properties(), stream, {.method = method});
        cudaStreamSynchronize(stream);
        if (!counted.ok()) {
          ++wrong[s];
          continue;
        }
        std::vector<uint64_t> counts(1000);
        cudaMemcpy(counts.data(), counted->values, counts.size() * sizeof(uint64_t),
                   cudaMemcpyDeviceToHost);
        wrong[s] += counts == expected->channels[0].counts ? 0 : 1;
      }
      cudaStreamDestroy(stream);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(kStreams));
}

}  // namespace
}  // namespace gridfold::kernels::cuda
