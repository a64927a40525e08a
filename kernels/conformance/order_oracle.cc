#include "kernels/conformance/order_oracle.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace gridfold::kernels::conformance {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The slot of an element, which is exact in long double.
uint64_t SlotOf(long double x, ElementType type) {
  if (IsFloatingPoint(type)) return std::bit_cast<uint64_t>(static_cast<double>(x));
  return IsUnsigned(type) ? static_cast<uint64_t>(x)
                          : static_cast<uint64_t>(static_cast<int64_t>(x));
}

struct Sorted {
  std::vector<long double> numbers;
  bool is_nan = false;
};

Sorted SortedGroup(const TestArray& array, const GroupElements& group, NanPolicy policy) {
  Sorted sorted;
  for (uint64_t i = 0; i < group.count; ++i) {
    const long double x = array[group.index(i)];
    if (!std::isnan(x)) {
      sorted.numbers.push_back(x == 0 ? 0 : x);
    } else if (policy == NanPolicy::kPropagate) {
      sorted.is_nan = true;
    }
  }
  std::sort(sorted.numbers.begin(), sorted.numbers.end());
  return sorted;
}

// NumPy's _lerp; the difference of integers does not wrap around.
double Between(long double low, long double high, double t, ElementType type) {
  const auto a = static_cast<double>(low);
  const auto b = static_cast<double>(high);
  if (low == high) return a;
  const double difference = IsFloatingPoint(type) ? b - a : static_cast<double>(high - low);
  if (std::isinf(a) || std::isinf(b)) return std::isinf(a) && std::isinf(b) ? kNan : a + b;
  if (std::isinf(difference)) return a * (1 - t) + b * t;
  return t < 0.5 ? a + difference * t : b - difference * (1 - t);
}

double MeanOf(long double low, long double high) {
  const auto a = static_cast<double>(low);
  const auto b = static_cast<double>(high);
  return low == high ? a : std::isinf(a + b) ? a / 2 + b / 2 : (a + b) / 2;
}

uint64_t ExpectedQuantile(const std::vector<long double>& numbers, double quantile,
                          QuantileMethod method, ElementType type) {
  const double place = static_cast<double>(numbers.size() - 1) * quantile;
  const auto below = numbers[static_cast<size_t>(std::floor(place))];
  const auto above = numbers[static_cast<size_t>(std::ceil(place))];
  const auto bits = [](double x) { return std::bit_cast<uint64_t>(x); };
  switch (method) {
    case QuantileMethod::kLower: return SlotOf(below, type);
    case QuantileMethod::kHigher: return SlotOf(above, type);
    case QuantileMethod::kNearest:
      return SlotOf(numbers[static_cast<size_t>(std::nearbyint(place))], type);
    case QuantileMethod::kLinear:
      return bits(Between(below, above, place - std::floor(place), type));
    case QuantileMethod::kMidpoint: return bits(Between(below, above, 0.5, type));
    case QuantileMethod::kMean: return bits(MeanOf(below, above));
  }
  return 0;
}

void CheckSlot(uint64_t got, uint64_t expected, bool is_double) {
  if (is_double && std::isnan(std::bit_cast<double>(expected))) {
    EXPECT_EQ(got, std::bit_cast<uint64_t>(kNan));
  } else if (is_double) {
    EXPECT_EQ(got, expected) << std::bit_cast<double>(got) << " and not "
                             << std::bit_cast<double>(expected);
  } else {
    EXPECT_EQ(got, expected);
  }
}

}  // namespace

void CheckQuantiles(const TestArray& array, const QuantileSpec& spec,
                    const absl::StatusOr<QuantileResult>& result) {
  SCOPED_TRACE(Describe(array.description()));
  ASSERT_TRUE(result.ok()) << result.status();
  const std::vector<GroupElements> groups = GroupsOf(array.description(), spec.grouping);
  const size_t target_count = spec.quantiles.size() + spec.ranks.size();
  ASSERT_EQ(result->slots.size(), target_count * groups.size());
  const bool is_floating = IsFloatingPoint(array.type());
  for (size_t g = 0; g < groups.size(); ++g) {
    const Sorted sorted = SortedGroup(array, groups[g], spec.nan_policy);
    for (size_t t = 0; t < target_count; ++t) {
      SCOPED_TRACE(testing::Message() << "group " << g << ", target " << t);
      const uint64_t got = result->slots[t * groups.size() + g];
      const bool is_rank = t >= spec.quantiles.size();
      const uint64_t rank = is_rank ? spec.ranks[t - spec.quantiles.size()] : 0;
      if (sorted.is_nan || rank >= sorted.numbers.size()) {
        CheckSlot(got, std::bit_cast<uint64_t>(kNan), true);
      } else if (is_rank) {
        CheckSlot(got, SlotOf(sorted.numbers[rank], array.type()), is_floating);
      } else {
        CheckSlot(got,
                  ExpectedQuantile(sorted.numbers, spec.quantiles[t], spec.method, array.type()),
                  is_floating || Interpolates(spec.method));
      }
      if (testing::Test::HasFailure()) return;
    }
  }
}

void CheckTop(const TestArray& array, const TopSpec& spec,
              const absl::StatusOr<TopResult>& result) {
  SCOPED_TRACE(Describe(array.description()));
  ASSERT_TRUE(result.ok()) << result.status();
  const std::vector<GroupElements> groups = GroupsOf(array.description(), spec.grouping);
  ASSERT_EQ(result->slots.size(), spec.count * groups.size());
  ASSERT_EQ(result->indices.size(), spec.count * groups.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    std::vector<uint64_t> order;
    const auto at = [&](uint64_t i) { return array[groups[g].index(i)]; };
    for (uint64_t i = 0; i < groups[g].count; ++i) {
      if (spec.nan_policy == NanPolicy::kPropagate || !std::isnan(at(i))) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](uint64_t a, uint64_t b) {
      if (std::isnan(at(a)) || std::isnan(at(b))) return std::isnan(at(a)) && !std::isnan(at(b));
      return spec.smallest ? at(a) < at(b) : at(a) > at(b);
    });
    for (uint64_t i = 0; i < spec.count; ++i) {
      SCOPED_TRACE(testing::Message() << "group " << g << ", element " << i);
      const uint64_t place = g * spec.count + i;
      ASSERT_EQ(result->indices[place], order[i]);
      CheckSlot(result->slots[place], SlotOf(at(order[i]), array.type()),
                IsFloatingPoint(array.type()));
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace gridfold::kernels::conformance
