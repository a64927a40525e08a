#include "client/load/run/arrival_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace gridfold::load {
namespace {

std::vector<double> ArrivalsUntil(ArrivalSchedule schedule, double end_s) {
  std::vector<double> times;
  for (double time = static_cast<double>(schedule.NextNs()) / 1e9; time < end_s;
       time = static_cast<double>(schedule.NextNs()) / 1e9) {
    times.push_back(time);
  }
  return times;
}

size_t CountBetween(const std::vector<double>& times, double begin_s, double end_s) {
  return static_cast<size_t>(std::count_if(
      times.begin(), times.end(), [&](double time) { return begin_s <= time && time < end_s; }));
}

TEST(LoadLevelTest, ParsesLevelsRampsAndSteps) {
  const auto steps = ParseLoadLevels("100,200:50,4e2");
  ASSERT_TRUE(steps.ok()) << steps.status();
  ASSERT_EQ(steps->size(), 3u);
  EXPECT_EQ((*steps)[0].last, 100);
  EXPECT_EQ((*steps)[1].first, 200);
  EXPECT_EQ((*steps)[1].last, 50);
  EXPECT_EQ((*steps)[1].max(), 200);
  EXPECT_EQ((*steps)[2].first, 400);
  for (const char* const wrong : {"", "0", "-1", "x", "1,", "1:", ":1", "nan", "inf", "1e30"}) {
    EXPECT_FALSE(ParseLoadLevels(wrong).ok()) << wrong;
  }
}

TEST(ArrivalScheduleTest, ConstantArrivalsOfSeveralSendersInterleave) {
  const LoadProfile profile({100, 100}, absl::Seconds(1), absl::Seconds(3));
  std::vector<double> all;
  for (int sender = 0; sender < 3; ++sender) {
    const auto part = ArrivalsUntil({profile, Arrivals::kConstant, sender, 3, 1}, 4);
    all.insert(all.end(), part.begin(), part.end());
  }
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), 400u);
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_NEAR(all[i], static_cast<double>(i) / 100, 1e-8);
  }
}

TEST(ArrivalScheduleTest, ARampHasTheCallsOfItsIntegral) {
  for (const LoadLevel level : {LoadLevel{100, 1000}, LoadLevel{1000, 100}}) {
    const LoadProfile profile(level, absl::Seconds(2), absl::Seconds(10));
    const auto times = ArrivalsUntil({profile, Arrivals::kConstant, 0, 1, 1}, 20);
    EXPECT_NEAR(CountBetween(times, 0, 2), 2 * level.first, 1);
    EXPECT_NEAR(CountBetween(times, 2, 12), 5500, 1);
    EXPECT_NEAR(CountBetween(times, 12, 20), 8 * level.last, 1);
    // Within the ramp as well: the rate goes evenly.
    EXPECT_NEAR(CountBetween(times, 2, 7), 5 * (0.75 * level.first + 0.25 * level.last), 2);
    EXPECT_NEAR(profile.At(0), level.first, 1e-9);
    EXPECT_NEAR(profile.At(7), 550, 1e-9);
    EXPECT_NEAR(profile.At(99), level.last, 1e-9);
  }
}

TEST(ArrivalScheduleTest, PoissonArrivalsHaveTheRateAndTheSpreadOfTheProcess) {
  const LoadProfile profile({1000, 1000}, absl::ZeroDuration(), absl::Seconds(100));
  std::vector<double> all;
  for (int sender = 0; sender < 4; ++sender) {
    const auto part = ArrivalsUntil(
        {profile, Arrivals::kPoisson, sender, 4, 7u + static_cast<unsigned>(sender)}, 100);
    all.insert(all.end(), part.begin(), part.end());
  }
  std::sort(all.begin(), all.end());
  // 100,000 expected, with a standard deviation of 316.
  EXPECT_NEAR(static_cast<double>(all.size()), 100'000, 1'600);
  double sum = 0;
  double sum_of_squares = 0;
  for (size_t i = 1; i < all.size(); ++i) {
    const double gap = all[i] - all[i - 1];
    sum += gap;
    sum_of_squares += gap * gap;
  }
  const double mean = sum / static_cast<double>(all.size() - 1);
  const double variance = sum_of_squares / static_cast<double>(all.size() - 1) - mean * mean;
  // Of an exponential distribution the standard deviation is the mean.
  EXPECT_NEAR(std::sqrt(variance) / mean, 1, 0.02);
}

// A burst at the start, or first calls that come too late, would not show in the rate of many.
TEST(ArrivalScheduleTest, FirstPoissonArrivalsAreSpreadAsAllGapsAre) {
  const LoadProfile profile({100, 100}, absl::ZeroDuration(), absl::Seconds(10));
  constexpr int kSeeds = 20'000;
  constexpr int kSenders = 4;
  double sum_s = 0;
  int within_mean = 0;
  int at_once = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    ArrivalSchedule schedule(profile, Arrivals::kPoisson, seed % kSenders, kSenders, seed);
    const double first_s = static_cast<double>(schedule.NextNs()) / 1e9;
    sum_s += first_s;
    within_mean += first_s < 0.04;
    at_once += first_s < 0.0004;
  }
  // A sender of four has 25 calls a second: 40 ms to the first on average, with that as its
  // standard deviation; 63.2 % come within the mean, and 1 % within a hundredth of it.
  EXPECT_NEAR(sum_s / kSeeds, 0.04, 5 * 0.04 / std::sqrt(kSeeds));
  EXPECT_NEAR(within_mean / double{kSeeds}, 1 - std::exp(-1), 0.02);
  EXPECT_NEAR(at_once / double{kSeeds}, 0.01, 0.005);
}

TEST(ArrivalScheduleTest, FirstConstantArrivalsOfSendersAreOneGapApart) {
  const LoadProfile profile({100, 100}, absl::ZeroDuration(), absl::Seconds(10));
  for (unsigned seed = 0; seed < 100; ++seed) {
    for (int sender = 0; sender < 4; ++sender) {
      ArrivalSchedule schedule(profile, Arrivals::kConstant, sender, 4, seed);
      EXPECT_EQ(schedule.NextNs(), sender * 10'000'000);
    }
  }
}

}  // namespace
}  // namespace gridfold::load
