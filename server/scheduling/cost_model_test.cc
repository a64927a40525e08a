#include "server/scheduling/cost_model.h"

#include <gtest/gtest.h>

#include <random>

#include "server/base/fixed_limits.h"

namespace gridfold::server {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

class CostModelTest : public testing::Test {
 protected:
  void Learn(uint64_t size_bytes, nanoseconds time, int count = 1) {
    for (int i = 0; i < count; ++i) model_.Learn(Rpc::kReduceArray, size_bytes, time, now_);
  }
  double EstimateUs(uint64_t size_bytes) {
    const auto estimate = model_.Estimate(Rpc::kReduceArray, size_bytes, now_);
    return estimate ? std::chrono::duration<double, std::micro>(*estimate).count() : -1;
  }

  CostModel model_;
  JobClock::time_point now_{seconds(100)};
};

TEST_F(CostModelTest, SaysNothingBeforeItHasSeenSomeJobs) {
  Learn(1000, milliseconds(1), static_cast<int>(kCostJobsMin) - 1);
  EXPECT_EQ(EstimateUs(1000), -1);
  Learn(1000, milliseconds(1));
  EXPECT_NEAR(EstimateUs(1000), 1000, 1);
  EXPECT_FALSE(model_.Estimate(Rpc::kScanArray, 1000, now_)) << "kinds are learnt apart";
}

TEST_F(CostModelTest, SaysNothingWhenTheLastJobWasLongAgo) {
  Learn(1000, milliseconds(1), 20);
  now_ += kCostLifetime - nanoseconds(1);
  EXPECT_NEAR(EstimateUs(1000), 1000, 1);
  now_ += nanoseconds(1);
  EXPECT_EQ(EstimateUs(1000), -1);
}

TEST_F(CostModelTest, FindsAFixedTimeAndATimeForEachByte) {
  // 50 us and 1 ns for each byte.
  for (int i = 0; i < 50; ++i) {
    for (const uint64_t size : {100u, 10'000u, 1'000'000u, 100'000'000u}) {
      Learn(size, microseconds(50) + nanoseconds(size));
    }
  }
  EXPECT_NEAR(EstimateUs(0), 50, 1);
  EXPECT_NEAR(EstimateUs(4096), 54, 1);
  EXPECT_NEAR(EstimateUs(10'000'000), 10'050, 100);
}

TEST_F(CostModelTest, WhereAllAreAlikeTheLowerOfTwoGuessesIsTaken) {
  Learn(1000, milliseconds(1), 20);
  EXPECT_NEAR(EstimateUs(100), 100, 1) << "as if it were all for the bytes";
  EXPECT_NEAR(EstimateUs(100'000), 1000, 1) << "as if it were all fixed";
  EXPECT_EQ(EstimateUs(0), 0);
}

TEST_F(CostModelTest, ErrsOnTheLowSideWhereJobsOfOneSizeDiffer) {
  std::minstd_rand random(1);
  for (int i = 0; i < 500; ++i) {
    Learn(1000 + random() % 100'000, random() % 2 == 0 ? microseconds(100) : milliseconds(50));
  }
  EXPECT_LT(EstimateUs(50'000), 1000);
  EXPECT_GT(EstimateUs(50'000), 10);
}

TEST_F(CostModelTest, FollowsAChange) {
  Learn(1000, milliseconds(10), 1000);
  Learn(1000, milliseconds(1), 200);
  EXPECT_NEAR(EstimateUs(1000), 1000, 100);
}

TEST_F(CostModelTest, TakesAnythingAndStaysWithinBounds) {
  for (const uint64_t size : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
    for (const nanoseconds time : {nanoseconds(-1), nanoseconds(0), nanoseconds::max()}) {
      Learn(size, time, 5);
      for (const uint64_t asked : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
        const auto estimate = model_.Estimate(Rpc::kReduceArray, asked, now_);
        if (!estimate) continue;
        EXPECT_GE(*estimate, nanoseconds(0));
        EXPECT_LE(*estimate, kJobCostMax);
      }
    }
  }
}

}  // namespace
}  // namespace gridfold::server
