// Histograms with several channels, two dimensions and weights.
#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/histogram_oracle.h"
#include "kernels/conformance/histogram_specs.h"
#include "kernels/conformance/test_data.h"

namespace gridfold::kernels::conformance {
namespace {

class HistogramShapeTest : public EngineTest {
 protected:
  void Check(const HistogramArrays& arrays, HistogramSpec spec) {
    if (arrays.weights != nullptr) spec.weight_type = arrays.weights->type();
    spec.two_dimensional = arrays.y_samples != nullptr;
    CheckHistogram(arrays, spec,
                   engine().Histogram(*arrays.samples, spec, arrays.y_samples, arrays.weights));
  }
};

TEST_P(HistogramShapeTest, ChannelsThatShareBins) {
  for (const ElementType type : kAllTypes) {
    const SampleRange range = SampleRangeOf(type);
    for (const uint32_t channels : {1, 2, 3, 4, 7}) {
      for (const uint64_t pixels : {0, 1, 33, 5000}) {
        const TestArray samples =
            MakeUniform(type, pixels * channels, range.lower, range.upper, 121);
        for (const BinSpec& bins : {Even(100, range.lower + 5, range.upper - 5), AutomaticEven(12),
                                    UnevenEdges(300, range.lower, range.upper - 7)}) {
          HistogramSpec spec = SpecOfBins(bins);
          spec.channel_count = channels;
          if (pixels != 33) spec.quantiles = {0.1, 0.5};
          spec.sparse = pixels == 33;
          Check({.samples = &samples}, spec);
        }
      }
    }
  }
}

TEST_P(HistogramShapeTest, ChannelsWithBinsOfTheirOwn) {
  for (const ElementType type : kAllTypes) {
    const SampleRange range = SampleRangeOf(type);
    const TestArray samples = MakeUniform(type, 30'000, range.lower, range.upper, 122);
    HistogramSpec spec = SpecOfBins(Even(10, range.lower, range.upper));
    spec.bins.push_back(UnevenEdges(1000, range.lower, range.upper));
    spec.bins.push_back(AutomaticEven(77));
    spec.bins.push_back(LogarithmicBinsSpec{33, 1, 50});
    if (!IsFloatingPoint(type)) spec.bins[3] = IntegerBinsSpec{20, 60};
    spec.channel_count = 4;
    for (const OutOfRangePolicy policy : {OutOfRangePolicy::kDrop, OutOfRangePolicy::kClamp}) {
      spec.out_of_range_policy = policy;
      Check({.samples = &samples}, spec);
    }
  }
}

TEST_P(HistogramShapeTest, WideChannels) {
  const TestArray samples = MakeUniform(ElementType::kFloat32, 300'000, -1000, 1000, 123);
  for (const uint64_t n : {5000, 40'000, 300'000}) {
    HistogramSpec spec = SpecOfBins(Even(n, -900, 900));
    spec.channel_count = 3;
    Check({.samples = &samples}, spec);
  }
}

TEST_P(HistogramShapeTest, TwoDimensions) {
  for (const ElementType type : kAllTypes) {
    const SampleRange range = SampleRangeOf(type);
    for (const uint64_t size : {0, 1, 33, 20'001}) {
      const TestArray x = MakeUniform(type, size, range.lower, range.upper, 124);
      const TestArray y = MakeUniform(type, size, range.lower, range.upper, 125, 1);
      HistogramSpec spec = SpecOfBins(Even(30, range.lower + 20, range.upper - 20));
      Check({.samples = &x, .y_samples = &y}, spec);
      spec.bins.push_back(UnevenEdges(17, range.lower, range.upper - 11));
      spec.out_of_range_policy = OutOfRangePolicy::kClamp;
      Check({.samples = &x, .y_samples = &y}, spec);
      spec.bins = {AutomaticEven(5), AutomaticEven(9)};
      spec.sparse = true;
      Check({.samples = &x, .y_samples = &y}, spec);
    }
  }
}

TEST_P(HistogramShapeTest, TwoDimensionsWithNansAndInfinities) {
  for (const ElementType type :
       {ElementType::kFloat16, ElementType::kFloat32, ElementType::kFloat64}) {
    const TestArray x = MakeVector(type, 9000, DataKind::kSpecial, 126);
    const TestArray y = MakeVector(type, 9000, DataKind::kSpecial, 127);
    for (const OutOfRangePolicy policy : {OutOfRangePolicy::kDrop, OutOfRangePolicy::kClamp}) {
      HistogramSpec spec = SpecOfBins(Even(8, -2, 2));
      spec.bins.push_back(EdgeBinsSpec{{-HUGE_VAL, -1, 0, 10}});
      spec.out_of_range_policy = policy;
      Check({.samples = &x, .y_samples = &y}, spec);
    }
  }
}

TEST_P(HistogramShapeTest, WideTwoDimensions) {
  const TestArray x = MakeUniform(ElementType::kFloat32, 400'000, -10, 10, 128);
  const TestArray y = MakeUniform(ElementType::kFloat32, 400'000, -10, 10, 129);
  for (const uint64_t n : {128, 300, 1024}) {
    Check({.samples = &x, .y_samples = &y}, SpecOfBins(Even(n, -9, 9)));
  }
}

TEST_P(HistogramShapeTest, WeightsOfEveryType) {
  for (const ElementType type :
       {ElementType::kInt16, ElementType::kFloat32, ElementType::kFloat64}) {
    const SampleRange range = SampleRangeOf(type);
    const TestArray samples = MakeUniform(type, 40'003, range.lower, range.upper, 130);
    for (const ElementType weight_type : kAllTypes) {
      for (const DataKind kind : {DataKind::kSmall, DataKind::kWide}) {
        const TestArray weights = MakeVector(weight_type, samples.size(), kind, 131, 1);
        for (const uint64_t n : {5, 1000}) {
          HistogramSpec spec = SpecOfBins(Even(n, range.lower + 9, range.upper - 9));
          Check({.samples = &samples, .weights = &weights}, spec);
          spec.out_of_range_policy = OutOfRangePolicy::kClamp;
          spec.sparse = true;
          Check({.samples = &samples, .weights = &weights}, spec);
        }
      }
    }
  }
}

TEST_P(HistogramShapeTest, WeightsOfEverySampleType) {
  for (const ElementType type : kAllTypes) {
    const SampleRange range = SampleRangeOf(type);
    for (const uint64_t size : {0, 1, 31, 4097}) {
      const TestArray samples = MakeUniform(type, size, range.lower, range.upper, 132);
      const TestArray weights = MakeVector(ElementType::kFloat32, size, DataKind::kSmall, 133);
      Check({.samples = &samples, .weights = &weights},
            SpecOfBins(UnevenEdges(50, range.lower, range.upper)));
    }
  }
}

TEST_P(HistogramShapeTest, NansAndInfinitiesAmongWeights) {
  const TestArray samples = MakeUniform(ElementType::kFloat32, 64, 0, 8, 134);
  TestArray weights = MakeVector(ElementType::kFloat32, 64, DataKind::kSmall, 135);
  weights.Set(3, NAN);
  weights.Set(40, HUGE_VALL);
  weights.Set(50, -HUGE_VALL);
  Check({.samples = &samples, .weights = &weights}, SpecOfBins(Even(8, 0, 8)));
}

TEST_P(HistogramShapeTest, WeightedChannelsAndWeightedPairs) {
  const TestArray x = MakeUniform(ElementType::kInt32, 30'000, -100, 100, 136);
  const TestArray y = MakeUniform(ElementType::kInt32, 30'000, -100, 100, 137);
  const TestArray weights = MakeVector(ElementType::kInt8, 30'000, DataKind::kSmall, 138);
  HistogramSpec spec = SpecOfBins(Even(40, -90, 90));
  Check({.samples = &x, .y_samples = &y, .weights = &weights}, spec);
  spec.channel_count = 3;
  Check({.samples = &x, .weights = &weights}, spec);
}

TEST_P(HistogramShapeTest, WideWeightedHistograms) {
  const TestArray samples = MakeUniform(ElementType::kFloat32, 300'000, -1000, 1000, 139);
  const TestArray weights = MakeVector(ElementType::kUint8, 300'000, DataKind::kSmall, 140);
  for (const uint64_t n : {10'000, 30'000, 1'000'000}) {
    Check({.samples = &samples, .weights = &weights}, SpecOfBins(Even(n, -900, 900)));
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, HistogramShapeTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, HistogramShapeTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
