// Scans of 8- and 16-bit elements to their own type, which take several at a time where they can:
// by brute force, with values for which they cannot.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>
#include <type_traits>

#include "gtest/gtest.h"
#include "kernels/conformance/float_trees.h"
#include "kernels/cuda/scan/scan_device_test.h"

namespace gridfold::kernels::cuda {
namespace {

// Whole arrays and rows of these many elements; 0: one group.
constexpr uint64_t kGroupSizes[] = {0, 1, 5, 64, 1000};
// About runs, warps and tiles, and several tiles.
constexpr uint64_t kCounts[] = {1, 31, 63, 64, 65, 127, 2049, 8191, 16'384, 16'385, 300'007};

// The bits of what stays of a and b, a first.
template <HalfElement T>
T ExtremeOf(T a, T b, bool is_max) {
  const auto x = static_cast<float>(a);
  const auto y = static_cast<float>(b);
  if (std::isnan(x)) return a;
  if (std::isnan(y)) return b;
  return (is_max ? y > x : y < x) ? b : a;
}
template <IntegerElement T>
T ExtremeOf(T a, T b, bool is_max) {
  return is_max ? std::max(a, b) : std::min(a, b);
}

template <HalfElement T>
constexpr uint16_t kInfinityBits = std::is_same_v<T, Float16> ? 0x7C00 : 0x7F80;

// All NaNs are alike.
template <class T>
std::vector<T> WithOneNan(std::vector<T> values) {
  if constexpr (HalfElement<T>) {
    for (T& x : values) {
      if ((x.bits & 0x7FFF) > kInfinityBits<T>) x = T{0x7FFF};
    }
  }
  return values;
}

template <class T>
T WorstExtreme(bool is_max) {
  if constexpr (HalfElement<T>) {
    return T{static_cast<uint16_t>(kInfinityBits<T> | (is_max ? 0x8000 : 0))};
  } else {
    return is_max ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  }
}

template <class T>
std::vector<T> LoopExtremes(const std::vector<T>& values, uint64_t group_size,
                            const ScanSpec& spec) {
  const bool is_max = spec.operation == ScanOperation::kMax;
  const bool reverse = spec.direction == ScanDirection::kReverse;
  const uint64_t count = values.size();
  std::vector<T> results(count);
  T extreme{};
  for (uint64_t p = 0; p < count; ++p) {
    const uint64_t i = reverse ? count - 1 - p : p;
    const bool is_head = p % group_size == 0;
    const T before = is_head ? WorstExtreme<T>(is_max) : extreme;
    extreme = is_head ? values[i] : ExtremeOf(extreme, values[i], is_max);
    results[i] = spec.mode == ScanMode::kExclusive ? before : extreme;
  }
  return results;
}

template <class T>
T FromBits(uint64_t bits) {
  if constexpr (HalfElement<T>) {
    return T{static_cast<uint16_t>(bits)};
  } else {
    return static_cast<T>(bits);
  }
}

// All bits; values that rise, so that extremes change everywhere; few of small magnitude, zeros of
// both signs among them.
template <class T>
std::vector<std::vector<T>> DataOf(uint64_t count) {
  std::mt19937_64 random(count);
  std::vector<std::vector<T>> data(3, std::vector<T>(count));
  for (uint64_t i = 0; i < count; ++i) {
    data[0][i] = FromBits<T>(random());
    const double rising = 200.0 * static_cast<double>(i) / static_cast<double>(count) - 100;
    const double value = rising + static_cast<double>(random() % 20);
    if constexpr (HalfElement<T>) {
      data[1][i] = T::FromDouble(random() % 50 == 0 ? -0.0 : value);
    } else {
      data[1][i] = static_cast<T>(static_cast<int>(value));
    }
    data[2][i] =
        FromBits<T>(random() % 3 == 0 ? (random() % 2) << (8 * sizeof(T) - 1) : random() % 3);
  }
  return data;
}

// Calls check(spec, columns or 0, size of a group) for all modes, directions and groups.
template <class Check>
void ForEachScan(uint64_t count, Check&& check) {
  for (const uint64_t group_size : kGroupSizes) {
    if (group_size > 0 && count % group_size != 0) continue;
    for (ScanSpec spec : ModesAndDirections()) {
      if (group_size > 0) spec.grouping.kind = GroupingKind::kAxis1;
      check(spec, group_size, group_size > 0 ? group_size : count);
    }
  }
}

template <class T>
class ScanSmallExtremesTest : public ScanDeviceTest {};
using SmallElements = ::testing::Types<int8_t, uint8_t, int16_t, uint16_t, Float16, Bfloat16>;
TYPED_TEST_SUITE(ScanSmallExtremesTest, SmallElements);

TYPED_TEST(ScanSmallExtremesTest, AreThoseOfALoop) {
  std::vector<uint64_t> counts(std::begin(kCounts), std::end(kCounts));
  counts.push_back(320'000);  // Of whole rows.
  for (const uint64_t count : counts) {
    for (const auto& values : DataOf<TypeParam>(count)) {
      ForEachScan(count, [&](ScanSpec spec, uint64_t columns, uint64_t group_size) {
        for (const ScanOperation operation : {ScanOperation::kMin, ScanOperation::kMax}) {
          spec.operation = operation;
          SCOPED_TRACE(testing::Message() << count << " elements, groups of " << group_size);
          const auto result = this->template Scan<TypeParam>(values, spec, columns, count % 2);
          ASSERT_TRUE(result.status.ok()) << result.status;
          ExpectSameBits(WithOneNan(result.values),
                         WithOneNan(LoopExtremes(values, group_size, spec)));
        }
      });
      if (this->HasFailure()) return;
    }
  }
}

template <class T>
class ScanSmallSumsTest : public ScanDeviceTest {};
using SmallIntegers = ::testing::Types<int8_t, uint8_t, int16_t, uint16_t>;
TYPED_TEST_SUITE(ScanSmallSumsTest, SmallIntegers);

// Running sums of all elements as they are, and whether all fit.
template <class T>
bool LoopWrappedSums(const std::vector<T>& values, uint64_t group_size, const ScanSpec& spec,
                     std::vector<T>& results) {
  const uint64_t count = values.size();
  int64_t sum = 0;
  bool fits = true;
  results.resize(count);
  for (uint64_t p = 0; p < count; ++p) {
    const uint64_t i = spec.direction == ScanDirection::kReverse ? count - 1 - p : p;
    if (p % group_size == 0) sum = 0;
    const int64_t before = sum;
    sum += values[i];
    const int64_t result = spec.mode == ScanMode::kExclusive ? before : sum;
    results[i] = static_cast<T>(result);
    fits &= result >= std::numeric_limits<T>::min() && result <= std::numeric_limits<T>::max();
  }
  return fits;
}

TYPED_TEST(ScanSmallSumsTest, WrapAsALoopDoes) {
  for (const uint64_t count : kCounts) {
    for (const auto& values : DataOf<TypeParam>(count)) {
      ForEachScan(count, [&](ScanSpec spec, uint64_t columns, uint64_t group_size) {
        SCOPED_TRACE(testing::Message() << count << " elements, groups of " << group_size);
        spec.overflow_policy = OverflowPolicy::kWrap;
        const auto result = this->template Scan<TypeParam>(values, spec, columns);
        ASSERT_TRUE(result.status.ok()) << result.status;
        EXPECT_EQ(result.overflow_flag, 0);
        std::vector<TypeParam> expected;
        LoopWrappedSums(values, group_size, spec, expected);
        ExpectSameBits(result.values, expected);
      });
      if (this->HasFailure()) return;
    }
  }
}

// Sums stay at the ends of what fits but for one step, wherever in a run that is.
TYPED_TEST(ScanSmallSumsTest, OneStepTooFarSetsTheFlag) {
  using Limits = std::numeric_limits<TypeParam>;
  const uint64_t count = 20'000;
  for (const bool above : {true, false}) {
    if (!above && !std::is_signed_v<TypeParam>) continue;
    for (uint64_t step = 8192; step < 8192 + 66; ++step) {
      for (const bool too_far : {false, true}) {
        for (const ScanMode mode : {ScanMode::kInclusive, ScanMode::kExclusive}) {
          std::vector<TypeParam> values(count, 0);
          values[3] = above ? Limits::max() : Limits::min();
          if (too_far) {
            values[step] = static_cast<TypeParam>(above ? 1 : -1);
            if (std::is_signed_v<TypeParam>)
              values[step + 1] = static_cast<TypeParam>(-values[step]);
          }
          const ScanSpec spec = SpecOf(mode);
          std::vector<TypeParam> expected;
          const bool fits = LoopWrappedSums(values, count, spec, expected);
          ASSERT_EQ(fits, !too_far);
          const auto result = this->template Scan<TypeParam>(values, spec);
          ASSERT_TRUE(result.status.ok()) << result.status;
          ASSERT_EQ(result.overflow_flag, too_far) << "step " << step;
          if (fits) ExpectSameBits(result.values, expected);
        }
      }
    }
  }
}

template <class T>
class ScanHalfSumsTest : public ScanDeviceTest {};
using Halves = ::testing::Types<Float16, Bfloat16>;
TYPED_TEST_SUITE(ScanHalfSumsTest, Halves);

// Results along the tree, rounded once. `values` are numbers, or NaN that counts as nothing.
template <class T>
std::vector<T> ScanByTree(const std::vector<T>& values, uint64_t group_size, const ScanSpec& spec) {
  const conformance::FloatOperation operation{spec.operation == ScanOperation::kProduct};
  const bool reverse = spec.direction == ScanDirection::kReverse;
  const uint64_t count = values.size();
  std::vector<double> numbers(count);
  std::vector<bool> heads(count);
  for (uint64_t p = 0; p < count; ++p) {
    const auto x = static_cast<double>(values[reverse ? count - 1 - p : p]);
    numbers[p] = std::isnan(x) ? operation.EmptyResult() : x;
    heads[p] = p % group_size == 0;
  }
  const std::vector<double> by_position =
      conformance::ScanByTree(numbers, heads, operation, spec.mode == ScanMode::kExclusive);
  std::vector<T> results(count);
  for (uint64_t p = 0; p < count; ++p) {
    results[reverse ? count - 1 - p : p] = T::FromDouble(by_position[p]);
  }
  return results;
}

// Sums that leave what float16 has, and what float64 has of its multiples, and come back.
template <class T>
std::vector<T> FarAndBack(uint64_t count) {
  std::mt19937_64 random(count);
  std::vector<T> values(count);
  for (uint64_t i = 0; i < count; ++i) {
    const double far = i < count / 2 ? 60'000 : i >= count - count / 2 ? -60'000 : 0;
    const double near = std::ldexp(static_cast<double>(random() % 2048), -24);
    values[i] = T::FromDouble(random() % 4 == 0 ? near : far);
  }
  return values;
}

TYPED_TEST(ScanHalfSumsTest, FollowTheTree) {
  std::vector<uint64_t> counts(std::begin(kCounts), std::end(kCounts));
  counts.push_back(320'000);  // Of whole rows.
  for (const uint64_t count : counts) {
    std::mt19937_64 random(count);
    std::vector<std::vector<TypeParam>> data = DataOf<TypeParam>(count);
    // All finite bits, and the same with one infinity, and with NaN that are ignored.
    for (auto& value : data[0]) {
      while ((value.bits & 0x7FFF) >= kInfinityBits<TypeParam>) {
        value.bits = static_cast<uint16_t>(random());
      }
    }
    data.push_back(data[0]);
    data.back()[count / 2].bits = kInfinityBits<TypeParam>;
    data.push_back(FarAndBack<TypeParam>(count));
    data.push_back(data[0]);
    for (auto& value : data.back()) {
      if (random() % 40 == 0) value.bits = kInfinityBits<TypeParam> | 1;
    }
    for (const auto& values : data) {
      ForEachScan(count, [&](ScanSpec spec, uint64_t columns, uint64_t group_size) {
        if (&values == &data.back()) spec.nan_policy = NanPolicy::kIgnore;
        SCOPED_TRACE(testing::Message() << count << " elements, groups of " << group_size);
        const auto result = this->template Scan<TypeParam>(values, spec, columns, count % 2);
        ASSERT_TRUE(result.status.ok()) << result.status;
        ExpectSameBits(result.values, ScanByTree(values, group_size, spec));
      });
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(ScanHalfSumsTest, ProductsFollowTheTree) {
  for (const uint64_t count : kCounts) {
    std::mt19937_64 random(count);
    std::vector<TypeParam> values(count);
    for (auto& value : values) {
      value = TypeParam::FromDouble(1 + (static_cast<double>(random() % 256) - 127.5) / 512);
    }
    ForEachScan(count, [&](ScanSpec spec, uint64_t columns, uint64_t group_size) {
      spec.operation = ScanOperation::kProduct;
      const std::vector<TypeParam> expected = ScanByTree(values, group_size, spec);
      SCOPED_TRACE(testing::Message() << count << " elements, groups of " << group_size);
      const auto plain = this->template Scan<TypeParam>(values, spec, columns);
      ASSERT_TRUE(plain.status.ok()) << plain.status;
      if (plain.overflow_flag == 0) ExpectSameBits(plain.values, expected);
      spec.operation = ScanOperation::kScaledProduct;
      const auto scaled = this->template Scan<TypeParam>(values, spec, columns);
      ASSERT_TRUE(scaled.status.ok()) << scaled.status;
      EXPECT_EQ(scaled.overflow_flag, 0u);
      ExpectSameBits(scaled.values, expected);
      // Far fewer than would leave the window.
      if (group_size <= 2049) {
        EXPECT_EQ(plain.overflow_flag, 0u);
      }
    });
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(ScanHalfSumsTest, NanIsWhatFollowsANan) {
  const uint64_t count = 50'000;
  for (const uint64_t at : {0, 5, 15, 16, 4095, 20'000, 49'999}) {
    std::vector<TypeParam> values(count, TypeParam::FromDouble(1));
    values[at].bits = kInfinityBits<TypeParam> | 1;
    const auto result = this->template Scan<TypeParam>(values, {});
    ASSERT_TRUE(result.status.ok()) << result.status;
    std::vector<TypeParam> expected(count);
    for (uint64_t i = 0; i < count; ++i) {
      expected[i] = i < at ? TypeParam::FromDouble(static_cast<double>(i + 1)) : values[at];
    }
    ExpectSameBits(WithOneNan(result.values), WithOneNan(expected));
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
