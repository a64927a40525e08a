// Sums of weights are exact and rounded once: over the whole range of every type, where they cancel
// or pass the largest number on the way, with NaN and infinities, and in any order.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/element_codec.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/histogram_oracle.h"
#include "kernels/conformance/histogram_specs.h"
#include "kernels/conformance/test_data.h"

namespace gridfold::kernels::conformance {
namespace {

// Bins for samples between 0 and 100: few for private sums in many copies, one copy of them, and
// more than any private memory holds.
constexpr uint64_t kBinCounts[] = {1, 6, 400, 2000, 20'000};

TestArray MakeSamples(uint64_t size, uint64_t seed) {
  return MakeUniform(ElementType::kFloat32, size, 0, 101, seed);
}

// Any finite number of the type, every encoding as likely as any other.
TestArray MakeFiniteBits(ElementType type, uint64_t size, uint64_t seed) {
  TestArray array(ArrayDescription::Vector(type, size));
  std::mt19937_64 random(seed);
  for (uint64_t i = 0; i < size; ++i) {
    long double x = NAN;
    while (!std::isfinite(x)) {
      const uint64_t bits = random();
      std::byte bytes[sizeof(bits)];
      std::memcpy(bytes, &bits, sizeof(bits));
      x = ReadElement(type, bytes);
    }
    array.Set(i, x);
  }
  return array;
}

TestArray Selected(const TestArray& array, const std::vector<uint64_t>& indices) {
  TestArray selected(ArrayDescription::Vector(array.type(), indices.size()));
  for (uint64_t i = 0; i < indices.size(); ++i) selected.Set(i, array[indices[i]]);
  return selected;
}

class HistogramWeightsTest : public EngineTest {
 protected:
  absl::StatusOr<HistogramResult> Run(const TestArray& samples, const TestArray& weights,
                                      HistogramSpec spec) {
    spec.weight_type = weights.type();
    return engine().Histogram(samples, spec, nullptr, &weights);
  }

  void Check(const HistogramArrays& arrays, HistogramSpec spec) {
    spec.weight_type = arrays.weights->type();
    spec.two_dimensional = arrays.y_samples != nullptr;
    for (const bool return_states : {false, true}) {
      spec.return_states = return_states;
      CheckHistogram(arrays, spec,
                     engine().Histogram(*arrays.samples, spec, arrays.y_samples, arrays.weights));
    }
  }

  // Of bins from one to many.
  void CheckAll(const TestArray& samples, const TestArray& weights) {
    for (const uint64_t bin_count : kBinCounts) {
      SCOPED_TRACE(testing::Message()
                   << bin_count << " bins, weights " << ElementTypeName(weights.type()));
      HistogramSpec spec = SpecOfBins(Even(bin_count, 0, 100));
      Check({.samples = &samples, .weights = &weights}, spec);
      spec.sparse = true;
      Check({.samples = &samples, .weights = &weights}, spec);
      if (HasFailure()) return;
    }
  }
};

TEST_P(HistogramWeightsTest, TheWholeRangeOfEveryType) {
  const TestArray samples = MakeSamples(50'021, 401);
  for (const ElementType type : kAllTypes) {
    CheckAll(samples, MakeFiniteBits(type, samples.size(), 402));
  }
}

TEST_P(HistogramWeightsTest, SpecialNumbersOfEveryType) {
  const TestArray samples = MakeSamples(9001, 403);
  for (const ElementType type : kAllTypes) {
    CheckAll(samples, MakeVector(type, samples.size(), DataKind::kSpecial, 404, 3));
  }
}

TEST_P(HistogramWeightsTest, WeightsThatCancel) {
  for (const ElementType type : kAllTypes) {
    if (IsUnsigned(type)) continue;
    // Every number and its negative in the same bin, and one small number more in some.
    TestArray weights = MakeFiniteBits(type, 40'000, 405);
    TestArray samples = MakeSamples(40'000, 406);
    const long double least = SmallestElement(type);
    for (uint64_t i = 0; i < samples.size(); i += 2) {
      if (!IsFloatingPoint(type) && weights[i] == least) weights.Set(i, 0);
      weights.Set(i + 1, -weights[i]);
      samples.Set(i + 1, samples[i]);
    }
    CheckAll(samples, weights);
    weights.Set(17, IsFloatingPoint(type) ? DecodeFloat(FloatFormatOf(type), 1) : 1);
    CheckAll(samples, weights);
  }
}

TEST_P(HistogramWeightsTest, SumsThatPassTheLargestNumberOnTheWay) {
  constexpr double kMax = std::numeric_limits<double>::max();
  const TestArray weights =
      TestArray::Vector(ElementType::kFloat64, {kMax, kMax, 1, -kMax, kMax, kMax, -kMax, 0x1p969});
  const TestArray samples = TestArray::Vector(ElementType::kUint8, {0, 0, 0, 0, 1, 1, 2, 2});
  const auto result = Run(samples, weights, SpecOfBins(IntegerBinsSpec{0, 3}));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->channels[0].weight_sums, (std::vector<double>{kMax, HUGE_VAL, -kMax}));
}

TEST_P(HistogramWeightsTest, AHalfIsRoundedByWhatLiesFarBelow) {
  const TestArray weights = TestArray::Vector(
      ElementType::kFloat64, {1, 0x1p-53, 1, 0x1p-53, 0x1p-1074, 1, 0x1p-53, -0x1p-1074});
  const TestArray samples = TestArray::Vector(ElementType::kUint8, {0, 0, 1, 1, 1, 2, 2, 2});
  const auto result = Run(samples, weights, SpecOfBins(IntegerBinsSpec{0, 3}));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->channels[0].weight_sums, (std::vector<double>{1, 1 + 0x1p-52, 1}));
}

TEST_P(HistogramWeightsTest, ZerosHaveNoSign) {
  const TestArray weights = TestArray::Vector(ElementType::kFloat32, {-0.0L, -0.0L, 0, -0.0L});
  const TestArray samples = TestArray::Vector(ElementType::kUint8, {0, 0, 1, 1});
  HistogramSpec spec = SpecOfBins(IntegerBinsSpec{0, 3});
  const auto result = Run(samples, weights, spec);
  ASSERT_TRUE(result.ok()) << result.status();
  for (const double sum : result->channels[0].weight_sums) {
    EXPECT_EQ(sum, 0);
    EXPECT_FALSE(std::signbit(sum));
  }
  Check({.samples = &samples, .weights = &weights}, spec);
}

TEST_P(HistogramWeightsTest, ChannelsAndTwoDimensions) {
  const TestArray x = MakeUniform(ElementType::kInt32, 30'000, -100, 100, 407);
  const TestArray y = MakeUniform(ElementType::kInt32, 30'000, -100, 100, 408);
  for (const ElementType type :
       {ElementType::kUint64, ElementType::kBfloat16, ElementType::kFloat64}) {
    const TestArray weights = MakeVector(type, 30'000, DataKind::kSpecial, 409);
    for (const bool sparse : {false, true}) {
      HistogramSpec spec = SpecOfBins(Even(40, -90, 90));
      spec.sparse = sparse;
      Check({.samples = &x, .y_samples = &y, .weights = &weights}, spec);
      spec.channel_count = 3;
      spec.bins = {Even(40, -90, 90), AutomaticEven(7), UnevenEdges(1000, -100, 50)};
      Check({.samples = &x, .weights = &weights}, spec);
    }
  }
}

// More bins than there is memory for sums of weights at once.
TEST_P(HistogramWeightsTest, MoreBinsThanArePassedAtOnce) {
  const TestArray samples = MakeSamples(100'003, 410);
  for (const ElementType type :
       {ElementType::kInt64, ElementType::kFloat32, ElementType::kFloat64}) {
    const TestArray weights = MakeFiniteBits(type, samples.size(), 411);
    Check({.samples = &samples, .weights = &weights}, SpecOfBins(Even(1'500'000, 0, 100)));
  }
}

TEST_P(HistogramWeightsTest, AllSamplesInOneBin) {
  const TestArray samples = MakeUniform(ElementType::kUint8, 1'000'003, 7, 7, 412);
  for (const ElementType type :
       {ElementType::kInt8, ElementType::kFloat16, ElementType::kFloat64}) {
    const TestArray weights = MakeVector(type, samples.size(), DataKind::kWide, 413);
    for (const uint64_t bin_count : {10, 30'000}) {
      Check({.samples = &samples, .weights = &weights}, SpecOfBins(Even(bin_count, 0, 100)));
    }
  }
}

TEST_P(HistogramWeightsTest, NoSamples) {
  const TestArray none(ArrayDescription::Vector(ElementType::kFloat32, 0));
  for (const ElementType type : {ElementType::kInt8, ElementType::kFloat64}) {
    CheckAll(none, TestArray(ArrayDescription::Vector(type, 0)));
  }
}

TEST_P(HistogramWeightsTest, AnyOrderGivesTheSameBits) {
  const TestArray samples = MakeSamples(60'013, 414);
  std::vector<uint64_t> order(samples.size());
  for (uint64_t i = 0; i < order.size(); ++i) order[i] = i;
  for (const ElementType type :
       {ElementType::kFloat16, ElementType::kFloat32, ElementType::kFloat64}) {
    const TestArray weights = MakeVector(type, samples.size(), DataKind::kSpecial, 415);
    for (const uint64_t bin_count : {5, 700, 50'000}) {
      HistogramSpec spec = SpecOfBins(Even(bin_count, 0, 100));
      spec.return_states = true;
      const auto expected = Run(samples, weights, spec);
      std::shuffle(order.begin(), order.end(), std::mt19937_64(bin_count));
      const auto result = Run(Selected(samples, order), Selected(weights, order), spec);
      ASSERT_TRUE(result.ok() && expected.ok()) << result.status() << expected.status();
      EXPECT_TRUE(result->weight_states == expected->weight_states);
      const std::vector<double>& sums = result->channels[0].weight_sums;
      for (size_t b = 0; b < sums.size(); ++b) {
        ASSERT_EQ(std::bit_cast<uint64_t>(sums[b]),
                  std::bit_cast<uint64_t>(expected->channels[0].weight_sums[b]));
      }
    }
  }
}

TEST_P(HistogramWeightsTest, StatesOfPartsMergeToThatOfTheWhole) {
  const TestArray samples = MakeSamples(20'000, 416);
  const TestArray weights = MakeVector(ElementType::kFloat32, 20'000, DataKind::kSpecial, 417);
  HistogramSpec spec = SpecOfBins(Even(300, 0, 100));
  spec.return_states = true;
  const auto whole = Run(samples, weights, spec);
  ASSERT_TRUE(whole.ok()) << whole.status();
  std::vector<kernels::ExactSum<float, 1>> merged(300);
  for (const uint64_t remainder : {0, 1, 2}) {
    std::vector<uint64_t> part;
    for (uint64_t i = remainder; i < samples.size(); i += 3) part.push_back(i);
    const TestArray part_samples = Selected(samples, part);
    const TestArray part_weights = Selected(weights, part);
    const auto result = Run(part_samples, part_weights, spec);
    ASSERT_TRUE(result.ok()) << result.status();
    const auto& states = std::get<1>(result->weight_states);
    for (size_t b = 0; b < merged.size(); ++b) merged[b].Merge(states[b]);
  }
  EXPECT_TRUE(merged == std::get<1>(whole->weight_states));
}

TEST_P(HistogramWeightsTest, CountsHaveNoStates) {
  const TestArray samples = MakeSamples(100, 418);
  HistogramSpec spec = SpecOfBins(Even(10, 0, 100));
  spec.return_states = true;
  CheckHistogram({.samples = &samples}, spec, engine().Histogram(samples, spec));
}

INSTANTIATE_TEST_SUITE_P(Cpu, HistogramWeightsTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, HistogramWeightsTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
