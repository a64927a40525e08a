// Whose job a free lane takes, and whose job finds room in the queue.
#include <gmock/gmock.h>

#include <algorithm>

#include "server/base/error_reason.h"
#include "server/testing/scheduler_fixture.h"

namespace gridfold::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;

class SchedulerFairnessTest : public SchedulerFixture {
 protected:
  void SubmitMany(int count, const std::string& tenant,
                  std::chrono::nanoseconds cost = milliseconds(10)) {
    for (int i = 0; i < count; ++i) ASSERT_TRUE(Submit({.tenant = tenant}, tenant, cost).ok());
  }

  // How many of the first `count` jobs that ran were the tenant's.
  int64_t Served(const std::string& tenant, int count) {
    return std::count(order_.begin(), order_.begin() + count, tenant);
  }

  static Limits OneLane() { return SmallLimits(1, /*jobs_max=*/10'000, /*bytes_max=*/1 << 20); }
};

TEST_F(SchedulerFairnessTest, AThousandJobsDelayAnothersByNoneButThoseThatRun) {
  Make(OneLane());
  OccupyLane("many");
  SubmitMany(1000, "many");
  SubmitMany(1, "one");
  EXPECT_EQ(RunAll().front(), "one");
}

TEST_F(SchedulerFairnessTest, TenantsOfEqualWeightTakeTurns) {
  Make(OneLane());
  OccupyLane();
  SubmitMany(30, "a");
  SubmitMany(30, "b");
  SubmitMany(30, "c");
  RunAll();
  for (const char* tenant : {"a", "b", "c"}) EXPECT_NEAR(Served(tenant, 45), 15, 1) << tenant;
}

TEST_F(SchedulerFairnessTest, WeightsShareTheTime) {
  Make(OneLane(), {{"a", 3}, {"b", 1}});
  OccupyLane();
  SubmitMany(60, "a");
  SubmitMany(60, "b");
  SubmitMany(60, "with no weight of its own");
  RunAll();
  EXPECT_NEAR(Served("a", 50), 30, 1);
  EXPECT_NEAR(Served("b", 50), 10, 1);
}

TEST_F(SchedulerFairnessTest, ItIsTimeThatIsSharedAndNotTheNumberOfJobs) {
  Make(OneLane());
  OccupyLane();
  SubmitMany(50, "slow", milliseconds(40));
  SubmitMany(50, "fast", milliseconds(10));
  RunAll();
  EXPECT_NEAR(Served("slow", 50), 10, 1);
}

TEST_F(SchedulerFairnessTest, IdlenessEarnsNothing) {
  Make(OneLane());
  // Both are known; then one works alone for long.
  SubmitMany(1, "idle");
  ASSERT_TRUE(scheduler_->WaitUntilIdle(std::chrono::hours(1)));
  SubmitMany(100, "busy");
  ASSERT_TRUE(scheduler_->WaitUntilIdle(std::chrono::hours(1)));
  order_.clear();
  OccupyLane("busy");
  SubmitMany(20, "busy");
  SubmitMany(20, "idle");
  RunAll();
  EXPECT_NEAR(Served("idle", 20), 10, 1);
}

// Without that, a tenant with one waiting job at a time would be served before all others.
TEST_F(SchedulerFairnessTest, WhoAsksAgainAtOncePaysForTheLastTime) {
  Make(OneLane());
  OccupyLane();
  SubmitMany(20, "many");
  int left = 20;
  std::function<void()> ask_again = [&] {
    if (left-- == 0) return;
    TestJob& job = jobs_.emplace_back(JobWork{.tenant = "one"}, [&](const JobContext&) {
      clock_.Advance(milliseconds(10));
      order_.push_back("one");
      ask_again();
      return absl::OkStatus();
    });
    ASSERT_TRUE(scheduler_->Submit(job.job()).ok());
  };
  ask_again();
  RunAll();
  EXPECT_NEAR(Served("one", 20), 10, 1);
}

TEST_F(SchedulerFairnessTest, PrioritiesOrderTheJobsOfOneTenant) {
  Make(OneLane());
  OccupyLane();
  ASSERT_TRUE(Submit({.priority = Priority::kLow}, "low 1").ok());
  ASSERT_TRUE(Submit({.priority = Priority::kNormal}, "normal 1").ok());
  ASSERT_TRUE(Submit({.priority = Priority::kHigh}, "high 1").ok());
  ASSERT_TRUE(Submit({.priority = Priority::kHigh}, "high 2").ok());
  ASSERT_TRUE(Submit({.priority = Priority::kLow}, "low 2").ok());
  ASSERT_TRUE(Submit({.priority = Priority::kNormal}, "normal 2").ok());
  EXPECT_THAT(RunAll(), ElementsAre("high 1", "high 2", "normal 1", "normal 2", "low 1", "low 2"));
}

TEST_F(SchedulerFairnessTest, PrioritiesDoNotHurtOtherTenants) {
  Make(OneLane());
  OccupyLane();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(Submit({.tenant = "loud", .priority = Priority::kHigh}, "loud").ok());
    ASSERT_TRUE(Submit({.tenant = "modest", .priority = Priority::kLow}, "modest").ok());
  }
  RunAll();
  EXPECT_NEAR(Served("modest", 20), 10, 1);
}

TEST_F(SchedulerFairnessTest, CancelledJobsCostNothing) {
  Make(OneLane());
  OccupyLane();
  SubmitMany(20, "a");
  const size_t first = jobs_.size();
  SubmitMany(20, "b");
  for (size_t i = first; i < first + 10; ++i) scheduler_->Cancel(jobs_[i].job());
  RunAll();
  EXPECT_NEAR(Served("b", 20), 10, 1);
}

TEST_F(SchedulerFairnessTest, TheLastQuarterOfTheQueueIsForThoseWithLittleInIt) {
  Make(SmallLimits(1, /*jobs_max=*/16));
  OccupyLane();
  SubmitMany(12, "a");
  const absl::Status refused = Submit({.tenant = "a"}, "a");
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_EQ(ReasonOf(refused), kReasonQueueFull);
  EXPECT_TRUE(RetryDelayOf(refused).has_value());
  EXPECT_EQ(scheduler_->GetStatistics().refused.tenant_share, 1u);
  for (const char* tenant : {"b", "c", "d", "e"}) {
    EXPECT_FALSE(Submit({.tenant = "a"}, "a").ok());
    EXPECT_TRUE(Submit({.tenant = tenant}, tenant).ok()) << tenant;
  }
  EXPECT_FALSE(Submit({.tenant = "f"}, "f").ok());
  EXPECT_EQ(scheduler_->GetStatistics().refused.queue_jobs, 1u);
  EXPECT_EQ(scheduler_->GetStatistics().refused.tenant_share, 5u);
  EXPECT_EQ(scheduler_->GetStatistics().refused.by_queue(), 6u);
  EXPECT_EQ(scheduler_->GetStatistics().queued, 16u);
  RunAll();
  EXPECT_EQ(scheduler_->GetStatistics().queued, 0u);
}

TEST_F(SchedulerFairnessTest, TheReserveIsSharedByWeight) {
  Make(SmallLimits(1, /*jobs_max=*/32), {{"b", 3}});
  OccupyLane();
  SubmitMany(24, "a");
  // 3 of the weights 1 and 3 and one more, of 8 places.
  SubmitMany(4, "b");
  EXPECT_FALSE(Submit({.tenant = "b"}, "b").ok());
  RunAll();
}

TEST_F(SchedulerFairnessTest, BytesAreSharedInTheSameWay) {
  Make(SmallLimits(1, /*jobs_max=*/1000, /*bytes_max=*/400));
  OccupyLane();
  ASSERT_TRUE(Submit({.payload_bytes = 299, .tenant = "a"}, "a").ok());
  EXPECT_FALSE(Submit({.payload_bytes = 2, .tenant = "a"}, "a").ok());
  EXPECT_TRUE(Submit({.payload_bytes = 1, .tenant = "a"}, "a").ok());
  EXPECT_EQ(scheduler_->GetStatistics().refused.tenant_share, 1u);
  // Who has nothing waiting may take all that is left.
  EXPECT_FALSE(Submit({.payload_bytes = 101, .tenant = "b"}, "b").ok());
  EXPECT_TRUE(Submit({.payload_bytes = 100, .tenant = "b"}, "b").ok());
  EXPECT_EQ(scheduler_->GetStatistics().refused.queue_bytes, 1u);
  RunAll();
}

}  // namespace
}  // namespace gridfold::server
