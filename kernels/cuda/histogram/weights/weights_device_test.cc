// Exact sums of weights on device spans, by every strategy that can hold them, in several passes
// over the bins and several launches over the samples.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "kernels/conformance/weight_oracle.h"
#include "kernels/cuda/histogram/histogram_device_test.h"

namespace gridfold::kernels::cuda {
namespace {

using conformance::CheckWeightState;
using conformance::ExpectedWeightSum;
using conformance::ExpectSameBits;
using conformance::ForEachWeightSum;
using conformance::WeightInBin;

// Any encodings: of floating-point types, numbers of every magnitude, NaN and infinities. The first
// tenth are 1, so that a warp adds many weights to the same digits.
template <class W>
std::vector<W> MakeWeights(uint64_t count) {
  std::mt19937_64 random(count);
  std::vector<W> weights(count);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t bits = random();
    std::memcpy(&weights[i], &bits, sizeof(W));
    const bool is_rare = random() % 1000 == 0;
    if (i < count / 10 || (IsNan(weights[i]) && !is_rare)) {
      if constexpr (HalfElement<W>) {
        weights[i] = W::FromDouble(1);
      } else {
        weights[i] = 1;
      }
    }
  }
  return weights;
}

template <class W>
class HistogramWeightsDeviceTest : public HistogramDeviceTest {
 protected:
  static constexpr ElementType kType = kElementTypeOf<W>;
  static constexpr uint64_t kSampleCount = 100'003;

  // Sums the weights of samples by integer bins, and expects exact sums and states.
  void Check(Distribution distribution, uint64_t bins, uint32_t channels,
             const HistogramOverrides& overrides) {
    Check(distribution, bins, channels, overrides,
          MakeWeights<W>(kSampleCount / channels * channels));
  }

  void Check(Distribution distribution, uint64_t bins, uint32_t channels,
             const HistogramOverrides& overrides, const std::vector<W>& weights) {
    const uint64_t count = weights.size();
    const auto x = MakeSamples<int32_t>(distribution, count, 0, static_cast<double>(bins));
    HistogramSpec spec = SpecOf({IntegerBinsSpec{0, bins}});
    spec.channel_count = channels;
    spec.weight_type = kType;
    for (const bool return_states : {false, true}) {
      spec.return_states = return_states;
      const auto plan = PlanHistogram(ArrayDescription::Vector(ElementType::kInt32, count), spec,
                                      uint64_t{1} << 30);
      ASSERT_TRUE(plan.ok()) << plan.status();
      const DeviceArray<int32_t> device_x{std::span(x), 1};
      const DeviceArray<W> device_weights{std::span(weights), 1};
      const auto result =
          Count(*plan, {{device_x.data(), count}, {}, {device_weights.data(), count}}, overrides);
      if (result.status().code() == absl::StatusCode::kFailedPrecondition) return;
      ASSERT_TRUE(result.ok()) << result.status();
      std::vector<WeightInBin> in_bins;
      for (uint64_t i = 0; i < count; ++i) {
        if (x[i] < 0 || static_cast<uint64_t>(x[i]) >= bins) continue;
        in_bins.push_back({i % channels * bins + x[i], ToLongDouble(weights[i])});
      }
      ExpectSums(*result, bins, in_bins, return_states);
    }
  }

  static void ExpectSums(const HistogramResult& result, uint64_t bins,
                         const std::vector<WeightInBin>& in_bins, bool return_states) {
    std::vector<double> expected(result.channels.size() * bins);
    ForEachWeightSum(in_bins, [&](uint64_t bin, const ExpectedWeightSum& sum) {
      expected[bin] = sum.Rounded();
      if (return_states && !HasFailure()) {
        CheckWeightState(result.weight_states, bin, kType, sum);
      }
    });
    for (uint64_t bin = 0; bin < expected.size() && !HasFailure(); ++bin) {
      ExpectSameBits(result.channels[bin / bins].weight_sums[bin % bins], expected[bin], bin);
    }
    int64_t outside = static_cast<int64_t>(
        kSampleCount / result.channels.size() * result.channels.size() - in_bins.size());
    for (const HistogramCounts& channel : result.channels) {
      outside -= static_cast<int64_t>(channel.underflow_count + channel.overflow_count);
    }
    EXPECT_EQ(outside, 0);
  }
};

using WeightTypes = ::testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                                     uint64_t, Float16, Bfloat16, float, double>;
TYPED_TEST_SUITE(HistogramWeightsDeviceTest, WeightTypes);

constexpr HistogramMethod kWeightMethods[] = {HistogramMethod::kShared, HistogramMethod::kParts,
                                              HistogramMethod::kPartitions,
                                              HistogramMethod::kGlobal};

TYPED_TEST(HistogramWeightsDeviceTest, EveryStrategy) {
  for (const HistogramMethod method : kWeightMethods) {
    for (const Distribution distribution : kDistributions) {
      // Several copies, one copy, and more than shared memory holds.
      for (const uint64_t bins : {5, 400, 2500, 30'000}) {
        SCOPED_TRACE(testing::Message()
                     << HistogramMethodName(method) << ", " << bins << " bins, distribution "
                     << static_cast<int>(distribution));
        this->Check(distribution, bins, 1, {.method = method});
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(HistogramWeightsDeviceTest, FlushesAndLaunches) {
  for (const HistogramMethod method : kWeightMethods) {
    this->Check(Distribution::kSkewed, 200, 1, {.method = method, .samples_per_flush = 5000});
    this->Check(Distribution::kSkewed, 200, 3, {.method = method, .samples_per_launch = 7000});
  }
}

TYPED_TEST(HistogramWeightsDeviceTest, SeveralPasses) {
  for (const HistogramMethod method : kWeightMethods) {
    for (const uint32_t channels : {1, 2}) {
      // From a few bins at once down to a single one.
      for (const uint64_t bytes : {20'000, 1}) {
        this->Check(Distribution::kUniform, 40, channels,
                    {.method = method, .weight_bytes_max = bytes});
      }
    }
  }
}

TYPED_TEST(HistogramWeightsDeviceTest, PassesAndLaunchesOfPartitions) {
  for (const Distribution distribution : kDistributions) {
    this->Check(distribution, 9000, 1,
                {.method = HistogramMethod::kPartitions,
                 .samples_per_launch = 40'000,
                 .weight_bytes_max = 1'000'000});
  }
}

// Of which most fit a window (numerics/sums/weight_window.h), or some, or none.
constexpr int kWindowWeightKinds = 12;
template <class W>
std::vector<W> WindowWeights(int kind, uint64_t count) {
  using Limits = std::numeric_limits<W>;
  constexpr W kMax = Limits::max();
  constexpr W kLeast = Limits::denorm_min();
  constexpr int kLeastExponent = Limits::min_exponent - Limits::digits;
  std::mt19937_64 random(kind);
  std::vector<W> weights(count);
  for (uint64_t i = 0; i < count; ++i) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    switch (kind) {
      case 0: weights[i] = static_cast<W>(u); break;
      case 1: weights[i] = static_cast<W>(u * u * u * u * u * u); break;
      case 2: weights[i] = static_cast<W>(std::ldexp(u - 0.5, -static_cast<int>(i % 50))); break;
      case 3: weights[i] = static_cast<W>((u - 0.5) * 100) * Limits::min(); break;
      case 4: weights[i] = static_cast<W>(1.75 * u - 0.875) * kMax; break;
      // Every power of two, subnormal numbers alone, and sums that are about 0 again and again.
      case 5:
        weights[i] = std::ldexp(
            u < 0.5 ? W{-1} : W{1},
            static_cast<int>(random() % (Limits::max_exponent - kLeastExponent)) + kLeastExponent);
        break;
      case 6: weights[i] = static_cast<W>(std::ldexp(u - 0.5, Limits::digits)) * kLeast; break;
      case 7: weights[i] = static_cast<W>(i % 2 == 0 ? 3.25e-3 : -3.25e-3); break;
      case 8: weights[i] = i % 2 == 0 ? kMax : -kLeast; break;
      // All bits set, and what is rarely anything but 0.
      case 9: weights[i] = std::ldexp(W{1}, Limits::digits) - 1; break;
      case 10:
        weights[i] = i % 5000 == 4999 ? (i % 3 == 0 ? Limits::infinity() : W{-1.5}) : W{0};
        break;
      default: weights[i] = i % 1000 == 7 ? W{-1e9} : i % 3 == 0 ? W{-0.0} : W{0.75}; break;
    }
  }
  return weights;
}

template <class W>
class HistogramFloatWeightsDeviceTest : public HistogramWeightsDeviceTest<W> {};
using FloatWeightTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(HistogramFloatWeightsDeviceTest, FloatWeightTypes);

TYPED_TEST(HistogramFloatWeightsDeviceTest, WindowsOfAnyWeights) {
  for (int kind = 0; kind < kWindowWeightKinds; ++kind) {
    for (const Distribution distribution : kDistributions) {
      for (const uint64_t bins : {3, 1000, 16'384}) {
        SCOPED_TRACE(testing::Message()
                     << "weights " << kind << ", " << bins << " bins, distribution "
                     << static_cast<int>(distribution));
        for (const HistogramMethod method :
             {HistogramMethod::kShared, HistogramMethod::kParts, HistogramMethod::kPartitions}) {
          this->Check(distribution, bins, 1, {.method = method},
                      WindowWeights<TypeParam>(kind, this->kSampleCount));
          if (this->HasFailure()) return;
        }
      }
    }
  }
}

// So many that blocks add up their sums more than once: 2^23 samples is as many as one takes.
template <class W>
class HistogramEqualWeightsDeviceTest : public HistogramDeviceTest {};
using EqualWeightTypes =
    ::testing::Types<float, double, uint8_t, int8_t, uint16_t, int32_t, uint32_t>;
TYPED_TEST_SUITE(HistogramEqualWeightsDeviceTest, EqualWeightTypes);

TYPED_TEST(HistogramEqualWeightsDeviceTest, OfOneBin) {
  using W = TypeParam;
  constexpr uint64_t kCount = (uint64_t{1} << 31) + 1234;
  if (this->FreeBytes() < kCount * (sizeof(uint32_t) + sizeof(W)) + (uint64_t{1} << 30)) {
    GTEST_SKIP() << "not enough device memory";
  }
  const DeviceArray<int32_t> samples(kCount);
  const DeviceArray<W> weights(kCount);
  ASSERT_EQ(cudaMemset(samples.data(), 0, kCount * sizeof(int32_t)), cudaSuccess);
  // All bits set, but for NaN; and so negative numbers of signed types.
  for (const int byte : {0x7F, 0xFE, 0x01}) {
    if (std::is_floating_point_v<W> && byte == 0x7F) continue;
    W weight;
    std::memset(&weight, byte, sizeof(W));
    ASSERT_EQ(cudaMemset(weights.data(), byte, kCount * sizeof(W)), cudaSuccess);
    for (const uint64_t bins : {3, 1500, sizeof(W) == 8 ? 8000 : 16'384}) {
      HistogramSpec spec = SpecOf({IntegerBinsSpec{0, bins}});
      spec.weight_type = kElementTypeOf<W>;
      const auto plan =
          PlanHistogram(ArrayDescription::Vector(ElementType::kInt32, kCount), spec, bins);
      ASSERT_TRUE(plan.ok()) << plan.status();
      const auto result =
          this->Count(*plan, {{samples.data(), kCount}, {}, {weights.data(), kCount}},
                      {.method = HistogramMethod::kShared});
      ASSERT_TRUE(result.ok()) << result.status();
      // Both factors are exact, so that this is rounded once, too.
      const double sum = static_cast<double>(weight) * static_cast<double>(kCount);
      EXPECT_EQ(result->channels[0].weight_sums[0], sum) << bins;
      EXPECT_EQ(result->channels[0].weight_sums[1], 0) << bins;
    }
  }
}

TEST_F(HistogramDeviceTest, AFullDigitIsCarriedBetweenLaunches) {
  // Enough weights with all bits set for a digit of 64 bits to overflow, were it not carried.
  const uint64_t count = (uint64_t{1} << 32) + 12'345;
  if (FreeBytes() < count * (sizeof(uint32_t) + 1) + (uint64_t{1} << 30)) {
    GTEST_SKIP() << "not enough device memory";
  }
  const DeviceArray<uint8_t> samples(count);
  const DeviceArray<uint32_t> weights(count);
  ASSERT_EQ(cudaMemset(samples.data(), 1, count), cudaSuccess);
  ASSERT_EQ(cudaMemset(weights.data(), 0xFF, count * sizeof(uint32_t)), cudaSuccess);
  for (const ElementType type : {ElementType::kUint32, ElementType::kInt32}) {
    HistogramSpec spec = SpecOf({IntegerBinsSpec{0, 3}});
    spec.weight_type = type;
    spec.return_states = true;
    const auto plan = PlanHistogram(ArrayDescription::Vector(ElementType::kUint8, count), spec, 3);
    ASSERT_TRUE(plan.ok()) << plan.status();
    const Int128 expected =
        Int128{count} * (type == ElementType::kUint32 ? int64_t{0xFFFF'FFFF} : int64_t{-1});
    for (const HistogramMethod method : {HistogramMethod::kShared, HistogramMethod::kGlobal}) {
      const auto result =
          Count(*plan, {{samples.data(), count}, {}, {weights.data(), count}}, {.method = method});
      ASSERT_TRUE(result.ok()) << result.status();
      EXPECT_TRUE(std::get<std::vector<Int128>>(result->weight_states) ==
                  (std::vector<Int128>{0, expected, 0}));
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
