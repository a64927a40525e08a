// Moving sums and means: every result is that of its own window alone, exact and rounded once.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kernels/conformance/dyadic.h"
#include "kernels/conformance/element_codec.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/exact_sum.h"
#include "kernels/conformance/groupings.h"
#include "kernels/conformance/hard_numbers.h"
#include "kernels/conformance/test_data.h"

namespace gridfold::kernels::conformance {
namespace {

constexpr ElementType kFloatTypes[] = {ElementType::kFloat16, ElementType::kBfloat16,
                                       ElementType::kFloat32, ElementType::kFloat64};

// The elements of one window, summed by themselves.
class WindowOracle {
 public:
  WindowOracle(const TestArray& array, const ScanSpec& spec, ElementType output_type)
      : array_(array), spec_(spec), output_type_(output_type) {}

  void Take(uint64_t place) {
    const long double x = array_[place];
    const bool is_ignored = std::isnan(x) && spec_.nan_policy == NanPolicy::kIgnore;
    count_ += is_ignored ? 0 : 1;
    if (!IsFloatingPoint(array_.type())) {
      integer_ += static_cast<__int128>(x);
      return;
    }
    only_negative_zeros_ = only_negative_zeros_ && x == 0 && std::signbit(x);
    if (is_ignored) return;
    if (std::isfinite(x)) {
      numbers_.Add(static_cast<double>(x));
    } else {
      not_finite_ += static_cast<double>(x);  // As the processor adds them.
    }
  }

  // The result; nothing where it does not fit.
  std::optional<long double> Result() const {
    const bool is_mean = spec_.operation == ScanOperation::kMean;
    if (count_ < spec_.min_count || (is_mean && count_ == 0)) return NAN;
    if (!IsFloatingPoint(output_type_)) {
      const auto sum = static_cast<long double>(integer_);
      const bool fits = sum >= SmallestElement(output_type_) && sum <= LargestElement(output_type_);
      return fits ? std::optional(sum) : std::nullopt;
    }
    if (not_finite_ != 0) return not_finite_;
    Dyadic value =
        IsFloatingPoint(array_.type()) ? numbers_.Value() : Dyadic::FromInteger(integer_);
    if (value.Sign() == 0) {
      return IsFloatingPoint(array_.type()) && only_negative_zeros_ ? -0.0L : 0.0L;
    }
    if (is_mean) value = value.DividedBy(count_);
    const double rounded = value.RoundedTo(FloatFormatOf(output_type_));
    return rounded == 0 ? std::copysign(0.0, value.Sign()) : rounded;
  }

 private:
  const TestArray& array_;
  const ScanSpec& spec_;
  const ElementType output_type_;
  ExactSum numbers_;
  __int128 integer_ = 0;
  double not_finite_ = 0;
  bool only_negative_zeros_ = true;
  uint64_t count_ = 0;
};

bool SameValue(long double a, long double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

class MovingScanTest : public EngineTest {
 protected:
  // Compares every result, or of long groups some: those near the ends of chunks too.
  void Check(const TestArray& array, const ScanSpec& spec) {
    SCOPED_TRACE(absl::StrCat(ScanOperationName(spec.operation), " of ",
                              Describe(array.description()), ", window ", spec.window.value_or(0),
                              ", grouping ", static_cast<int>(spec.grouping.kind)));
    const absl::StatusOr<TestArray> result = engine().Scan(array, spec);
    bool overflows = false;
    for (const GroupElements& group : GroupsOf(array.description(), spec.grouping)) {
      for (uint64_t i = 0; i < group.count; ++i) {
        const bool is_looked_at = group.count < 100 || i % 13 == 0 || i % 512 < 2;
        if (!is_looked_at && result.ok()) continue;
        const bool reverse = spec.direction == ScanDirection::kReverse;
        const auto place = [&](uint64_t p) {
          return group.index(reverse ? group.count - 1 - p : p);
        };
        const uint64_t size = std::min(i + 1, spec.window.value_or(group.count));
        const ElementType output_type =
            result.ok() ? result->type() : spec.output_type.value_or(ElementType::kInt64);
        WindowOracle window(array, spec, output_type);
        for (uint64_t p = i + 1 - size; p <= i; ++p) window.Take(place(p));
        const std::optional<long double> expected = window.Result();
        overflows = overflows || !expected;
        if (!expected || !result.ok()) continue;
        ASSERT_TRUE(SameValue((*result)[place(i)], *expected))
            << "position " << i << " is " << (*result)[place(i)] << ", expected " << *expected;
      }
    }
    EXPECT_EQ(result.status().code(),
              overflows ? absl::StatusCode::kOutOfRange : absl::StatusCode::kOk)
        << result.status();
    EXPECT_EQ(engine().last_run().strategy, "scan/moving");
  }

  // A scan of the array, another one from call to call, so that all are seen in the end.
  void CheckOne(const TestArray& array, const GroupingSpec& grouping,
                std::optional<uint64_t> window) {
    const size_t turn = turn_++;
    const bool is_float = IsFloatingPoint(array.type());
    ScanSpec spec;
    spec.grouping = grouping;
    spec.window = window;
    spec.operation = turn % 2 == 0 && window ? ScanOperation::kSum : ScanOperation::kMean;
    spec.direction = turn / 2 % 2 == 0 ? ScanDirection::kForward : ScanDirection::kReverse;
    spec.nan_policy = turn / 4 % 2 == 0 ? NanPolicy::kPropagate : NanPolicy::kIgnore;
    if (turn % 3 == 0 && is_float) spec.output_type = ElementType::kFloat64;
    const bool has_nan = is_float || spec.operation == ScanOperation::kMean;
    if (turn % 5 == 0 && has_nan) spec.min_count = window.value_or(3);
    Check(array, spec);
  }

 private:
  size_t turn_ = 0;
};

TEST_P(MovingScanTest, HardDataOfEverySizeAndWindow) {
  for (const ElementType type : kFloatTypes) {
    for (const Hard kind : kAllHard) {
      SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind));
      for (const uint64_t size : {0, 1, 3, 17, 40}) {
        const TestArray array = MakeHard(ArrayDescription::Vector(type, size), kind, size + 500);
        for (const uint64_t window : {1, 2, 5, 16, 17, 50}) CheckOne(array, {}, window);
      }
      const TestArray array = MakeHard(ArrayDescription::Vector(type, 1700), kind, 501);
      for (const uint64_t window : {1, 30, 512, 513, 1100, 3000}) CheckOne(array, {}, window);
      CheckOne(array, {}, std::nullopt);
    }
  }
}

TEST_P(MovingScanTest, EveryTypeInEveryGrouping) {
  for (const ElementType type : kAllTypes) {
    for (const Shape& shape : std::vector<Shape>{{1, 1}, {0, 5}, {5, 0}, {40, 3}, {1600, 2}}) {
      const ArrayDescription matrix = ArrayDescription::Matrix(type, shape.rows, shape.columns);
      const TestArray array = MakeData(matrix, DataKind::kSmall, 502);
      for (const uint64_t window : {2, 30, 600}) {
        for (const int axis : {0, 1}) CheckOne(array, Axis(axis), window);
      }
    }
    for (const std::vector<uint64_t>& offsets : std::vector<std::vector<uint64_t>>{
             OffsetsOf({}), OffsetsOf({0, 5, 0, 0, 33, 0}), OffsetsOf({600, 2, 1300, 0, 1}),
             OffsetsOf(std::vector<uint64_t>(90, 7))}) {
      const TestArray array = MakeVector(type, offsets.back(), DataKind::kSmall, 503);
      for (const uint64_t window : {1, 6, 700}) CheckOne(array, Segments(offsets), window);
      CheckOne(array, Segments(offsets), std::nullopt);
    }
  }
}

TEST_P(MovingScanTest, WideIntegers) {
  for (const ElementType type : {ElementType::kInt64, ElementType::kUint64}) {
    const TestArray array = MakeVector(type, 1600, DataKind::kWide, 504);
    for (const uint64_t window : {3, 1100}) {
      ScanSpec spec;
      spec.operation = ScanOperation::kMean;
      spec.window = window;
      Check(array, spec);
    }
  }
}

// A window that does not hold what passes the limit has its own sum.
TEST_P(MovingScanTest, OverflowIsOfAWindow) {
  TestArray array(ArrayDescription::Vector(ElementType::kInt8, 40));
  for (uint64_t i = 0; i < array.size(); ++i) array.Set(i, 60);
  ScanSpec spec;
  spec.output_type = ElementType::kInt8;
  spec.window = 2;
  Check(array, spec);
  spec.window = 3;
  Check(array, spec);
  spec.overflow_policy = OverflowPolicy::kWrap;
  const auto wrapped = engine().Scan(array, spec);
  ASSERT_TRUE(wrapped.ok()) << wrapped.status();
  EXPECT_EQ((*wrapped)[1], 120);
  EXPECT_EQ((*wrapped)[39], 180 - 256);
}

TEST_P(MovingScanTest, WhatIsNotFiniteGoesWithItsWindow) {
  const TestArray array =
      TestArray::Vector(ElementType::kFloat32, {1, HUGE_VALL, 2, NAN, -HUGE_VALL, 3, 4, 5});
  ScanSpec spec;
  spec.window = 2;
  const auto sums = engine().Scan(array, spec);
  ASSERT_TRUE(sums.ok()) << sums.status();
  const long double expected[] = {1, HUGE_VALL, HUGE_VALL, NAN, NAN, -HUGE_VALL, 7, 9};
  for (const size_t i : {0, 1, 2, 3, 4, 5, 6, 7}) {
    EXPECT_TRUE(SameValue((*sums)[i], expected[i])) << i;
  }
  spec.nan_policy = NanPolicy::kIgnore;
  spec.min_count = 2;
  const auto of_two = engine().Scan(array, spec);
  ASSERT_TRUE(of_two.ok()) << of_two.status();
  const long double with_two[] = {NAN, HUGE_VALL, HUGE_VALL, NAN, NAN, -HUGE_VALL, 7, 9};
  for (const size_t i : {0, 1, 2, 3, 4, 5, 6, 7}) {
    EXPECT_TRUE(SameValue((*of_two)[i], with_two[i])) << i;
  }
}

// More chunks than an engine adds up in one go.
TEST_P(MovingScanTest, LongArrays) {
  for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat64}) {
    const TestArray array = MakeVector(type, 300'000, DataKind::kWide, 505);
    ScanSpec spec;
    spec.window = 200'001;
    spec.output_type = ElementType::kFloat64;
    const auto result = engine().Scan(array, spec);
    ASSERT_TRUE(result.ok()) << result.status();
    for (const uint64_t i : {200'000, 200'001, 299'999}) {
      ExactSum sum;
      for (uint64_t p = i - 200'000; p <= i; ++p) sum.Add(static_cast<double>(array[p]));
      EXPECT_EQ((*result)[i], sum.Value().ToDouble()) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, MovingScanTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, MovingScanTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
