#include "kernels/conformance/scan_oracle.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kernels/conformance/element_codec.h"
#include "kernels/conformance/exact_sum.h"
#include "kernels/conformance/float_trees.h"

namespace gridfold::kernels::conformance {

namespace {

using Uint128 = unsigned __int128;

bool IsExtreme(const ScanSpec& spec) {
  return spec.operation == ScanOperation::kMin || spec.operation == ScanOperation::kMax;
}

// A running value of integers: the exact one while its magnitude is below 2^120, and what it is
// modulo 2^64 in any case.
class RunningInteger {
 public:
  explicit RunningInteger(ScanOperation operation)
      : is_product_(operation == ScanOperation::kProduct), exact_(is_product_ ? 1 : 0) {
    wrapped_ = static_cast<uint64_t>(exact_);
  }

  void Take(__int128 x) {
    const auto bits = static_cast<uint64_t>(x);
    wrapped_ = is_product_ ? wrapped_ * bits : wrapped_ + bits;
    if (!is_product_) {
      exact_ += x;
    } else if (x == 0) {
      exact_ = 0;
      too_large_ = false;
    } else if (!too_large_) {
      const Uint128 magnitude = static_cast<Uint128>(exact_ < 0 ? -exact_ : exact_);
      const Uint128 factor = static_cast<Uint128>(x < 0 ? -x : x);
      too_large_ = magnitude > (Uint128{1} << 120) / factor;
      if (!too_large_) exact_ *= x;
    }
  }

  bool Fits(ElementType type) const {
    return !too_large_ && exact_ >= static_cast<__int128>(SmallestElement(type)) &&
           exact_ <= static_cast<__int128>(LargestElement(type));
  }
  uint64_t wrapped() const { return wrapped_; }

 private:
  const bool is_product_;
  __int128 exact_;
  bool too_large_ = false;
  uint64_t wrapped_ = 0;
};

// The expected output while it is worked out.
struct Answer {
  TestArray output;
  bool overflow = false;
};

// Index of the element that takes the i-th place in the order of the scan.
uint64_t Place(const GroupElements& group, const ScanSpec& spec, uint64_t i) {
  const bool reverse = spec.direction == ScanDirection::kReverse;
  return group.index(reverse ? group.count - 1 - i : i);
}

void ScanIntegers(const TestArray& array, const GroupElements& group, const ScanSpec& spec,
                  Answer& answer) {
  const ElementType out = answer.output.type();
  RunningInteger running(spec.operation);
  const auto store = [&](uint64_t place) {
    answer.overflow = answer.overflow || !running.Fits(out);
    const uint64_t bits = running.wrapped();
    // Little end first, as everywhere in this project.
    std::memcpy(answer.output.mutable_data() + place * ElementSize(out), &bits, ElementSize(out));
  };
  for (uint64_t i = 0; i < group.count; ++i) {
    const uint64_t place = Place(group, spec, i);
    if (spec.mode == ScanMode::kExclusive) store(place);
    running.Take(static_cast<__int128>(array[place]));
    if (spec.mode == ScanMode::kInclusive) store(place);
  }
}

void ScanExtremes(const TestArray& array, const GroupElements& group, const ScanSpec& spec,
                  Answer& answer) {
  const bool is_max = spec.operation == ScanOperation::kMax;
  const bool is_float = IsFloatingPoint(array.type());
  long double running = is_max ? SmallestElement(array.type()) : LargestElement(array.type());
  if (is_float) running = is_max ? -HUGE_VALL : HUGE_VALL;
  // Where NaNs are ignored, what comes before the first number is NaN.
  bool is_nothing_but_ignored = false;
  for (uint64_t i = 0; i < group.count; ++i) {
    const uint64_t place = Place(group, spec, i);
    const auto store = [&] { answer.output.Set(place, is_nothing_but_ignored ? NAN : running); };
    if (spec.mode == ScanMode::kExclusive) store();
    const long double x = array[place];
    const bool ignored = std::isnan(x) && spec.nan_policy == NanPolicy::kIgnore;
    is_nothing_but_ignored = ignored && (i == 0 || is_nothing_but_ignored);
    const bool better = is_max ? x > running : x < running;
    if (!ignored && !std::isnan(running) && (better || std::isnan(x))) running = x;
    if (spec.mode == ScanMode::kInclusive) store();
  }
}

double FloatElement(const TestArray& array, uint64_t place, const ScanSpec& spec,
                    FloatOperation operation) {
  const auto x = static_cast<double>(array[place]);
  return std::isnan(x) && spec.nan_policy == NanPolicy::kIgnore ? operation.EmptyResult() : x;
}

void ScanFloatColumn(const TestArray& array, const GroupElements& column, const ScanSpec& spec,
                     Answer& answer) {
  const FloatOperation operation{spec.operation == ScanOperation::kProduct};
  std::vector<double> values(column.count);
  for (uint64_t i = 0; i < column.count; ++i) {
    values[i] = FloatElement(array, Place(column, spec, i), spec, operation);
  }
  const std::vector<double> results = ScanColumnByTree(
      values, array.description().columns, operation, spec.mode == ScanMode::kExclusive);
  for (uint64_t i = 0; i < column.count; ++i) {
    answer.output.Set(Place(column, spec, i), results[i]);
  }
}

// All groups of an array whose groups follow one another, as one scan.
void ScanFloatsInARow(const TestArray& array, const std::vector<GroupElements>& groups,
                      const ScanSpec& spec, Answer& answer) {
  const FloatOperation operation{spec.operation == ScanOperation::kProduct};
  const GroupElements whole{0, 1, array.size()};
  std::vector<double> values(array.size());
  for (uint64_t p = 0; p < array.size(); ++p) {
    values[p] = FloatElement(array, Place(whole, spec, p), spec, operation);
  }
  std::vector<bool> starts(array.size());
  for (const GroupElements& group : groups) {
    if (group.count == 0) continue;
    const uint64_t first = Place(group, spec, 0);
    starts[spec.direction == ScanDirection::kReverse ? array.size() - 1 - first : first] = true;
  }
  const std::vector<double> results =
      ScanByTree(values, starts, operation, spec.mode == ScanMode::kExclusive);
  for (uint64_t p = 0; p < array.size(); ++p) answer.output.Set(Place(whole, spec, p), results[p]);
}

// A running sum of floating-point numbers with nothing rounded.
class RunningExactSum {
 public:
  void Take(double x) {
    only_negative_zeros_ = only_negative_zeros_ && x == 0 && std::signbit(x);
    if (std::isfinite(x)) {
      sum_.Add(x);
    } else {
      not_finite_ += x;  // Infinities and NaN add as the processor adds them.
    }
  }

  double RoundedTo(FloatFormat format) const {
    if (not_finite_ != 0) return not_finite_;
    const Dyadic value = sum_.Value();
    if (value.Sign() == 0) return only_negative_zeros_ ? -0.0 : 0.0;
    return value.RoundedTo(format);
  }

 private:
  ExactSum sum_;
  double not_finite_ = 0;
  bool only_negative_zeros_ = true;
};

void ScanExactly(const TestArray& array, const GroupElements& group, const ScanSpec& spec,
                 Answer& answer) {
  const FloatFormat format = FloatFormatOf(answer.output.type());
  const FloatOperation operation{false};
  RunningExactSum running;
  for (uint64_t i = 0; i < group.count; ++i) {
    const uint64_t place = Place(group, spec, i);
    if (spec.mode == ScanMode::kExclusive) {
      answer.output.Set(place, i == 0 ? operation.EmptyResult() : running.RoundedTo(format));
    }
    running.Take(FloatElement(array, place, spec, operation));
    if (spec.mode == ScanMode::kInclusive) answer.output.Set(place, running.RoundedTo(format));
  }
}

ElementType OutputType(ElementType type, const ScanSpec& spec) {
  if (spec.output_type.has_value()) return *spec.output_type;
  if (IsExtreme(spec) || IsFloatingPoint(type)) return type;
  return IsUnsigned(type) ? ElementType::kUint64 : ElementType::kInt64;
}

Answer ExpectedAnswer(const TestArray& array, const ScanSpec& spec) {
  ArrayDescription description = array.description();
  description.element_type = OutputType(array.type(), spec);
  Answer answer{TestArray(description)};
  const std::vector<GroupElements> groups = GroupsOf(array.description(), spec.grouping);
  const bool exact = IsFloatingPoint(array.type()) && spec.exact;
  const bool float_tree = IsFloatingPoint(array.type()) && !IsExtreme(spec) && !exact;
  if (float_tree && spec.grouping.kind != GroupingKind::kAxis0) {
    ScanFloatsInARow(array, groups, spec, answer);
    return answer;
  }
  for (const GroupElements& group : groups) {
    if (exact) {
      ScanExactly(array, group, spec, answer);
    } else if (float_tree) {
      ScanFloatColumn(array, group, spec, answer);
    } else if (IsExtreme(spec)) {
      ScanExtremes(array, group, spec, answer);
    } else {
      ScanIntegers(array, group, spec, answer);
    }
  }
  if (spec.overflow_policy == OverflowPolicy::kWrap) answer.overflow = false;
  return answer;
}

std::string DescribeScan(const TestArray& array, const ScanSpec& spec) {
  return absl::StrCat(spec.exact ? "exact " : "",
                      spec.mode == ScanMode::kExclusive ? "exclusive " : "inclusive ",
                      spec.direction == ScanDirection::kReverse ? "reverse " : "forward ",
                      ScanOperationName(spec.operation), " of ", Describe(array.description()),
                      ", grouping ", static_cast<int>(spec.grouping.kind));
}

// The most float64 additions that an element passes through on its way into the result at position
// p of its group, as kernels/contract/scan.h promises.
uint64_t AdditionsMax(uint64_t p, GroupingKind kind) {
  return std::min(p, kind == GroupingKind::kAxis0 ? 105 + p / 8192 : 35 + p / 131'072);
}

}  // namespace

uint64_t FirstDifference(const TestArray& a, const TestArray& b) {
  const size_t size = ElementSize(a.type());
  for (uint64_t i = 0; i < a.size(); ++i) {
    const bool same_bits = std::memcmp(a.data() + i * size, b.data() + i * size, size) == 0;
    if (!same_bits && !(std::isnan(a[i]) && std::isnan(b[i]))) return i;
  }
  return a.size();
}

void CheckScan(const TestArray& array, const ScanSpec& spec,
               const absl::StatusOr<TestArray>& result) {
  SCOPED_TRACE(DescribeScan(array, spec));
  const Answer answer = ExpectedAnswer(array, spec);
  if (answer.overflow) {
    EXPECT_EQ(result.status().code(), absl::StatusCode::kOutOfRange) << result.status();
    return;
  }
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->type(), answer.output.type());
  const uint64_t i = FirstDifference(*result, answer.output);
  EXPECT_EQ(i, array.size()) << "element " << i << " is " << (*result)[i] << ", expected "
                             << answer.output[i];
}

void CheckSumsAgainstExactOnes(const TestArray& array, const ScanSpec& spec,
                               const TestArray& result) {
  SCOPED_TRACE(DescribeScan(array, spec));
  const FloatFormat format = FloatFormatOf(result.type());
  for (const GroupElements& group : GroupsOf(array.description(), spec.grouping)) {
    ExactSum exact;
    long double magnitudes = 0;
    for (uint64_t i = 0; i < group.count; ++i) {
      const uint64_t place = Place(group, spec, i);
      const auto x = static_cast<double>(array[place]);
      const auto take = [&] {
        exact.Add(x);
        magnitudes += std::fabs(x);
      };
      if (spec.mode == ScanMode::kInclusive) take();
      const long double expected = exact.Value().ToLongDouble();
      const auto additions = static_cast<long double>(AdditionsMax(i, spec.grouping.kind));
      // The last factor takes the oracle's own roundings, of 64 bits, and 1 / (1 - d * 2^-53).
      const long double before_rounding = std::ldexp(additions * magnitudes, -53) * (1 + 0x1p-20L);
      const long double rounding =
          std::max(std::ldexp(std::fabs(expected) + before_rounding, -format.significand_bits - 1),
                   std::ldexp(1.0L, format.min_exponent() - format.significand_bits - 1));
      ASSERT_LE(std::fabs(result[place] - expected), before_rounding + rounding * (1 + 0x1p-9L))
          << "element " << place;
      if (spec.mode == ScanMode::kExclusive) take();
    }
  }
}

}  // namespace gridfold::kernels::conformance
