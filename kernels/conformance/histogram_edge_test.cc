// Histograms of samples at and beside the edges of bins, and automatic ranges.
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/element_codec.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/histogram_oracle.h"
#include "kernels/conformance/histogram_specs.h"
#include "kernels/conformance/test_data.h"

namespace gridfold::kernels::conformance {
namespace {

constexpr ElementType kFloatTypes[] = {ElementType::kFloat16, ElementType::kBfloat16,
                                       ElementType::kFloat32, ElementType::kFloat64};

class HistogramEdgeTest : public EngineTest {
 protected:
  void Check(const TestArray& samples, const HistogramSpec& spec) {
    CheckHistogram({.samples = &samples}, spec, engine().Histogram(samples, spec));
  }
};

// The value of a floating-point type `steps` encodings away from the one nearest to x > 0.
long double Neighbour(ElementType type, double x, int steps) {
  const FloatFormat format = FloatFormatOf(type);
  return DecodeFloat(format, EncodeFloat(format, x) + static_cast<uint64_t>(int64_t{steps}));
}

TEST_P(HistogramEdgeTest, LargestValueBelowTheUpperBoundForEveryBinCount) {
  struct Bounds {
    double lower;
    double upper;
  };
  for (const ElementType type : kFloatTypes) {
    for (const Bounds& bounds : {Bounds{-1, 1}, {0, 100}}) {
      const TestArray samples =
          TestArray::Vector(type, {Neighbour(type, bounds.upper, -1), bounds.upper,
                                   Neighbour(type, bounds.upper, 1), bounds.lower});
      for (uint64_t n = 1; n <= 4096; ++n) {
        const HistogramSpec spec = SpecOfBins(Even(n, bounds.lower, bounds.upper));
        const auto result = engine().Histogram(samples, spec);
        CheckHistogram({.samples = &samples}, spec, result);
        if (ElementSize(type) < 4) continue;
        ASSERT_TRUE(result.ok());
        ASSERT_EQ(result->channels[0].counts.back(), n == 1 ? 3u : 2u) << n << " bins";
      }
    }
  }
}

// Every edge of some bins, and the values of the type beside it.
TestArray SamplesAroundEdges(ElementType type, const std::vector<double>& edges) {
  std::vector<long double> samples;
  const long double least = SmallestElement(type);
  const long double most = LargestElement(type);
  for (const double edge : edges) {
    for (int step = -2; step <= 2; ++step) {
      long double x = std::floor(static_cast<long double>(edge)) + step;
      if (IsFloatingPoint(type)) x = std::copysign(Neighbour(type, std::fabs(edge), step), edge);
      if (std::isnan(x) || (x >= least && x <= most)) samples.push_back(x);
    }
  }
  return TestArray::Vector(type, samples);
}

TEST_P(HistogramEdgeTest, SamplesAtAndBesideEveryEdge) {
  for (const ElementType type : kAllTypes) {
    const TestArray none(ArrayDescription::Vector(type, 0));
    for (const BinSpec& bins :
         {Even(10, -1, 1), Even(100, 0, 100), Even(4096, -1, 1), Even(777, 0.1, 0.3),
          Even(365, -1e6, 3.7e5), UnevenEdges(500, -3, 120),
          BinSpec(LogarithmicBinsSpec{300, 1e-3, 1e6})}) {
      const std::vector<double> edges = ExpectBins(bins, none, 0, 1).edges;
      Check(SamplesAroundEdges(type, edges), SpecOfBins(bins));
    }
  }
}

TEST_P(HistogramEdgeTest, IntegersThatADoubleDoesNotHold) {
  for (const ElementType type : {ElementType::kInt64, ElementType::kUint64}) {
    const TestArray none(ArrayDescription::Vector(type, 0));
    for (const BinSpec& bins :
         {Even(64, -0x1p63, 0x1p63), Even(1000, 0, 0x1p64), Even(777, 0x1p53, 0x1p53 + 0x1p20),
          Even(33, 0x1p62, 0x1p62 + 0x1p27), UnevenEdges(100, 0x1p54, 0x1p63)}) {
      const std::vector<double> edges = ExpectBins(bins, none, 0, 1).edges;
      Check(SamplesAroundEdges(type, edges), SpecOfBins(bins));
    }
  }
}

TEST_P(HistogramEdgeTest, FullRangeOfSmallIntegers) {
  for (const ElementType type :
       {ElementType::kInt8, ElementType::kUint8, ElementType::kInt16, ElementType::kUint16}) {
    const auto least = static_cast<double>(SmallestElement(type));
    const auto most = static_cast<double>(LargestElement(type));
    std::vector<long double> all;
    for (long double x = least; x <= most; ++x) all.push_back(x);
    const TestArray samples = TestArray::Vector(type, all);
    const uint64_t values = all.size();
    for (const BinSpec& bins :
         {Even(values, least, most + 1), Even(values - 1, least, most), Even(100, least, most),
          AutomaticEven(values), BinSpec(IntegerBinsSpec{static_cast<int64_t>(least), values}),
          BinSpec(IntegerBinsSpec{static_cast<int64_t>(least) + 3, values / 2})}) {
      Check(samples, SpecOfBins(bins));
    }
  }
}

TEST_P(HistogramEdgeTest, MoreBinsThanFloat16HasNumbersInABinade) {
  std::vector<long double> all;
  for (uint64_t bits = 0; bits < 0x10000; ++bits) all.push_back(DecodeFloat({10, 5}, bits));
  const TestArray samples = TestArray::Vector(ElementType::kFloat16, all);
  for (const uint64_t n : {2048, 2049, 4096, 65'536}) {
    Check(samples, SpecOfBins(Even(n, -8, 8)));
    Check(samples, SpecOfBins(Even(n, -65'504, 65'504)));
  }
}

TEST_P(HistogramEdgeTest, IntegerBinsAtTheEndsOf64Bits) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  for (const ElementType type : kAllTypes) {
    if (IsFloatingPoint(type)) continue;
    const long double least = SmallestElement(type);
    const long double most = LargestElement(type);
    std::vector<long double> samples = {least, least + 1, least + 5, most, most - 1, 0, 1, 100};
    if (type == ElementType::kUint64) {
      samples.insert(samples.end(), {0x1p63L, 0x1p63L - 1, 0x1p63L + 1});
    }
    for (const auto& [first, count] : std::vector<std::pair<int64_t, uint64_t>>{{kMin, 10},
                                                                                {kMin, 1'000'000},
                                                                                {kMax - 9, 10},
                                                                                {kMax, 1},
                                                                                {-5, 10},
                                                                                {-300, 301},
                                                                                {0, 256}}) {
      for (const OutOfRangePolicy policy : {OutOfRangePolicy::kDrop, OutOfRangePolicy::kClamp}) {
        HistogramSpec spec = SpecOfBins(IntegerBinsSpec{first, count});
        spec.out_of_range_policy = policy;
        Check(TestArray::Vector(type, samples), spec);
      }
    }
  }
}

TEST_P(HistogramEdgeTest, IntegerBinsBeyondInt64) {
  const uint64_t last = std::numeric_limits<uint64_t>::max();
  const uint64_t half = uint64_t{1} << 63;
  for (const ElementType type :
       {ElementType::kUint8, ElementType::kUint16, ElementType::kUint32, ElementType::kUint64}) {
    const long double most = LargestElement(type);
    std::vector<long double> samples;
    for (const long double x : {0.0L, 1.0L, 100.0L, most, most - 1, most - 9, 0x1p63L, 0x1p63L - 1,
                                0x1p63L + 1, 0x1p63L + 70'000}) {
      if (x <= most) samples.push_back(x);
    }
    for (const auto& [first, count] : std::vector<std::pair<uint64_t, uint64_t>>{
             {half, 10}, {half + 1, 1}, {last - 9, 10}, {last, 1}, {half - 5, 100'000}, {7, 300}}) {
      for (const OutOfRangePolicy policy : {OutOfRangePolicy::kDrop, OutOfRangePolicy::kClamp}) {
        HistogramSpec spec = SpecOfBins(IntegerBinsSpec{0, count, first});
        spec.out_of_range_policy = policy;
        Check(TestArray::Vector(type, samples), spec);
      }
    }
    // From below 2^63 on, in the form that every type has.
    Check(TestArray::Vector(type, samples),
          SpecOfBins(IntegerBinsSpec{std::numeric_limits<int64_t>::max() - 2, 100'000}));
  }
}

TEST_P(HistogramEdgeTest, AutomaticRangeHoldsEveryFiniteSample) {
  for (const ElementType type : kAllTypes) {
    for (const uint64_t size : {1, 2, 100, 70'001}) {
      for (const DataKind kind : {DataKind::kSmall, DataKind::kWide, DataKind::kSpecial}) {
        const TestArray samples = MakeVector(type, size, kind, size + 111);
        for (const uint64_t n : {1, 10, 1000}) {
          const HistogramSpec spec = SpecOfBins(AutomaticEven(n));
          const auto result = engine().Histogram(samples, spec);
          CheckHistogram({.samples = &samples}, spec, result);
          if (!result.ok() || kind == DataKind::kSpecial) continue;
          EXPECT_EQ(result->channels[0].underflow_count + result->channels[0].overflow_count, 0u);
        }
      }
    }
  }
}

TEST_P(HistogramEdgeTest, AutomaticRangeOfEqualSamplesAndOfNone) {
  for (const ElementType type : kAllTypes) {
    Check(TestArray(ArrayDescription::Vector(type, 0)), SpecOfBins(AutomaticEven(10)));
    for (const long double x : {0.0L, 7.0L, 100.0L}) {
      Check(TestArray::Vector(type, std::vector<long double>(1000, x)),
            SpecOfBins(AutomaticEven(8)));
    }
    if (!IsFloatingPoint(type)) continue;
    Check(TestArray::Vector(type, {NAN, NAN}), SpecOfBins(AutomaticEven(4)));
    Check(TestArray::Vector(type, {HUGE_VALL, -HUGE_VALL, NAN}), SpecOfBins(AutomaticEven(4)));
    Check(TestArray::Vector(type, {NAN, 3, HUGE_VALL, -2, -HUGE_VALL, 3}),
          SpecOfBins(AutomaticEven(5)));
  }
}

TEST_P(HistogramEdgeTest, AutomaticRangeOfIntegersThatADoubleDoesNotHold) {
  const long double most = LargestElement(ElementType::kUint64);
  for (const std::vector<long double>& samples :
       std::vector<std::vector<long double>>{{most, most - 5000},
                                             {0x1p53L + 1, 0x1p53L + 4001},
                                             {0x1p62L - 1, 0x1p62L + 90'001},
                                             {most, 0}}) {
    Check(TestArray::Vector(ElementType::kUint64, samples), SpecOfBins(AutomaticEven(3)));
  }
  Check(TestArray::Vector(ElementType::kInt64, {-0x1p62L - 1, 0x1p62L + 1}),
        SpecOfBins(AutomaticEven(9)));
}

// Samples so near to each other that float64 has no room for edges between them, or so far apart
// that it does not hold their distance: every one is in a bin all the same.
void ExpectAllInBins(const absl::StatusOr<HistogramResult>& result, uint64_t samples) {
  ASSERT_TRUE(result.ok()) << result.status();
  for (const HistogramCounts& channel : result->channels) {
    EXPECT_EQ(channel.underflow_count + channel.overflow_count, 0u);
    EXPECT_EQ(std::accumulate(channel.counts.begin(), channel.counts.end(), uint64_t{0}), samples);
  }
}

// The values of a type at which half a unit is lost, or all there are.
std::vector<long double> ValuesWithoutHalves(ElementType type) {
  const long double most = LargestElement(type);
  const long double least = SmallestElement(type);
  std::vector<long double> values;
  for (const long double x :
       {0.0L, 1.0L, 0x1p53L, 1e15L, 1e16L, 1.7e18L, 0x1p63L, most, most - 1, 0x1p-149L, 1e-320L}) {
    for (const long double y : {x, -x}) {
      if (y >= least && y <= most && (IsFloatingPoint(type) || y == std::floor(y))) {
        values.push_back(y);
      }
    }
  }
  values.push_back(least);
  return values;
}

TEST_P(HistogramEdgeTest, AutomaticRangeOfEqualSamplesOfAnySize) {
  for (const ElementType type : kAllTypes) {
    for (const long double x : ValuesWithoutHalves(type)) {
      const TestArray samples = TestArray::Vector(type, std::vector<long double>(12, x));
      for (const uint64_t n : {1, 2, 10, 1000, 70'000}) {
        const HistogramSpec spec = SpecOfBins(AutomaticEven(n));
        const auto result = engine().Histogram(samples, spec);
        CheckHistogram({.samples = &samples}, spec, result);
        ExpectAllInBins(result, 12);
      }
      HistogramSpec spec = SpecOfBins(AutomaticEven(10));
      spec.channel_count = 3;
      ExpectAllInBins(engine().Histogram(samples, spec), 4);
      spec.channel_count = 1;
      spec.two_dimensional = true;
      ExpectAllInBins(engine().Histogram(samples, spec, &samples), 12);
      if (HasFailure()) FAIL() << "of " << static_cast<double>(x);
    }
  }
}

TEST_P(HistogramEdgeTest, AutomaticRangeOfNeighbours) {
  for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat64}) {
    for (const double x : {1.0, 1e16, 1e-30}) {
      const TestArray samples = TestArray::Vector(
          type, {Neighbour(type, x, 0), Neighbour(type, x, 1), Neighbour(type, x, 2)});
      for (const uint64_t n : {1, 2, 3, 10, 100'000}) {
        const HistogramSpec spec = SpecOfBins(AutomaticEven(n));
        const auto result = engine().Histogram(samples, spec);
        CheckHistogram({.samples = &samples}, spec, result);
        ExpectAllInBins(result, 3);
      }
    }
  }
  const long double most = LargestElement(ElementType::kUint64);
  for (const uint64_t n : {1, 10, 1000}) {
    Check(TestArray::Vector(ElementType::kUint64, {most, most - 1, most - 3}),
          SpecOfBins(AutomaticEven(n)));
  }
}

TEST_P(HistogramEdgeTest, RangesThatOverflow) {
  const double most = std::numeric_limits<double>::max();
  const TestArray samples =
      TestArray::Vector(ElementType::kFloat64, {-most, most, 0, 1, -1, -1e308L, 1e308L, 5e307L,
                                                1.6e308L, -1.6e308L, NAN, HUGE_VALL, -HUGE_VALL});
  for (const uint64_t n : {1, 2, 3, 10, 1000, 70'000, 300'000}) {
    Check(samples, SpecOfBins(AutomaticEven(n)));
    for (const double bound : {1e308, most}) Check(samples, SpecOfBins(Even(n, -bound, bound)));
    Check(samples, SpecOfBins(Even(n, -most, 1)));
  }
  const TestArray many = MakeVector(ElementType::kFloat64, 70'001, DataKind::kWide, 5);
  Check(many, SpecOfBins(Even(100, -1e308, 1e308)));
  const TestArray floats = MakeVector(ElementType::kFloat32, 3001, DataKind::kWide, 6);
  Check(floats, SpecOfBins(Even(100, -1e308, 1e308)));
}

INSTANTIATE_TEST_SUITE_P(Cpu, HistogramEdgeTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, HistogramEdgeTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
