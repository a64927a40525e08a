// When a run is stable, which rate a search finds, and what settings mean.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/load/run/load_settings.h"
#include "client/load/run/rate_search.h"
#include "client/load/run/stability.h"

namespace gridfold::load {
namespace {

using ::testing::HasSubstr;

TEST(StabilityDetectorTest, TellsSettledFiguresFromDriftingOnes) {
  StabilityDetector settled(0.05);
  for (int i = 1; i < 10; ++i) {
    EXPECT_FALSE(settled.Add({1000, 1, 5 + 0.01 * i})) << i;
  }
  EXPECT_TRUE(settled.Add({1000, 1, 5}));
  // One second out of line is in the means for ten.
  EXPECT_FALSE(settled.Add({1000, 1, 50}));

  StabilityDetector drifting(0.05);
  for (int i = 0; i < 30; ++i) EXPECT_FALSE(drifting.Add({1000, 1 + 0.1 * i, 5})) << i;

  StabilityDetector silent(0.05);
  for (int i = 0; i < 30; ++i) EXPECT_FALSE(silent.Add({0, 0, 0})) << i;
}

std::optional<double> Search(double first_rate, double capacity, int* tries) {
  RateSearch search(first_rate);
  *tries = 0;
  while (const std::optional<double> rate = search.NextRate()) {
    search.Report(*rate <= capacity);
    if (++*tries > 100) break;
  }
  return search.best_rate();
}

TEST(RateSearchTest, FindsTheCapacityFromAboveAndBelow) {
  int tries = 0;
  for (const double first_rate : {1.0, 100.0, 4321.0, 1e6}) {
    const std::optional<double> found = Search(first_rate, 4321, &tries);
    ASSERT_TRUE(found.has_value());
    EXPECT_LE(*found, 4321);
    EXPECT_GE(*found * 1.05, 4321);
    EXPECT_LT(tries, 25);
  }
}

TEST(RateSearchTest, EndsWhereNothingOrEverythingIsKept) {
  int tries = 0;
  EXPECT_FALSE(Search(100, 0, &tries).has_value());
  EXPECT_LT(tries, 20);
  EXPECT_GT(*Search(100, 1e30, &tries), 1e6);
  EXPECT_LT(tries, 30);
}

TEST(LoadSettingsTest, AreReadAndChecked) {
  const auto plan = MakeLoadPlan({{"rate", "100:200,300"},
                                  {"arrivals", "constant"},
                                  {"warm-up", "0"},
                                  {"until-stable", "3%"},
                                  {"verify", "all"}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_TRUE(plan->is_open_loop);
  EXPECT_EQ(plan->levels.size(), 2u);
  EXPECT_EQ(plan->warm_up, absl::ZeroDuration());
  EXPECT_DOUBLE_EQ(*plan->stability, 0.03);
  EXPECT_EQ(plan->verify, Verify::kAll);

  const auto search = MakeLoadPlan({{"find-rate", "5ms"}, {"rate", "50"}});
  ASSERT_TRUE(search.ok()) << search.status();
  EXPECT_EQ(search->search->p99_max, absl::Milliseconds(5));
  EXPECT_EQ(search->search->rate_min, 50);
}

TEST(LoadSettingsTest, ErrorsNameTheSetting) {
  const std::vector<LoadSettings> wrong = {{{"rate", "0"}},
                                           {{"concurrency", "0.5"}},
                                           {{"concurrency", "5000"}},
                                           {{"duration", "10"}},
                                           {{"warm-up", "-1s"}},
                                           {{"until-stable", "x"}},
                                           {{"count", "0"}},
                                           {{"connections", "0"}},
                                           {{"threads", "-1"}},
                                           {{"verify", "some"}},
                                           {{"arrivals", "sometimes"}},
                                           {{"timeout", "0s"}},
                                           {{"find-rate", "5"}},
                                           {{"seed", "-1"}},
                                           {{"in-flight-max", "1e9"}},
                                           {{"speed", "1"}}};
  for (const LoadSettings& settings : wrong) {
    const auto plan = MakeLoadPlan(settings);
    ASSERT_FALSE(plan.ok()) << settings.begin()->first;
    EXPECT_THAT(std::string(plan.status().message()), HasSubstr(settings.begin()->first));
  }
  EXPECT_FALSE(MakeLoadPlan({{"rate", "1"}, {"concurrency", "1"}}).ok());
  EXPECT_FALSE(MakeLoadPlan({{"find-rate", "1ms"}, {"rate", "1,2"}}).ok());
  EXPECT_FALSE(MakeLoadPlan({{"find-rate", "1ms"}, {"count", "3"}}).ok());
}

}  // namespace
}  // namespace gridfold::load
