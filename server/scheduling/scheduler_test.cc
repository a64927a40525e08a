// The scheduler's promises one by one, with fake lanes and a fake clock.
#include "server/scheduling/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <vector>

#include "server/base/error_reason.h"
#include "server/testing/test_jobs.h"

namespace gridfold::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class SchedulerTest : public testing::Test {
 protected:
  void Make(const Limits& limits) {
    SchedulerOptions options{.limits = limits};
    options.now = [this] { return clock_.Now(); };
    options.on_engine_lost = [this](uint32_t, bool) { ++engine_lost_count_; };
    absl::StatusOr<std::unique_ptr<Scheduler>> scheduler = Scheduler::Create({&engine_}, options);
    ASSERT_TRUE(scheduler.ok()) << scheduler.status();
    scheduler_ = *std::move(scheduler);
  }

  absl::Status Submit(const TestJob& job) { return scheduler_->Submit(job.job()); }

  // Keeps the only lane of the scheduler busy until the gate opens.
  void OccupyLane() {
    ASSERT_TRUE(Submit(blocker_).ok());
    gate_.WaitForArrivals(1);
  }

  FakeEngine engine_;
  FakeClock clock_;
  int engine_lost_count_ = 0;
  Gate gate_;
  TestJob blocker_{WaitAt(gate_), 10};
  std::unique_ptr<Scheduler> scheduler_;
};

TEST_F(SchedulerTest, AnswersWithTheStatusOfTheJob) {
  Make(SmallLimits(1));
  TestJob good(Succeed(), 7);
  TestJob bad([](const JobContext&) { return absl::OutOfRangeError("overflow"); });
  ASSERT_TRUE(Submit(good).ok());
  EXPECT_TRUE(good.status().ok());
  ASSERT_TRUE(Submit(bad).ok());
  EXPECT_EQ(bad.status(), absl::OutOfRangeError("overflow"));
  const SchedulerStatistics statistics = scheduler_->GetStatistics();
  EXPECT_EQ(statistics.accepted, 2u);
  EXPECT_EQ(statistics.succeeded, 1u);
  EXPECT_EQ(statistics.failed, 1u);
  EXPECT_EQ(statistics.bytes_processed, 7u);
  EXPECT_EQ(statistics.lanes_busy, 0u);
}

TEST_F(SchedulerTest, RunsJobsInTheOrderOfTheirArrival) {
  Make(SmallLimits(1));
  OccupyLane();
  std::vector<int> order;  // Written by the only lane's thread.
  std::vector<std::unique_ptr<TestJob>> jobs;
  for (int i = 0; i < 10; ++i) {
    jobs.push_back(std::make_unique<TestJob>([&order, i](const JobContext&) {
      order.push_back(i);
      return absl::OkStatus();
    }));
    ASSERT_TRUE(Submit(*jobs.back()).ok());
  }
  gate_.Open();
  for (const auto& job : jobs) EXPECT_TRUE(job->status().ok());
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST_F(SchedulerTest, AllLanesRunAtOnce) {
  Make(SmallLimits(3));
  TestJob jobs[] = {TestJob(WaitAt(gate_)), TestJob(WaitAt(gate_)), TestJob(WaitAt(gate_))};
  for (TestJob& job : jobs) ASSERT_TRUE(Submit(job).ok());
  gate_.WaitForArrivals(3);
  EXPECT_EQ(scheduler_->GetStatistics().lanes_busy, 3u);
  gate_.Open();
  for (TestJob& job : jobs) EXPECT_TRUE(job.status().ok());
  EXPECT_EQ(scheduler_->GetStatistics().lanes_busy, 0u);
  EXPECT_EQ(scheduler_->GetStatistics().lanes_busy_high_water, 3u);
  EXPECT_EQ(scheduler_->GetStatistics().queued_high_water, 0u);
}

TEST_F(SchedulerTest, RefusesMoreJobsThanTheQueueHolds) {
  Make(SmallLimits(1, /*jobs_max=*/2));
  OccupyLane();
  TestJob first(Succeed()), second(Succeed()), third(Succeed());
  ASSERT_TRUE(Submit(first).ok());
  ASSERT_TRUE(Submit(second).ok());
  const absl::Status refused = Submit(third);
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_EQ(ReasonOf(refused), kReasonQueueFull);
  EXPECT_EQ(RetryDelayOf(refused), kRetryDelay);
  EXPECT_EQ(scheduler_->GetStatistics().refused.queue_jobs, 1u);
  EXPECT_EQ(scheduler_->GetStatistics().queued, 2u);
  EXPECT_EQ(scheduler_->GetStatistics().queued_high_water, 2u);
  gate_.Open();
  EXPECT_TRUE(second.status().ok());
  EXPECT_TRUE(Submit(third).ok());
  EXPECT_TRUE(third.status().ok());
}

TEST_F(SchedulerTest, RefusesMoreBytesThanTheQueueHolds) {
  Make(SmallLimits(1, /*jobs_max=*/16, /*bytes_max=*/100));
  OccupyLane();
  TestJob large(JobWork{.payload_bytes = 60, .tenant = "a"}, Succeed());
  TestJob too_large(Succeed(), 41), fits(Succeed(), 40);
  ASSERT_TRUE(Submit(large).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(scheduler_->CheckAdmission({.payload_bytes = 41})));
  EXPECT_TRUE(absl::IsResourceExhausted(Submit(too_large)));
  EXPECT_TRUE(scheduler_->CheckAdmission({.payload_bytes = 40}).ok());
  EXPECT_TRUE(Submit(fits).ok());
  EXPECT_EQ(scheduler_->GetStatistics().queued_bytes, 100u);
  EXPECT_EQ(scheduler_->GetStatistics().queued_bytes_high_water, 100u);
  EXPECT_EQ(scheduler_->GetStatistics().refused.queue_bytes, 2u);
  EXPECT_EQ(too_large.finish_count(), 0);
  gate_.Open();
  EXPECT_TRUE(fits.status().ok());
  EXPECT_EQ(scheduler_->GetStatistics().queued_bytes, 0u);
}

TEST_F(SchedulerTest, SizesNearTheEndOf64BitsAreRefusedNotWrappedAround) {
  Make(SmallLimits(1, /*jobs_max=*/16, /*bytes_max=*/100));
  OccupyLane();
  TestJob job(Succeed(), 50), huge(Succeed(), ~uint64_t{0} - 20);
  ASSERT_TRUE(Submit(job).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(Submit(huge)));
  gate_.Open();
  EXPECT_TRUE(job.status().ok());
}

TEST_F(SchedulerTest, CancellingAWaitingJobFreesItsPlaceAtOnce) {
  Make(SmallLimits(1, /*jobs_max=*/1, /*bytes_max=*/100));
  OccupyLane();
  TestJob waiting(Succeed(), 100), next(Succeed(), 100);
  ASSERT_TRUE(Submit(waiting).ok());
  ASSERT_TRUE(absl::IsResourceExhausted(Submit(next)));
  scheduler_->Cancel(waiting.job());
  EXPECT_EQ(waiting.finish_count(), 1);
  EXPECT_TRUE(absl::IsCancelled(waiting.status()));
  EXPECT_EQ(scheduler_->GetStatistics().queued, 0u);
  EXPECT_EQ(scheduler_->GetStatistics().queued_bytes, 0u);
  EXPECT_EQ(scheduler_->GetStatistics().cancelled.caller, 1u);
  EXPECT_TRUE(Submit(next).ok());
  gate_.Open();
  EXPECT_TRUE(next.status().ok());
  EXPECT_EQ(waiting.run_count(), 0);
}

TEST_F(SchedulerTest, CancellingARunningJobStopsIt) {
  Make(SmallLimits(1));
  OccupyLane();
  scheduler_->Cancel(blocker_.job());
  EXPECT_TRUE(absl::IsCancelled(blocker_.status()));
  EXPECT_EQ(scheduler_->GetStatistics().cancelled.caller, 1u);
}

TEST_F(SchedulerTest, AJobIsNeverAnsweredTwice) {
  Make(SmallLimits(1));
  TestJob job(Succeed());
  scheduler_->Cancel(job.job());  // Not submitted yet: nothing to cancel.
  EXPECT_EQ(job.finish_count(), 0);
  ASSERT_TRUE(Submit(job).ok());
  EXPECT_TRUE(job.status().ok());
  scheduler_->Cancel(job.job());
  scheduler_->Cancel(job.job());
  scheduler_->StopAll();
  EXPECT_EQ(job.finish_count(), 1);
}

TEST_F(SchedulerTest, RefusesAJobWhoseDeadlineHasPassed) {
  Make(SmallLimits(1));
  TestJob late(Succeed(), 1, clock_.Now());
  EXPECT_TRUE(absl::IsDeadlineExceeded(Submit(late)));
  EXPECT_EQ(late.finish_count(), 0);
  EXPECT_EQ(scheduler_->GetStatistics().accepted, 0u);
  EXPECT_EQ(scheduler_->GetStatistics().refused.deadline, 1u);
}

TEST_F(SchedulerTest, DropsAJobWhoseDeadlinePassesWhileItWaits) {
  Make(SmallLimits(1));
  OccupyLane();
  TestJob expired(Succeed(), 1, clock_.Now() + milliseconds(10));
  TestJob in_time(Succeed(), 1, clock_.Now() + milliseconds(30));
  ASSERT_TRUE(Submit(expired).ok());
  ASSERT_TRUE(Submit(in_time).ok());
  clock_.Advance(milliseconds(20));
  gate_.Open();
  EXPECT_TRUE(absl::IsDeadlineExceeded(expired.status()));
  EXPECT_EQ(expired.run_count(), 0);
  EXPECT_TRUE(in_time.status().ok());
  EXPECT_EQ(in_time.queue_time(), milliseconds(20));
  EXPECT_EQ(scheduler_->GetStatistics().cancelled.deadline, 1u);
}

TEST_F(SchedulerTest, AStopAfterTheDeadlineIsSaidToBeTheDeadline) {
  Make(SmallLimits(1));
  TestJob job(WaitAt(gate_), 1, clock_.Now() + seconds(1));
  ASSERT_TRUE(Submit(job).ok());
  gate_.WaitForArrivals(1);
  clock_.Advance(seconds(2));
  scheduler_->Cancel(job.job());
  EXPECT_TRUE(absl::IsDeadlineExceeded(job.status()));
}

TEST_F(SchedulerTest, DrainRefusesNewJobsAndFinishesTheOthers) {
  Make(SmallLimits(1));
  OccupyLane();
  TestJob waiting(Succeed()), late(Succeed());
  ASSERT_TRUE(Submit(waiting).ok());
  scheduler_->BeginDrain();
  const absl::Status refused = Submit(late);
  EXPECT_TRUE(absl::IsUnavailable(refused));
  EXPECT_EQ(ReasonOf(refused), kReasonDraining);
  EXPECT_EQ(scheduler_->GetStatistics().refused.draining, 1u);
  EXPECT_FALSE(scheduler_->WaitUntilIdle(milliseconds(0)));
  gate_.Open();
  EXPECT_TRUE(scheduler_->WaitUntilIdle(std::chrono::hours(1)));
  EXPECT_TRUE(blocker_.status().ok());
  EXPECT_TRUE(waiting.status().ok());
}

TEST_F(SchedulerTest, StopAllDropsWaitingJobsAndStopsRunningOnes) {
  Make(SmallLimits(1));
  OccupyLane();
  TestJob waiting(Succeed());
  ASSERT_TRUE(Submit(waiting).ok());
  scheduler_->StopAll();
  EXPECT_TRUE(absl::IsUnavailable(waiting.status()));
  EXPECT_TRUE(absl::IsUnavailable(blocker_.status()));
  EXPECT_EQ(waiting.run_count(), 0);
  EXPECT_TRUE(scheduler_->WaitUntilIdle(std::chrono::hours(1)));
  EXPECT_EQ(scheduler_->GetStatistics().cancelled.shutdown, 2u);
  EXPECT_EQ(scheduler_->GetStatistics().failed, 0u);
}

TEST_F(SchedulerTest, DestructionFinishesEveryJob) {
  Make(SmallLimits(1));
  OccupyLane();
  TestJob waiting(Succeed());
  ASSERT_TRUE(Submit(waiting).ok());
  scheduler_.reset();
  EXPECT_EQ(waiting.finish_count(), 1);
  EXPECT_EQ(blocker_.finish_count(), 1);
}

TEST_F(SchedulerTest, ExceptionsBecomeStatuses) {
  Make(SmallLimits(1));
  TestJob out_of_memory([](const JobContext&) -> absl::Status { throw std::bad_alloc(); });
  TestJob broken([](const JobContext&) -> absl::Status { throw std::runtime_error("broken"); });
  TestJob odd([](const JobContext&) -> absl::Status { throw 42; });
  TestJob after(Succeed());
  for (TestJob* job : {&out_of_memory, &broken, &odd, &after}) ASSERT_TRUE(Submit(*job).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(out_of_memory.status()));
  EXPECT_EQ(ReasonOf(out_of_memory.status()), kReasonOutOfMemory);
  EXPECT_TRUE(RetryDelayOf(out_of_memory.status()).has_value());
  EXPECT_EQ(broken.status(), absl::InternalError("broken"));
  EXPECT_TRUE(absl::IsInternal(odd.status()));
  EXPECT_TRUE(after.status().ok());
}

TEST_F(SchedulerTest, ALostEngineStopsAdmission) {
  Make(SmallLimits(1));
  TestJob failing([this](const JobContext& context) {
    absl::Status status = gate_.Pass(context.stop);
    engine_.healthy = false;
    return status.ok() ? absl::InternalError("device error") : status;
  });
  TestJob waiting(Succeed()), late(Succeed());
  ASSERT_TRUE(Submit(failing).ok());
  ASSERT_TRUE(Submit(waiting).ok());
  gate_.Open();
  EXPECT_TRUE(absl::IsInternal(failing.status()));
  EXPECT_TRUE(absl::IsUnavailable(waiting.status()));
  EXPECT_EQ(waiting.run_count(), 0);
  const absl::Status refused = Submit(late);
  EXPECT_TRUE(absl::IsUnavailable(refused));
  EXPECT_EQ(ReasonOf(refused), kReasonEngineLost);
  EXPECT_EQ(scheduler_->GetStatistics().refused.engine_lost, 1u);
  EXPECT_EQ(scheduler_->GetStatistics().failed, 2u);
  EXPECT_EQ(engine_lost_count_, 1);
}

TEST_F(SchedulerTest, ALaneThatCannotBeMadeIsAnError) {
  engine_.lane_count_max = 2;
  const auto scheduler = Scheduler::Create({&engine_}, {.limits = SmallLimits(3)});
  EXPECT_TRUE(absl::IsResourceExhausted(scheduler.status())) << scheduler.status();
}

}  // namespace
}  // namespace gridfold::server
