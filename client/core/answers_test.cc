// Answers of the C interface against the oracles of the kernels' conformance tests: brute force and
// exact arithmetic.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

#include "client/core/core_test_util.h"
#include "kernels/conformance/histogram_oracle.h"
#include "kernels/conformance/histogram_specs.h"
#include "kernels/conformance/reduction_oracle.h"
#include "kernels/conformance/scan_oracle.h"
#include "kernels/conformance/test_data.h"

namespace gridfold::core {
namespace {

namespace conformance = kernels::conformance;
using conformance::DataKind;
using kernels::ArrayDescription;
using kernels::GroupingKind;

class AnswersTest : public testing::Test {
 protected:
  // An array, and a grouping that it has.
  struct Grouped {
    TestArray array;
    kernels::GroupingSpec grouping;
  };
  Grouped RandomArray(kernels::ElementType type) {
    const DataKind kind =
        std::vector{DataKind::kSmall, DataKind::kWide, DataKind::kSpecial}[random_() % 3];
    const auto grouping = static_cast<GroupingKind>(random_() % 4);
    const uint64_t seed = random_();
    if (grouping == GroupingKind::kAxis0 || grouping == GroupingKind::kAxis1) {
      const auto shape = ArrayDescription::Matrix(type, 1 + random_() % 20, 1 + random_() % 20);
      return {conformance::MakeData(shape, kind, seed, seed % 3), {grouping, {}}};
    }
    const uint64_t count = 1 + random_() % 300;
    kernels::GroupingSpec spec{grouping, {}};
    if (grouping == GroupingKind::kSegments) spec.offsets = {0, 1 + random_() % count, count};
    if (spec.offsets.size() == 3 && spec.offsets[1] == count) spec.offsets.pop_back();
    return {conformance::MakeVector(type, count, kind, seed, seed % 3), spec};
  }

  std::mt19937_64 random_{36};
  Handle<gridfold_engine> engine_ = MakeEngine();
};

TEST_F(AnswersTest, ReductionsAreExact) {
  for (const kernels::ElementType type : conformance::kAllTypes) {
    for (int round = 0; round < 40; ++round) {
      const Grouped grouped = RandomArray(type);
      kernels::ReductionSpec spec;
      for (int i = 0; i < kernels::kStatisticCount; ++i) {
        const auto statistic = static_cast<kernels::Statistic>(i);
        if (kernels::IsDefinedFor(statistic, type)) spec.statistics.push_back(statistic);
      }
      spec.grouping = grouped.grouping;
      spec.nan_policy = static_cast<kernels::NanPolicy>(round % 2);
      spec.overflow_policy = static_cast<kernels::OverflowPolicy>(round / 2 % 2);
      const ReductionSpecOfC of_c(spec);
      const gridfold_array array = ToC(grouped.array);
      conformance::CheckReduction(
          grouped.array, spec,
          ToKernels(Call<gridfold_reduction>(gridfold_reduce, engine_.get(), &array, &of_c.of_c)));
    }
  }
}

TEST_F(AnswersTest, ScansHaveTheirBits) {
  for (const kernels::ElementType type : conformance::kAllTypes) {
    for (int round = 0; round < 40; ++round) {
      const Grouped grouped = RandomArray(type);
      kernels::ScanSpec spec;
      spec.operation = static_cast<kernels::ScanOperation>(round % 4);
      spec.mode = static_cast<kernels::ScanMode>(round / 4 % 2);
      spec.direction = static_cast<kernels::ScanDirection>(round / 8 % 2);
      spec.grouping = grouped.grouping;
      spec.nan_policy = static_cast<kernels::NanPolicy>(random_() % 2);
      spec.overflow_policy = static_cast<kernels::OverflowPolicy>(random_() % 2);
      spec.exact = round % 4 == 0 && random_() % 2 == 0;
      const gridfold_scan_spec of_c = ToC(spec);
      const gridfold_array array = ToC(grouped.array);
      gridfold_element_type output_type = 0;
      ASSERT_EQ(gridfold_scan_type(&array, &of_c, &output_type), GRIDFOLD_OK);
      ArrayDescription description = grouped.array.description();
      description.element_type = static_cast<kernels::ElementType>(output_type - 1);
      TestArray output(description, 1);
      const gridfold_status status = gridfold_scan(engine_.get(), &array, &of_c,
                                                   output.mutable_data(), description.size_bytes());
      EXPECT_TRUE(output.SurroundingsAreIntact());
      if (status == GRIDFOLD_OK) {
        conformance::CheckScan(grouped.array, spec, std::move(output));
      } else {
        conformance::CheckScan(grouped.array, spec, StatusOf(status));
      }
    }
  }
}

TEST_F(AnswersTest, MovingScansAreThoseOfTheirWindows) {
  const TestArray array =
      TestArray::Vector(kernels::ElementType::kFloat64, {1, 2, NAN, 4, HUGE_VALL, 6, 8, -2});
  kernels::ScanSpec spec;
  spec.operation = kernels::ScanOperation::kMean;
  spec.window = 2;
  spec.min_count = 2;
  const gridfold_scan_spec of_c = ToC(spec);
  const gridfold_array array_of_c = ToC(array);
  std::vector<double> means(8);
  ASSERT_EQ(gridfold_scan(engine_.get(), &array_of_c, &of_c, means.data(), 64), GRIDFOLD_OK);
  EXPECT_THAT(means, testing::ElementsAre(testing::IsNan(), 1.5, testing::IsNan(), testing::IsNan(),
                                          HUGE_VAL, HUGE_VAL, 7, 3));
}

class HistogramAnswersTest : public AnswersTest {
 protected:
  void Check(kernels::ElementType type, const kernels::HistogramSpec& spec) {
    const auto [lower, upper] = conformance::SampleRangeOf(type);
    const uint64_t count = random_() % 60 * spec.channel_count;
    const auto samples = [&] {
      return conformance::MakeUniform(type, count, lower, upper, random_(), random_() % 2);
    };
    const TestArray x = samples();
    const TestArray y = samples();
    const TestArray weights = conformance::MakeVector(
        spec.weight_type.value_or(kernels::ElementType::kInt8), count, DataKind::kSmall, random_());
    const gridfold_array arrays[] = {ToC(x), ToC(y), ToC(weights)};
    const gridfold_samples of_c{&arrays[0], spec.two_dimensional ? &arrays[1] : nullptr,
                                spec.weight_type.has_value() ? &arrays[2] : nullptr};
    const HistogramSpecOfC c_spec(spec);
    conformance::CheckHistogram(
        {&x, &y, &weights}, spec,
        ToKernels(Call<gridfold_histogram>(gridfold_count, engine_.get(), &of_c, &c_spec.of_c),
                  spec.two_dimensional));
  }
};

TEST_F(HistogramAnswersTest, HistogramsAreExact) {
  for (const kernels::ElementType type : conformance::kAllTypes) {
    const auto [lower, upper] = conformance::SampleRangeOf(type);
    std::vector<kernels::HistogramSpec> specs = {
        conformance::SpecOfBins(conformance::Even(17, lower * 0.75, upper * 0.75)),
        conformance::SpecOfBins(conformance::AutomaticEven(9)),
        conformance::SpecOfBins(conformance::UnevenEdges(12, lower, upper)),
        conformance::SpecOfBins(kernels::LogarithmicBinsSpec{7, 1, upper})};
    if (!kernels::IsFloatingPoint(type)) {
      specs.push_back(conformance::SpecOfBins(kernels::IntegerBinsSpec{12, 40}));
    } else {
      specs[0].quantiles = {0, 0.25, 1};
    }
    for (kernels::HistogramSpec& spec : specs) {
      for (int round = 0; round < 6; ++round) {
        spec.sparse = round % 2 == 1;
        spec.out_of_range_policy = static_cast<kernels::OutOfRangePolicy>(round / 2 % 2);
        spec.channel_count = round < 4 ? 1 : 3;
        Check(type, spec);
      }
      spec.channel_count = 1;
      spec.quantiles.clear();
      spec.weight_type = type;
      Check(type, spec);
      spec.two_dimensional = true;
      Check(type, spec);
      spec.weight_type.reset();
      Check(type, spec);
    }
  }
}

}  // namespace
}  // namespace gridfold::core
