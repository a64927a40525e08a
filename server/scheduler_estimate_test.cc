// What the scheduler makes of how long jobs take: deadlines that cannot be met, and retry delays.
#include "server/error_reason.h"
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
  ExpectUnmeetable(scheduler_->CheckAdmission(Due(milliseconds(540), "a")));
  EXPECT_TRUE(scheduler_->CheckAdmission(Due(milliseconds(560), "a")).ok());
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
  // Behind 5 of its own and all 3 others, and then itself; half of that.
  ExpectUnmeetable(scheduler_->CheckAdmission(Due(milliseconds(440), "a")));
  EXPECT_TRUE(scheduler_->CheckAdmission(Due(milliseconds(460), "a")).ok());
  // Behind 3 of its own and as many of the others.
  ExpectUnmeetable(scheduler_->CheckAdmission(Due(milliseconds(340), "b")));
  EXPECT_TRUE(scheduler_->CheckAdmission(Due(milliseconds(360), "b")).ok());
  RunAll();
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
