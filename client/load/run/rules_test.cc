// When a run is stable, which rate a search finds, and what settings mean.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

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

// Searches a server that keeps to the objective up to `capacity`, but for what `lies` says of the
// so-many-th run.
std::optional<FoundRate> SearchWith(double first_rate, double capacity,
                                    const std::function<bool(int)>& lies, int* tries) {
  RateSearch search(first_rate);
  *tries = 0;
  while (const std::optional<double> rate = search.NextRate()) {
    search.Report((*rate <= capacity) != lies(*tries));
    if (++*tries > 200) break;
  }
  return search.found();
}

std::optional<double> Search(double first_rate, double capacity, int* tries) {
  const std::optional<FoundRate> found = SearchWith(
      first_rate, capacity, [](int) { return false; }, tries);
  return found ? std::optional(found->rate) : std::nullopt;
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

TEST(RateSearchTest, EitherEndIsRunTwice) {
  int tries = 0;
  const std::optional<FoundRate> found = SearchWith(
      100, 4321, [](int) { return false; }, &tries);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->runs.kept, 2);
  EXPECT_EQ(found->runs.broken, 0);
  ASSERT_TRUE(found->next_rate.has_value());
  EXPECT_GT(*found->next_rate, 4321);
  EXPECT_EQ(found->next_runs.kept, 0);
  EXPECT_EQ(found->next_runs.broken, 2);
  EXPECT_FALSE(found->doubtful.has_value());
}

// Whichever single run says the opposite of what is so, the search finds the same.
TEST(RateSearchTest, NoSingleRunHasTheLastWord) {
  int tries = 0;
  for (int liar = 0; liar < 15; ++liar) {
    const std::optional<FoundRate> found = SearchWith(
        100, 4321, [liar](int run) { return run == liar; }, &tries);
    ASSERT_TRUE(found.has_value()) << liar;
    EXPECT_LE(found->rate, 4321) << liar;
    EXPECT_GE(found->rate * 1.05, 4321) << liar;
    EXPECT_LT(tries, 25) << liar;
    EXPECT_TRUE(liar >= tries - 1 || found->doubtful.has_value()) << liar;
  }
}

TEST(RateSearchTest, ContradictionsAreTold) {
  int tries = 0;
  // The first run, at 100, is said to break the objective.
  const std::optional<FoundRate> found = SearchWith(
      100, 1000, [](int run) { return run == 0; }, &tries);
  ASSERT_TRUE(found && found->doubtful);
  EXPECT_EQ(found->doubtful->first, 100);
  EXPECT_EQ(found->doubtful->second, found->rate);
}

TEST(RateSearchTest, EndsOnAMachineWhereEveryRunIsNoise) {
  int tries = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    SearchWith(
        100, 1000, [&](int) { return random() % 2 == 0; }, &tries);
    EXPECT_LE(tries, 100);
  }
}

TEST(LoadSettingsTest, DescriptionsAreReadAsTheSamePlan) {
  for (const LoadSettings& given : std::vector<LoadSettings>{
           {},
           {{"rate", "100:200,300"}, {"arrivals", "constant"}, {"until-stable", "3%"}},
           {{"find-rate", "5ms"}, {"rate", "50"}},
           {{"concurrency", "3,17"},
            {"count", "99"},
            {"threads", "2"},
            {"warm-up", "0"},
            {"duration", "1500ms"},
            {"connections", "5"},
            {"in-flight-max", "77"},
            {"timeout", "3s"},
            {"give-up-after", "7s"},
            {"verify", "all"},
            {"seed", "12345678901"}}}) {
    const auto plan = MakeLoadPlan(given);
    ASSERT_TRUE(plan.ok()) << plan.status();
    LoadSettings described;
    for (const auto& [name, text] : DescribeSettings(*plan)) described[name] = text;
    for (const auto& [name, text] : given) EXPECT_TRUE(described.contains(name)) << name;
    const auto again = MakeLoadPlan(described);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(DescribeSettings(*again), DescribeSettings(*plan));
    EXPECT_EQ(again->call_count, plan->call_count);
    EXPECT_EQ(again->verify, plan->verify);
    EXPECT_EQ(again->levels.size(), plan->levels.size());
  }
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
