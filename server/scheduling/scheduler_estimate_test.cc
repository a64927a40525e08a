// What the scheduler makes of how long jobs take: deadlines that cannot be met, and retry delays.
#include <algorithm>

#include "server/base/error_reason.h"
#include "server/testing/scheduler_fixture.h"

namespace gridfold::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class SchedulerEstimateTest : public SchedulerFixture {
 protected:
  // Lets the scheduler see some jobs, each of which takes `cost`.
  void Teach(std::chrono::nanoseconds cost) {
    for (uint64_t i = 0; i < kCostJobsMin; ++i) {
      ASSERT_TRUE(Submit({}, "taught", cost).ok());
      ASSERT_TRUE(scheduler_->WaitUntilIdle(std::chrono::hours(1)));
    }
  }

  JobWork Due(std::chrono::nanoseconds time, const std::string& tenant = "",
              Priority priority = Priority::kNormal) {
    return {.deadline = clock_.Now() + time, .tenant = tenant, .priority = priority};
  }

  void ExpectUnmeetable(const absl::Status& status) {
    EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
    EXPECT_EQ(ReasonOf(status), kReasonDeadlineUnmeetable);
  }
};

TEST_F(SchedulerEstimateTest, RefusesAJobThatTakesTwiceItsTime) {
  Make(SmallLimits(1));
  EXPECT_TRUE(scheduler_->CheckAdmission(Due(milliseconds(1))).ok()) << "nothing is known yet";
  Teach(milliseconds(100));
  ExpectUnmeetable(scheduler_->CheckAdmission(Due(milliseconds(49))));
  ExpectUnmeetable(Submit(Due(milliseconds(49)), "late"));
  EXPECT_TRUE(scheduler_->CheckAdmission(Due(milliseconds(51))).ok());
  EXPECT_TRUE(scheduler_->CheckAdmission({}).ok());
  EXPECT_EQ(scheduler_->GetStatistics().refused.deadline_unmeetable, 2u);
  EXPECT_EQ(scheduler_->GetStatistics().refused.deadline, 0u);
}

// Or a machine that was slow for a while would refuse such jobs for ever.
TEST_F(SchedulerEstimateTest, TriesAgainWhenNothingWasSeenForLong) {
  Make(SmallLimits(1));
  Teach(milliseconds(100));
  clock_.Advance(kCostLifetime);
  EXPECT_TRUE(scheduler_->CheckAdmission(Due(milliseconds(1))).ok());
}

TEST_F(SchedulerEstimateTest, CountsTheTenantsOwnJobsThatComeFirst) {
  Make(SmallLimits(1, /*jobs_max=*/100));
  Teach(milliseconds(100));
  OccupyLane();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(Submit({.tenant = "a"}, "a").ok());
  ExpectUnmeetable(scheduler_->CheckAdmission(Due(milliseconds(1180), "a")));
  EXPECT_TRUE(scheduler_->CheckAdmission(Due(milliseconds(1200), "a")).ok());
  EXPECT_TRUE(scheduler_->CheckAdmission(Due(milliseconds(60), "a", Priority::kHigh)).ok());
  EXPECT_TRUE(scheduler_->CheckAdmission(Due(milliseconds(60), "b")).ok());
  RunAll();
}

TEST_F(SchedulerEstimateTest, OthersTakeTheirShareOfTheLanesMeanwhile) {
  Make(SmallLimits(1, /*jobs_max=*/100));
  Teach(milliseconds(100));
  OccupyLane();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Submit({.tenant = "a"}, "a").ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Submit({.tenant = "b"}, "b").ok());
  // Behind 5 of its own and all 3 others, in seven eighths of the time; and then half of itself.
  ExpectUnmeetable(scheduler_->CheckAdmission(Due(milliseconds(955), "a")));
  EXPECT_TRUE(scheduler_->CheckAdmission(Due(milliseconds(975), "a")).ok());
  // Behind 3 of its own and as many of the others.
  ExpectUnmeetable(scheduler_->CheckAdmission(Due(milliseconds(725), "b")));
  EXPECT_TRUE(scheduler_->CheckAdmission(Due(milliseconds(745), "b")).ok());
  RunAll();
}

TEST_F(SchedulerEstimateTest, AJobThatCannotBeInTimeAnyMoreIsDroppedBeforeItRuns) {
  Make(SmallLimits(1, /*jobs_max=*/100));
  Teach(milliseconds(100));
  OccupyLane();
  ASSERT_TRUE(Submit(Due(milliseconds(1000)), "in doubt").ok());
  ASSERT_TRUE(Submit(Due(milliseconds(1000)), "the last one").ok());
  // Less than a job takes; more than half of it.
  clock_.Advance(milliseconds(930));
  RunAll();
  // Nobody waited behind the last one, for whose sake it would be dropped.
  EXPECT_EQ(order_.back(), "the last one");
  EXPECT_EQ(std::count(order_.begin(), order_.end(), "in doubt"), 0);
  ExpectUnmeetable(jobs_[kCostJobsMin + 1].status());
  EXPECT_EQ(scheduler_->GetStatistics().cancelled.deadline, 1u);
}

TEST_F(SchedulerEstimateTest, AJobThatIsSurelyTooLongIsDroppedThoughNobodyWaits) {
  Make(SmallLimits(1, /*jobs_max=*/100));
  Teach(milliseconds(100));
  OccupyLane();
  ASSERT_TRUE(Submit(Due(milliseconds(1000)), "too late").ok());
  clock_.Advance(milliseconds(960));
  RunAll();
  EXPECT_EQ(order_.back(), "taught");
  ExpectUnmeetable(jobs_.back().status());
}

TEST_F(SchedulerEstimateTest, TheRetryDelayIsTheTimeForAQuarterOfTheQueue) {
  Make(SmallLimits(1, /*jobs_max=*/16));
  Teach(milliseconds(1000));
  OccupyLane();
  for (int i = 0; i < 16; ++i) {
    ASSERT_TRUE(Submit({.tenant = std::to_string(i)}, "waiting").ok());
  }
  EXPECT_EQ(RetryDelayOf(scheduler_->CheckAdmission({})), milliseconds(4000));
  RunAll();
}

TEST_F(SchedulerEstimateTest, TheRetryDelayHasBounds) {
  Make(SmallLimits(1, /*jobs_max=*/1));
  OccupyLane();
  ASSERT_TRUE(Submit({}, "waiting").ok());
  EXPECT_EQ(RetryDelayOf(scheduler_->CheckAdmission({})), kRetryDelay) << "nothing is known";
  RunAll();
  for (const auto& [cost, delay] :
       {std::pair<std::chrono::nanoseconds, milliseconds>(milliseconds(1), kRetryDelayMin),
        std::pair<std::chrono::nanoseconds, milliseconds>(seconds(100), kRetryDelayMax)}) {
    scheduler_.reset();
    engines_.clear();
    Make(SmallLimits(1, /*jobs_max=*/1));
    Teach(cost);
    Gate gate;
    TestJob running(WaitAt(gate));
    ASSERT_TRUE(scheduler_->Submit(running.job()).ok());
    gate.WaitForArrivals(1);
    ASSERT_TRUE(Submit({}, "waiting").ok());
    EXPECT_EQ(RetryDelayOf(scheduler_->CheckAdmission({})), delay);
    gate.Open();
    ASSERT_TRUE(scheduler_->WaitUntilIdle(std::chrono::hours(1)));
  }
}

}  // namespace
}  // namespace gridfold::server
