#include "kernels/numerics/statistics/single_value.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels {
namespace {

template <class T>
std::vector<T> Elements() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> elements = {T{0}, T{1}, T{7}, Limits::max(), Limits::lowest(), Limits::min()};
  if constexpr (std::is_floating_point_v<T>) {
    elements.insert(elements.end(), {T{-0.0}, T{-1.5}, Limits::denorm_min(), -Limits::min()});
  }
  return elements;
}

template <class T>
class SingleValueTest : public testing::Test {};
using Types =
    testing::Types<int8_t, uint8_t, int16_t, int32_t, uint32_t, int64_t, uint64_t, float, double>;
TYPED_TEST_SUITE(SingleValueTest, Types);

// The oracle is the exact state of the element.
TYPED_TEST(SingleValueTest, ValuesAreThoseOfStates) {
  using T = TypeParam;
  int known = 0;
  for (int s = 0; s < kStatisticCount; ++s) {
    const auto statistic = static_cast<Statistic>(s);
    for (const T element : Elements<T>()) {
      FullState<T> state;
      state.Add(element, 0, false);
      uint64_t expected = 0;
      ASSERT_EQ(StatisticValue(statistic, state, 1, {}, &expected), ValueOutcome::kOk);
      int calls = 0;
      VisitSingleValue<T>(statistic, [&](auto slot_of) {
        ++calls;
        EXPECT_EQ(slot_of(element), expected) << StatisticName(statistic) << " of " << +element;
      });
      EXPECT_EQ(calls, SingleStatistics().Has(statistic) ? 1 : 0) << StatisticName(statistic);
      known += calls;
    }
  }
  EXPECT_EQ(known, 19 * static_cast<int>(Elements<T>().size()));
}

}  // namespace
}  // namespace gridfold::kernels
