// Accumulators of genuine states, whatever the elements: no rule of contradictions.h refuses them.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "kernels/accumulators/accumulator_test_util.h"
#include "kernels/accumulators/state_test_util.h"

namespace gridfold::kernels {
namespace {

template <class T>
class GenuineStateTest : public testing::Test {};
using ElementTypes = testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                                    uint64_t, Float16, Bfloat16, float, double>;
TYPED_TEST_SUITE(GenuineStateTest, ElementTypes);

TYPED_TEST(GenuineStateTest, IsNeverRefused) {
  using T = TypeParam;
  std::mt19937_64 random(11);
  const std::vector<Statistic> all = AllStatistics<T>();
  for (int round = 0; round < 6'000; ++round) {
    const bool ignore_nan = random() % 2 == 0;
    // Few different elements, so that all kinds of extremes and counts meet.
    std::vector<T> kinds(1 + random() % 3);
    for (T& x : kinds) x = RandomElement<T>(random);
    std::vector<Statistic> statistics;
    while (statistics.empty()) {
      for (const Statistic statistic : all) {
        if (random() % (round % 2 == 0 ? 1 : 3) == 0) statistics.push_back(statistic);
      }
    }
    std::vector<std::string> parts(1 + random() % 3);
    for (std::string& part : parts) {
      std::vector<T> elements(random() % 6);
      for (T& x : elements) x = kinds[random() % kinds.size()];
      // Not told where they begin.
      part =
          BytesOfState<T>(StateOf(elements, ignore_nan), elements.size(), ignore_nan, statistics);
    }
    const auto merged = MergeAll(parts, /*partial=*/true);
    ASSERT_TRUE(merged.ok()) << merged.status() << " in round " << round;
    std::string large = BytesOf(*merged);
    // Many times as many elements.
    for (int doubled = 0; doubled < 3; ++doubled) {
      const auto twice = MergeAll({large, large}, /*partial=*/true);
      ASSERT_TRUE(twice.ok()) << twice.status() << " in round " << round;
      large = BytesOf(*twice);
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels
