// When a run is stable, which rate a search finds, and what settings mean.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <random>
#include <vector>

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

// Each figure counts by itself, up to the tolerance and in either direction.
TEST(StabilityDetectorTest, EachFigureCountsUpToTheTolerance) {
  using Second = StabilityDetector::Second;
  const auto is_stable = [](const Second& before, const Second& after) {
    StabilityDetector detector(0.25);
    bool is_so_now = false;
    for (int i = 0; i < 10; ++i) is_so_now = detector.Add(i < 5 ? before : after);
    return is_so_now;
  };
  const Second usual = {8, 8, 8};
  for (double Second::*figure : {&Second::rate, &Second::p50, &Second::p99}) {
    for (const double alike : {6.0, 8.0, 10.0}) {
      Second after = usual;
      after.*figure = alike;
      EXPECT_TRUE(is_stable(usual, after)) << alike;
    }
    for (const double other : {0.0, 5.9, 10.1}) {
      Second after = usual;
      after.*figure = other;
      EXPECT_FALSE(is_stable(usual, after)) << other;
    }
    Second nothing = usual;
    nothing.*figure = 0;
    EXPECT_FALSE(is_stable(nothing, usual));
  }
}

// What is older than ten seconds counts no more.
TEST(StabilityDetectorTest, TheLastTenSecondsCount) {
  StabilityDetector detector(0.25);
  for (int i = 0; i < 5; ++i) detector.Add({1000, 1000, 1000});
  for (int i = 1; i < 10; ++i) EXPECT_FALSE(detector.Add({8, 8, 8})) << i;
  EXPECT_TRUE(detector.Add({8, 8, 8}));
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

std::vector<double> RatesTried(double first_rate, double capacity) {
  RateSearch search(first_rate);
  std::vector<double> rates;
  while (const std::optional<double> rate = search.NextRate()) {
    rates.push_back(*rate);
    search.Report(*rate <= capacity);
    if (rates.size() > 200) break;
  }
  return rates;
}

TEST(RateSearchTest, DoublesOrHalvesThenCutsInHalfAndRunsBothEndsAgain) {
  // The rates between two powers are their geometric means.
  const double a = 200 * std::sqrt(2);
  const double b = std::sqrt(a * 400);
  const double c = std::sqrt(b * 400);
  const double d = std::sqrt(c * 400);
  const double e = std::sqrt(d * 400);
  EXPECT_THAT(RatesTried(100, 399),
              testing::Pointwise(testing::DoubleEq(), {100.0, 200.0, 400.0, a, b, c, d, 400.0, d}));
  EXPECT_LT(e / d, 1.05) << "and so it was not tried";
  EXPECT_THAT(RatesTried(4, 1.99), testing::Contains(1.0));
  EXPECT_EQ(RatesTried(4, 2)[1], 2);
}

TEST(RateSearchTest, NothingIsSoughtBelowATenthOrAboveTenMillions) {
  EXPECT_THAT(RatesTried(0.2, 0), testing::ElementsAre(0.2, 0.1, 0.1));
  EXPECT_THAT(RatesTried(0.15, 0), testing::ElementsAre(0.15, 0.15));
  EXPECT_THAT(RatesTried(5e6, 1e30), testing::ElementsAre(5e6, 1e7, 1e7));
  EXPECT_THAT(RatesTried(6e6, 1e30), testing::ElementsAre(6e6, 6e6));
}

// Of a rate whose runs say yes and no in turn the search would never end.
TEST(RateSearchTest, HundredRunsAreEnough) {
  RateSearch search(100);
  int runs = 0;
  while (const std::optional<double> rate = search.NextRate()) {
    search.Report(runs % 2 == 0);
    ASSERT_LE(++runs, 100);
  }
  EXPECT_GT(runs, 2);
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
