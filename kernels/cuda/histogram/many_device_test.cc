// Kernels that guess the bins of several channels and of two dimensions, and those that count very
// many bins by partitions: samples at edges and beside them, special ones, any alignment and size.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/cuda/histogram/histogram_device_test.h"

namespace gridfold::kernels::cuda {
namespace {

constexpr OutOfRangePolicy kPolicies[] = {OutOfRangePolicy::kDrop, OutOfRangePolicy::kClamp};

// Mostly samples in [lower, upper), some of them edges of `bins` bins, outside, or special.
template <class T>
std::vector<T> MixedSamples(uint64_t count, double lower, double upper, uint64_t bins,
                            uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> samples(count);
  for (T& sample : samples) {
    double u = static_cast<double>(random() >> 11) * 0x1p-53;
    const uint64_t kind = random() % 64;
    if (kind < 8) u = static_cast<double>(random() % (bins + 1)) / static_cast<double>(bins);
    if (kind == 8) u = -0.1;
    if (kind == 9) u = 1.1;
    if (kind == 10) u = 0;
    const double x = lower + u * (upper - lower);
    if constexpr (!FloatingElement<T>) {
      using Limits = std::numeric_limits<T>;
      sample = static_cast<T>(std::clamp(x, static_cast<double>(Limits::min()),
                                         static_cast<double>(Limits::max() / 2 + 1) * 1.5));
    } else {
      sample = static_cast<T>(x);
      if (kind == 11) sample = std::numeric_limits<T>::quiet_NaN();
      if (kind == 12) sample = std::numeric_limits<T>::infinity();
      if (kind == 13) sample = -sample;
    }
  }
  return samples;
}

// Two parts, over several flushes.
template <class T>
class HistogramPartsTest : public HistogramDeviceTest {};
using PartsTypes = ::testing::Types<float, int32_t, uint32_t>;
TYPED_TEST_SUITE(HistogramPartsTest, PartsTypes);

TYPED_TEST(HistogramPartsTest, AnySizeAndFlush) {
  constexpr uint64_t kBins = 70'001;
  for (const uint64_t count : {uint64_t{100'003}, uint64_t{1'500'000}}) {
    Samples<TypeParam> samples{.x = MixedSamples<TypeParam>(count, 0, 1e6, kBins, count)};
    // Nearly all in one of the parts.
    for (uint64_t i = 0; i < count / 2; ++i) samples.x[i] = static_cast<TypeParam>(i % 1000);
    for (samples.misalignment = 0; samples.misalignment < 2; ++samples.misalignment) {
      for (const uint64_t samples_per_flush : {1024, 6000, 1 << 30}) {
        for (const OutOfRangePolicy policy : kPolicies) {
          HistogramSpec spec = SpecOf({EvenBinsSpec{kBins, 0, 1e6}});
          spec.out_of_range_policy = policy;
          const auto result =
              this->Count(spec, samples, {HistogramMethod::kParts, samples_per_flush});
          ASSERT_TRUE(result.ok()) << result.status();
          ExpectChannel(result->channels[0],
                        LoopCounts(samples, 0, 1, EdgesOf(result->bins[0]), policy), false);
          if (this->HasFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(HistogramPartsTest, WeightsInPartitions) {
  for (const uint64_t bins : {8'192, 70'001, 1'000'003, 1'048'576}) {
    for (const uint64_t count : {10, 16'384, 300'003}) {
      Samples<TypeParam> samples{.x = MixedSamples<TypeParam>(count, 0, 30'000, bins, count),
                                 .misalignment = bins % 4};
      for (uint64_t i = 0; i < count; ++i) {
        samples.weights.push_back(static_cast<float>(i % 113) * 0.25F - 7);
      }
      for (const OutOfRangePolicy policy : kPolicies) {
        for (const uint64_t samples_per_launch : {50'000, 1 << 30}) {
          SCOPED_TRACE(testing::Message() << bins << " bins, " << count << " samples");
          HistogramSpec spec = SpecOf({EvenBinsSpec{bins, 0, 30'000}});
          spec.out_of_range_policy = policy;
          spec.weight_type = ElementType::kFloat32;
          const auto result = this->Count(
              spec, samples,
              {.method = HistogramMethod::kPartitions, .samples_per_launch = samples_per_launch});
          ASSERT_TRUE(result.ok()) << result.status();
          ExpectChannel(result->channels[0],
                        LoopCounts(samples, 0, 1, EdgesOf(result->bins[0]), policy), true);
          if (this->HasFailure()) return;
        }
      }
    }
  }
}

// Most samples in one of the parts, which then has more blocks.
template <class T>
class HistogramBusyPartTest : public HistogramDeviceTest {};
using BusyPartTypes = ::testing::Types<float, double, int32_t, uint16_t, int8_t>;
TYPED_TEST_SUITE(HistogramBusyPartTest, BusyPartTypes);

TYPED_TEST(HistogramBusyPartTest, AnyPartAndFlush) {
  const double upper = std::min<double>(std::numeric_limits<TypeParam>::max() / 2, 1e6);
  constexpr uint64_t kCount = 600'001;  // Enough for all blocks of a device.
  for (const uint64_t bins : {65'536, 98'304, 131'072, 262'144}) {
    Samples<TypeParam> samples{.x = MixedSamples<TypeParam>(kCount, 0, upper, bins, bins),
                               .misalignment = 1};
    for (const double most_from : {0.0, 0.4, 0.9}) {
      SCOPED_TRACE(testing::Message() << bins << " bins, most samples from " << most_from);
      for (uint64_t i = 0; i < kCount; ++i) {
        if (i % 16 == 15) continue;
        const double u = most_from + 0.1 * static_cast<double>(i % 1009) / 1009;
        samples.x[i] = static_cast<TypeParam>(upper * u);
      }
      for (const OutOfRangePolicy policy : kPolicies) {
        HistogramSpec spec = SpecOf({EvenBinsSpec{bins, 0, upper}});
        spec.out_of_range_policy = policy;
        const auto at_once = this->Count(spec, samples, {.method = HistogramMethod::kParts});
        ASSERT_TRUE(at_once.ok()) << at_once.status();
        const Expected expected = LoopCounts(samples, 0, 1, EdgesOf(at_once->bins[0]), policy);
        ExpectChannel(at_once->channels[0], expected, false);
        const auto flushed = this->Count(spec, samples, {HistogramMethod::kParts, 6000});
        ASSERT_TRUE(flushed.ok()) << flushed.status();
        ExpectChannel(flushed->channels[0], expected, false);
        if (this->HasFailure()) return;
      }
    }
  }
}

template <class T>
class HistogramManyTest : public HistogramDeviceTest {};
using ManyTypes = ::testing::Types<float, double, int32_t, uint64_t, int16_t>;
TYPED_TEST_SUITE(HistogramManyTest, ManyTypes);

TYPED_TEST(HistogramManyTest, GuessedChannels) {
  for (const uint32_t channels : {2, 4}) {
    for (const uint64_t rounds : {1, 127, 5011}) {
      for (const OutOfRangePolicy policy : kPolicies) {
        SCOPED_TRACE(testing::Message() << channels << " channels, " << rounds << " rounds");
        Samples<TypeParam> samples{
            .x = MixedSamples<TypeParam>(rounds * channels, 0, 1000, 250, rounds)};
        std::vector<BinSpec> bins;
        for (uint32_t c = 0; c < channels; ++c) {
          bins.push_back(EvenBinsSpec{250 + 37 * c, 0, 1000.0 - 100 * c});
        }
        HistogramSpec spec = SpecOf(bins);
        spec.channel_count = channels;
        spec.out_of_range_policy = policy;
        for (const uint64_t misalignment : {0, 1, 3}) {
          samples.misalignment = misalignment;
          this->ForEachMethod(spec, samples, [&](const HistogramResult& result) {
            for (uint32_t c = 0; c < channels; ++c) {
              ExpectChannel(result.channels[c],
                            LoopCounts(samples, c, channels, EdgesOf(result.bins[c]), policy),
                            false);
            }
          });
          if (this->HasFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(HistogramManyTest, GuessedPairs) {
  for (const auto& [x_bins, y_bins] :
       {std::pair(uint64_t{7}, uint64_t{11}), {256, 256}, {300, 1000}}) {
    for (const OutOfRangePolicy policy : kPolicies) {
      for (const auto& [misalignment, y_misalignment] :
           {std::pair(uint64_t{0}, uint64_t{0}), {1, 1}, {3, 3}, {0, 1}}) {
        SCOPED_TRACE(testing::Message() << x_bins << " x " << y_bins << " bins, " << misalignment
                                        << " and " << y_misalignment << " off");
        const Samples<TypeParam> samples{.x = MixedSamples<TypeParam>(60'013, 0, 1024, x_bins, 1),
                                         .y = MixedSamples<TypeParam>(60'013, 0, 3000, y_bins, 2),
                                         .misalignment = misalignment,
                                         .y_misalignment = y_misalignment};
        HistogramSpec spec = SpecOf({EvenBinsSpec{x_bins, 0, 1024}, EvenBinsSpec{y_bins, 0, 3000}});
        spec.two_dimensional = true;
        spec.out_of_range_policy = policy;
        this->ForEachMethod(spec, samples, [&](const HistogramResult& result) {
          ExpectChannel(
              result.channels[0],
              LoopPairs(samples, EdgesOf(result.bins[0]), EdgesOf(result.bins[1]), policy), false);
        });
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(HistogramManyTest, BinsInPartitions) {
  for (const uint64_t bins : {262'145, 524'288, 1'000'003, 4'194'304}) {
    // Tiles have up to 2^14 samples, and each multiprocessor takes one at a time.
    for (const uint64_t count : {uint64_t{10}, uint64_t{16'384}, uint64_t{2'500'003}}) {
      for (const OutOfRangePolicy policy : kPolicies) {
        SCOPED_TRACE(testing::Message() << bins << " bins, " << count << " samples");
        const Samples<TypeParam> samples{
            .x = MixedSamples<TypeParam>(count, 0, 30'000, bins, count), .misalignment = bins % 4};
        HistogramSpec spec = SpecOf({EvenBinsSpec{bins, 0, 30'000}});
        spec.out_of_range_policy = policy;
        const HistogramOverrides by_partitions{.method = HistogramMethod::kPartitions};
        const auto result = this->Count(spec, samples, by_partitions);
        if (result.status().code() == absl::StatusCode::kFailedPrecondition) {
          ASSERT_LT(sizeof(TypeParam), 4);
          continue;
        }
        ASSERT_TRUE(result.ok()) << result.status();
        ExpectChannel(result->channels[0],
                      LoopCounts(samples, 0, 1, EdgesOf(result->bins[0]), policy), false);
        if (this->HasFailure()) return;
      }
    }
  }
}

TEST_F(HistogramDeviceTest, TablesThatFillSharedMemory) {
  // On devices of 227, 163 and 99 KiB for a block, of float32 and of float64.
  for (const uint64_t bins : {1510, 1465, 1968, 1859, 641, 622}) {
    SCOPED_TRACE(bins);
    const BinSpec spec = LogarithmicBinsSpec{bins, 1, 100};
    const auto count = [&](const auto& samples) {
      const auto result = Count(SpecOf({spec}), samples, {});
      ASSERT_TRUE(result.ok()) << result.status();
      ExpectChannel(result->channels[0],
                    LoopCounts(samples, 0, 1, EdgesOf(result->bins[0]), OutOfRangePolicy::kDrop),
                    false);
    };
    count(Samples<float>{.x = MixedSamples<float>(100'003, 1, 100, bins, bins)});
    count(Samples<double>{.x = MixedSamples<double>(100'003, 1, 100, bins, bins)});
  }
}

TEST_F(HistogramDeviceTest, PartitionsOfAnyDistribution) {
  constexpr uint64_t kBins = 1'048'576;
  for (const Distribution distribution : kDistributions) {
    SCOPED_TRACE(static_cast<int>(distribution));
    Samples<float> samples{.x = MakeSamples<float>(distribution, 5'000'011, 0, 1),
                           .misalignment = 1};
    HistogramSpec spec = SpecOf({EvenBinsSpec{kBins, 0, 1}});
    for (const bool weighted : {false, true}) {
      if (weighted) samples.weights.assign(samples.x.size(), 0.75F);
      if (weighted) spec.weight_type = ElementType::kFloat32;
      const auto result = Count(spec, samples, {.method = HistogramMethod::kPartitions});
      ASSERT_TRUE(result.ok()) << result.status();
      ExpectChannel(result->channels[0],
                    LoopCounts(samples, 0, 1, EdgesOf(result->bins[0]), OutOfRangePolicy::kDrop),
                    weighted);
    }
  }
}

TEST_F(HistogramDeviceTest, PartitionsOfSeveralChunks) {
  // More than one chunk's queue of 256 MiB has room for, in bins far apart.
  const uint64_t count = (uint64_t{1} << 27) + 777'777;
  if (FreeBytes() < 3 * count * sizeof(float)) GTEST_SKIP() << "not enough device memory";
  const DeviceArray<int32_t> samples(count);
  ASSERT_EQ(cudaMemset(samples.data(), 1, count * sizeof(int32_t)), cudaSuccess);
  const uint64_t zeros = 70'000'001;
  ASSERT_EQ(cudaMemset(samples.data() + 5, 0, zeros * sizeof(int32_t)), cudaSuccess);
  constexpr int64_t kOnes = 0x0101'0101;
  const auto plan =
      PlanHistogram(ArrayDescription::Vector(ElementType::kInt32, count),
                    SpecOf({EvenBinsSpec{4'194'304, 0, 4.0 * 4'194'304 + kOnes}}), 1 << 23);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto result =
      Count(*plan, {.samples = {samples.data(), count}}, {.method = HistogramMethod::kPartitions});
  ASSERT_TRUE(result.ok()) << result.status();
  std::vector<uint64_t> counts(4'194'304);
  counts[0] = zeros;
  counts.at(static_cast<size_t>(BinOf(kOnes, EdgesOf(result->bins[0])))) = count - zeros;
  EXPECT_TRUE(result->channels[0].counts == counts) << "counts differ";
}

}  // namespace
}  // namespace gridfold::kernels::cuda
