// Histograms of one channel: every bin kind, type and size, ranges, policies, sparse answers and
// quantiles.
#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/element_codec.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/histogram_oracle.h"
#include "kernels/conformance/histogram_specs.h"
#include "kernels/conformance/test_data.h"

namespace gridfold::kernels::conformance {
namespace {

class HistogramTest : public EngineTest {
 protected:
  void Check(const TestArray& samples, const HistogramSpec& spec) {
    CheckHistogram({.samples = &samples}, spec, engine().Histogram(samples, spec));
  }

  void CheckBothPolicies(const TestArray& samples, const BinSpec& bins) {
    HistogramSpec spec = SpecOfBins(bins);
    for (const OutOfRangePolicy policy : {OutOfRangePolicy::kDrop, OutOfRangePolicy::kClamp}) {
      spec.out_of_range_policy = policy;
      Check(samples, spec);
    }
  }
};

// Every layout with bins from a few to many over the range.
std::vector<BinSpec> LayoutsOver(ElementType type, SampleRange range) {
  std::vector<BinSpec> layouts;
  for (const uint64_t n : {1, 2, 10, 255, 256, 257, 1000, 5000}) {
    layouts.push_back(Even(n, range.lower, range.upper));
  }
  for (const uint64_t n : {1, 3, 100, 3000}) {
    layouts.push_back(UnevenEdges(n, range.lower, range.upper));
    layouts.push_back(LogarithmicBinsSpec{n, 0.5, range.upper});
    if (!IsFloatingPoint(type)) {
      layouts.push_back(IntegerBinsSpec{static_cast<int64_t>(range.lower) + 5, n});
    }
  }
  layouts.push_back(AutomaticEven(1));
  layouts.push_back(AutomaticEven(77));
  return layouts;
}

TEST_P(HistogramTest, EveryLayoutOfEveryType) {
  for (const ElementType type : kAllTypes) {
    const SampleRange range = SampleRangeOf(type);
    // A tenth of the samples lie outside at each end.
    const double margin = (range.upper - range.lower) / 8;
    const double lower =
        IsUnsigned(type) ? 0 : range.lower - (type == ElementType::kInt8 ? 28 : margin);
    const TestArray samples = MakeUniform(type, 20'011, lower, range.upper + margin, 101);
    for (const BinSpec& bins : LayoutsOver(type, range)) CheckBothPolicies(samples, bins);
  }
}

TEST_P(HistogramTest, EverySize) {
  for (const ElementType type : kAllTypes) {
    const SampleRange range = SampleRangeOf(type);
    for (const uint64_t size : SizesAtEdges()) {
      const TestArray samples = MakeUniform(type, size, range.lower, range.upper, size);
      Check(samples, SpecOfBins(Even(100, range.lower, range.upper)));
    }
  }
}

TEST_P(HistogramTest, MisalignedStarts) {
  for (const ElementType type : kAllTypes) {
    const SampleRange range = SampleRangeOf(type);
    for (const size_t misalignment : {1, 3, 4, 7}) {
      const TestArray samples =
          MakeUniform(type, 9001, range.lower, range.upper, misalignment, misalignment);
      Check(samples, SpecOfBins(Even(300, range.lower, range.upper)));
    }
  }
}

TEST_P(HistogramTest, SpecialNumbers) {
  for (const ElementType type : kAllTypes) {
    const TestArray samples = MakeVector(type, 10'007, DataKind::kSpecial, 102);
    CheckBothPolicies(samples, Even(50, -10, 10));
    CheckBothPolicies(samples, EdgeBinsSpec{{-HUGE_VAL, -1, 0, 0.5, 3, HUGE_VAL}});
    CheckBothPolicies(samples, EdgeBinsSpec{{0, HUGE_VAL}});
    CheckBothPolicies(samples, LogarithmicBinsSpec{40, 1e-4, 1e4});
  }
}

TEST_P(HistogramTest, SeveralMillionSamplesEvenSkewedAndEqual) {
  for (const ElementType type : {ElementType::kUint8, ElementType::kInt32, ElementType::kFloat32}) {
    const SampleRange range = SampleRangeOf(type);
    const TestArray uniform = MakeUniform(type, 3'000'001, range.lower, range.upper, 103);
    const TestArray skewed = MakeUniform(type, 1'000'003, range.lower, range.lower + 3, 104);
    const TestArray equal = MakeUniform(type, 1'000'003, range.lower + 2, range.lower + 2, 105);
    for (const uint64_t n : {10, 256, 2000, 60'000}) {
      for (const TestArray* samples : {&uniform, &skewed, &equal}) {
        Check(*samples, SpecOfBins(Even(n, range.lower, range.upper)));
      }
    }
  }
}

TEST_P(HistogramTest, WideHistograms) {
  for (const ElementType type :
       {ElementType::kInt32, ElementType::kFloat32, ElementType::kFloat64}) {
    const TestArray samples = MakeUniform(type, 500'009, -2e6, 2e6, 106);
    for (const uint64_t n : {16'384, 28'000, 57'344, 65'536, 100'000, 262'144, 1'048'576}) {
      Check(samples, SpecOfBins(Even(n, -1.9e6, 1.9e6)));
    }
    Check(samples, SpecOfBins(UnevenEdges(200'000, -1.9e6, 1.9e6)));
    if (type == ElementType::kInt32) {
      Check(samples, SpecOfBins(IntegerBinsSpec{-500'000, 1'048'576}));
    }
    HistogramSpec sparse = SpecOfBins(Even(1'048'576, -1.9e6, 1.9e6));
    sparse.sparse = true;
    Check(samples, sparse);
  }
}

TEST_P(HistogramTest, SparseAnswers) {
  for (const ElementType type : kAllTypes) {
    const SampleRange range = SampleRangeOf(type);
    const TestArray samples = MakeUniform(type, 300, range.lower, range.upper, 107);
    for (const uint64_t n : {1, 10, 1000, 40'000}) {
      HistogramSpec spec = SpecOfBins(Even(n, range.lower, range.upper));
      spec.sparse = true;
      Check(samples, spec);
    }
  }
  HistogramSpec none = SpecOfBins(Even(1000, 0, 1));
  none.sparse = true;
  Check(TestArray(ArrayDescription::Vector(ElementType::kFloat32, 0)), none);
}

TEST_P(HistogramTest, Quantiles) {
  for (const ElementType type : kAllTypes) {
    const SampleRange range = SampleRangeOf(type);
    for (const uint64_t size : {0, 1, 2, 1000}) {
      const TestArray samples = MakeUniform(type, size, range.lower, range.upper, 108);
      for (const uint64_t n : {1, 20, 4000}) {
        for (const bool sparse : {false, true}) {
          HistogramSpec spec = SpecOfBins(Even(n, range.lower + 10, range.upper - 10));
          spec.quantiles = {0, 0.001, 0.25, 0.5, 0.9, 0.999, 1};
          spec.sparse = sparse;
          spec.out_of_range_policy = sparse ? OutOfRangePolicy::kClamp : OutOfRangePolicy::kDrop;
          Check(samples, spec);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, HistogramTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, HistogramTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
