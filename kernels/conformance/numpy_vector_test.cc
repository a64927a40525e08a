// The answers of NumPy and of exact arithmetic in Python to some hundred small jobs, written by
// generate_vectors.py.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/axes_runner.h"
#include "kernels/conformance/engine_test.h"
#include "nlohmann/json.hpp"

namespace gridfold::kernels::conformance {
namespace {

using Json = nlohmann::json;

const Json& Cases() {
  static const Json cases = [] {
    std::ifstream file(GRIDFOLD_NUMPY_VECTORS);
    EXPECT_TRUE(file.good()) << "cannot read " << GRIDFOLD_NUMPY_VECTORS;
    return file.good() ? Json::parse(file).at("cases") : Json::array();
  }();
  return cases;
}

// Strings in, since JSON has neither NaN nor all bits of a double.
double ToDouble(const Json& text) { return std::strtod(text.get<std::string>().c_str(), nullptr); }

ElementType TypeNamed(const std::string& name) {
  for (const ElementType type : kAllTypes) {
    if (name == ElementTypeName(type)) return type;
  }
  ADD_FAILURE() << "no element type " << name;
  return ElementType::kInt8;
}

TestArray ArrayOf(const ArrayDescription& description, const std::string& hexadecimal) {
  TestArray array(description);
  EXPECT_EQ(hexadecimal.size(), 2 * description.size_bytes());
  for (uint64_t i = 0; i < description.size_bytes() && 2 * i + 1 < hexadecimal.size(); ++i) {
    array.mutable_data()[i] =
        static_cast<std::byte>(std::stoi(hexadecimal.substr(2 * i, 2), nullptr, 16));
  }
  return array;
}

kernels::Shape ShapeOf(const Json& job) {
  kernels::Shape shape;
  for (const uint64_t extent : job.at("shape")) shape.Append(extent);
  return shape;
}

TestArray SamplesOf(const Json& job) {
  const ShapedArray array(TypeNamed(job.at("type")), ShapeOf(job));
  return ArrayOf(array.description(), job.at("elements"));
}

// The axes of a case with the grouping "axes".
AxisSet AxesOf(const Json& job) {
  AxisSet axes = 0;
  for (const int axis : job.at("axes")) axes |= AxisBit(axis);
  return axes;
}
bool HasAxes(const Json& job) { return job.at("grouping") == "axes"; }

GroupingSpec GroupingOf(const Json& job) {
  const std::string name = job.at("grouping");
  GroupingSpec grouping;
  if (name == "axis0") grouping.kind = GroupingKind::kAxis0;
  if (name == "axis1") grouping.kind = GroupingKind::kAxis1;
  if (name == "segments") grouping = {GroupingKind::kSegments, job.at("offsets")};
  return grouping;
}

NanPolicy NanPolicyOf(const Json& job) {
  return job.at("ignore_nan").get<bool>() ? NanPolicy::kIgnore : NanPolicy::kPropagate;
}

Statistic StatisticNamed(const std::string& name) {
  for (int s = 0; s < kStatisticCount; ++s) {
    if (name == StatisticName(static_cast<Statistic>(s))) return static_cast<Statistic>(s);
  }
  ADD_FAILURE() << "no statistic " << name;
  return Statistic::kCount;
}

// Within one unit in the last place, as far as sums are promised to be right.
bool IsNear(double got, double expected) {
  if (std::isnan(expected)) return std::isnan(got);
  return got == expected ||
         (got >= std::nextafter(expected, -HUGE_VAL) && got <= std::nextafter(expected, HUGE_VAL));
}

void CheckColumn(const StatisticColumn& column, const Json& expected) {
  ASSERT_EQ(column.slots.size(), expected.size());
  for (size_t g = 0; g < expected.size(); ++g) {
    const std::string text = expected[g];
    const uint64_t slot = column.slots[g];
    if (column.kind == ValueKind::kDouble) {
      EXPECT_TRUE(IsNear(std::bit_cast<double>(slot), ToDouble(expected[g])))
          << "group " << g << " is " << std::bit_cast<double>(slot) << ", expected " << text;
    } else if (column.kind == ValueKind::kInt64) {
      EXPECT_EQ(std::to_string(static_cast<int64_t>(slot)), text) << "group " << g;
    } else {
      EXPECT_EQ(std::to_string(slot), text) << "group " << g;
    }
  }
}

void CheckReductionCase(EngineUnderTest& engine, const Json& job) {
  ReductionSpec spec;
  spec.grouping = GroupingOf(job);
  spec.nan_policy = NanPolicyOf(job);
  spec.overflow_policy = OverflowPolicy::kWrap;
  spec.delta_degrees_of_freedom = job.at("delta_degrees_of_freedom");
  for (const auto& item : job.at("expected").items()) {
    spec.statistics.push_back(StatisticNamed(item.key()));
  }
  const auto result =
      HasAxes(job) ? AxesRunner(engine).Reduce(ShapeOf(job), SamplesOf(job), AxesOf(job), spec)
                   : engine.Reduce(SamplesOf(job), spec);
  ASSERT_TRUE(result.ok()) << result.status();
  if (HasAxes(job)) {
    kernels::Shape expected;
    for (const uint64_t extent : job.at("result_shape")) expected.Append(extent);
    EXPECT_EQ(ReducedShape(ShapeOf(job), AxesOf(job), false), expected);
  }
  for (const StatisticColumn& column : result->columns) {
    SCOPED_TRACE(StatisticName(column.statistic));
    CheckColumn(column, job.at("expected").at(StatisticName(column.statistic)));
  }
}

ScanOperation OperationNamed(const std::string& name) {
  for (const ScanOperation operation :
       {ScanOperation::kSum, ScanOperation::kProduct, ScanOperation::kMin, ScanOperation::kMax}) {
    if (name == ScanOperationName(operation)) return operation;
  }
  ADD_FAILURE() << "no scan operation " << name;
  return ScanOperation::kSum;
}

// Exact: the cases are such that nothing is rounded before the output's type.
void CheckScanCase(EngineUnderTest& engine, const Json& job) {
  ScanSpec spec;
  spec.operation = OperationNamed(job.at("scan"));
  spec.mode = job.at("exclusive").get<bool>() ? ScanMode::kExclusive : ScanMode::kInclusive;
  spec.direction =
      job.at("reverse").get<bool>() ? ScanDirection::kReverse : ScanDirection::kForward;
  spec.grouping = GroupingOf(job);
  spec.output_type = TypeNamed(job.at("output_type"));
  spec.nan_policy = NanPolicyOf(job);
  spec.overflow_policy = OverflowPolicy::kWrap;
  const auto result =
      HasAxes(job) ? AxesRunner(engine).Scan(ShapeOf(job), SamplesOf(job), job.at("axes")[0], spec)
                   : engine.Scan(SamplesOf(job), spec);
  ASSERT_TRUE(result.ok()) << result.status();
  const Json& expected = job.at("expected");
  ASSERT_EQ(result->size(), expected.size());
  for (uint64_t i = 0; i < result->size(); ++i) {
    const std::string text = expected[i];
    const long double value = std::strtold(text.c_str(), nullptr);
    EXPECT_TRUE((*result)[i] == value || (std::isnan((*result)[i]) && std::isnan(value)))
        << "element " << i << " is " << (*result)[i] << ", expected " << text;
  }
}

std::vector<double> ToDoubles(const Json& texts) {
  std::vector<double> values;
  for (const Json& text : texts) values.push_back(ToDouble(text));
  return values;
}

BinSpec BinsOf(const Json& bins) {
  const std::string layout = bins.at("layout");
  if (layout == "edges") return EdgeBinsSpec{ToDoubles(bins.at("edges"))};
  const uint64_t bin_count = bins.at("bin_count");
  if (layout == "automatic") return EvenBinsSpec{bin_count, std::nullopt, std::nullopt};
  if (layout == "integer") return IntegerBinsSpec{bins.at("first_value"), bin_count};
  return EvenBinsSpec{bin_count, ToDouble(bins.at("lower")), ToDouble(bins.at("upper"))};
}

void CheckChannel(const HistogramCounts& counts, const PlannedBins& bins, const Json& expected) {
  if (expected.contains("counts")) {
    EXPECT_EQ(counts.counts, expected.at("counts").get<std::vector<uint64_t>>());
  }
  if (expected.contains("weight_sums")) {
    EXPECT_EQ(counts.weight_sums, ToDoubles(expected.at("weight_sums")));
  }
  if (expected.contains("edges")) {
    EXPECT_EQ(EdgesOf(bins), ToDoubles(expected.at("edges")));
  }
  if (expected.contains("quantile_values")) {
    const std::vector<double> quantiles = ToDoubles(expected.at("quantile_values"));
    ASSERT_EQ(counts.quantile_values.size(), quantiles.size());
    for (size_t q = 0; q < quantiles.size(); ++q) {
      EXPECT_NEAR(counts.quantile_values[q], quantiles[q], 1e-12) << "quantile " << q;
    }
  }
  EXPECT_EQ(counts.underflow_count, expected.value("underflow", counts.underflow_count));
  EXPECT_EQ(counts.overflow_count, expected.value("overflow", counts.overflow_count));
  EXPECT_EQ(counts.nan_count, expected.at("nan").get<uint64_t>());
}

void CheckHistogramCase(EngineUnderTest& engine, const Json& job) {
  const TestArray samples = SamplesOf(job);
  HistogramSpec spec;
  for (const Json& bins : job.at("bins")) spec.bins.push_back(BinsOf(bins));
  spec.channel_count = job.at("channel_count");
  spec.quantiles = ToDoubles(job.value("quantiles", Json::array()));
  std::optional<TestArray> y_samples;
  std::optional<TestArray> weights;
  if (job.contains("y_elements")) {
    spec.two_dimensional = true;
    y_samples = ArrayOf(samples.description(), job.at("y_elements"));
  }
  if (job.contains("weights")) {
    spec.weight_type = TypeNamed(job.at("weight_type"));
    weights =
        ArrayOf(ArrayDescription::Vector(*spec.weight_type, samples.size()), job.at("weights"));
  }
  const auto result = engine.Histogram(samples, spec, y_samples.has_value() ? &*y_samples : nullptr,
                                       weights.has_value() ? &*weights : nullptr);
  ASSERT_TRUE(result.ok()) << result.status();
  const Json& expected = job.at("channels");
  ASSERT_EQ(result->channels.size(), expected.size());
  for (size_t c = 0; c < expected.size(); ++c) {
    CheckChannel(result->channels[c], result->bins[c], expected[c]);
  }
}

QuantileMethod MethodNamed(const std::string& name) {
  const std::pair<const char*, QuantileMethod> methods[] = {
      {"linear", QuantileMethod::kLinear},     {"lower", QuantileMethod::kLower},
      {"higher", QuantileMethod::kHigher},     {"nearest", QuantileMethod::kNearest},
      {"midpoint", QuantileMethod::kMidpoint}, {"mean", QuantileMethod::kMean}};
  for (const auto& [known, method] : methods) {
    if (name == known) return method;
  }
  ADD_FAILURE() << "no method " << name;
  return QuantileMethod::kLinear;
}

// Bit for bit, but for the signs of zeros.
void CheckValue(uint64_t slot, ValueKind kind, const Json& expected) {
  const std::string text = expected;
  if (kind == ValueKind::kDouble) {
    const double value = ToDouble(expected);
    const double got = std::bit_cast<double>(slot);
    EXPECT_TRUE(got == value || (std::isnan(got) && std::isnan(value)))
        << got << ", expected " << text;
  } else {
    EXPECT_EQ(kind == ValueKind::kInt64 ? std::to_string(static_cast<int64_t>(slot))
                                        : std::to_string(slot),
              text);
  }
}

void CheckQuantileCase(EngineUnderTest& engine, const Json& job) {
  const TestArray array = SamplesOf(job);
  const QuantileSpec spec{.quantiles = ToDoubles(job.at("quantiles")),
                          .method = MethodNamed(job.at("method")),
                          .grouping = GroupingOf(job),
                          .nan_policy = NanPolicyOf(job)};
  const auto plan = PlanQuantiles(array.description(), spec);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto result = engine.Quantiles(array, spec);
  ASSERT_TRUE(result.ok()) << result.status();
  const Json& expected = job.at("expected");
  for (size_t t = 0; t < expected.size(); ++t) {
    for (size_t g = 0; g < expected[t].size(); ++g) {
      SCOPED_TRACE(testing::Message() << "quantile " << t << ", group " << g);
      CheckValue(result->slots.at(t * expected[t].size() + g), KindOfTarget(*plan, t),
                 expected[t][g]);
    }
  }
}

void CheckTopCase(EngineUnderTest& engine, const Json& job) {
  const auto result = engine.Top(
      SamplesOf(job), {.count = job.at("count"), .smallest = job.at("smallest").get<bool>()});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->indices, job.at("indices").get<std::vector<uint64_t>>());
  ASSERT_EQ(result->slots.size(), job.at("expected").size());
  for (size_t i = 0; i < result->slots.size(); ++i) {
    CheckValue(result->slots[i], result->kind, job.at("expected")[i]);
  }
}

class NumpyVectorTest : public EngineTest {
 protected:
  // Runs `check` on every case of an operation; says which one failed.
  template <class Check>
  void ForEachCase(const std::string& operation, Check&& check) {
    size_t checked = 0;
    for (size_t i = 0; i < Cases().size(); ++i) {
      if (Cases()[i].at("operation") != operation) continue;
      SCOPED_TRACE("case " + std::to_string(i) + ", line " + std::to_string(i + 2));
      check(engine(), Cases()[i]);
      ++checked;
    }
    EXPECT_GT(checked, 90u);
  }
};

TEST_P(NumpyVectorTest, Reductions) { ForEachCase("reduce", CheckReductionCase); }
TEST_P(NumpyVectorTest, Scans) { ForEachCase("scan", CheckScanCase); }
TEST_P(NumpyVectorTest, Histograms) { ForEachCase("histogram", CheckHistogramCase); }
TEST_P(NumpyVectorTest, Quantiles) { ForEachCase("quantile", CheckQuantileCase); }
TEST_P(NumpyVectorTest, Tops) { ForEachCase("top", CheckTopCase); }

INSTANTIATE_TEST_SUITE_P(Cpu, NumpyVectorTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, NumpyVectorTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
