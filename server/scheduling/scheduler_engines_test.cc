// Jobs on several engines, and what happens when one is lost.
#include <gmock/gmock.h>

#include "server/base/error_reason.h"
#include "server/testing/scheduler_fixture.h"

namespace gridfold::server {
namespace {

using testing::ElementsAre;
using testing::Pair;

class SchedulerEnginesTest : public SchedulerFixture {
 protected:
  std::vector<uint32_t> LanesBusy() {
    std::vector<uint32_t> busy;
    for (const EngineStatistics& engine : scheduler_->GetStatistics().engines) {
      busy.push_back(engine.lanes_busy);
    }
    return busy;
  }

  static JobWork Needing(uint32_t engine) { return {.engine = engine}; }

  // One that could share a launch, and does not here, as no two of them wait at a time.
  static JobWork Small(std::optional<uint32_t> engine = std::nullopt) {
    return {.engine = engine, .batchable = BatchableWork{}};
  }

  // A job that finds out that its engine is lost.
  TestJob::Body Lose(uint32_t engine, Gate& gate) {
    return [this, engine, &gate](const JobContext& context) {
      absl::Status status = gate.Pass(context.stop);
      engines_[engine].healthy = false;
      return status.ok() ? absl::InternalError("device error") : status;
    };
  }
};

TEST_F(SchedulerEnginesTest, JobsThatNeedNoneGoWhereMostLanesAreIdle) {
  Make(SmallLimits(2), {}, /*engine_count=*/2);
  EXPECT_EQ(scheduler_->GetStatistics().lane_count, 4u);
  TestJob first(Needing(0), WaitAt(gate_));
  TestJob second(WaitAt(gate_)), third(WaitAt(gate_)), fourth(WaitAt(gate_)), last(Succeed());
  ASSERT_TRUE(scheduler_->Submit(first.job()).ok());
  ASSERT_TRUE(scheduler_->Submit(second.job()).ok());
  EXPECT_THAT(LanesBusy(), ElementsAre(1, 1));
  ASSERT_TRUE(scheduler_->Submit(third.job()).ok());
  ASSERT_TRUE(scheduler_->Submit(fourth.job()).ok());
  EXPECT_THAT(LanesBusy(), ElementsAre(2, 2));
  ASSERT_TRUE(scheduler_->Submit(last.job()).ok());
  EXPECT_EQ(scheduler_->GetStatistics().queued, 1u);
  gate_.Open();
  EXPECT_TRUE(last.status().ok());
  EXPECT_TRUE(scheduler_->WaitUntilIdle(std::chrono::hours(1)));
  EXPECT_THAT(LanesBusy(), ElementsAre(0, 0));
}

// Small jobs share launches on one engine, instead of taking a launch each on several.
TEST_F(SchedulerEnginesTest, SmallJobsStayTogether) {
  Make(SmallLimits(1), {}, /*engine_count=*/3);
  TestJob first(Small(), WaitAt(gate_)), second(Small(), Succeed());
  ASSERT_TRUE(scheduler_->Submit(first.job()).ok());
  gate_.WaitForArrivals(1);  // Else the first one's lane takes the second one along.
  ASSERT_TRUE(scheduler_->Submit(second.job()).ok());
  EXPECT_THAT(LanesBusy(), ElementsAre(1, 0, 0));
  EXPECT_EQ(scheduler_->GetStatistics().queued, 1u);
  TestJob other(Needing(1), Succeed());
  ASSERT_TRUE(scheduler_->Submit(other.job()).ok());
  EXPECT_TRUE(other.status().ok());
  gate_.Open();
  EXPECT_TRUE(second.status().ok());
}

TEST_F(SchedulerEnginesTest, SmallJobsDoNotWaitBehindOthers) {
  Make(SmallLimits(1), {}, /*engine_count=*/2);
  TestJob long_one(Needing(0), WaitAt(gate_)), small(Small(), Succeed()), next(Small(), Succeed());
  ASSERT_TRUE(scheduler_->Submit(long_one.job()).ok());
  ASSERT_TRUE(scheduler_->Submit(small.job()).ok());
  EXPECT_TRUE(small.status().ok());
  ASSERT_TRUE(scheduler_->Submit(next.job()).ok());
  EXPECT_TRUE(next.status().ok());
  EXPECT_EQ(long_one.finish_count(), 0);
  gate_.Open();
}

// An engine has both kinds: a small job would wait for the end of the long one there.
TEST_F(SchedulerEnginesTest, SmallJobsGoElsewhereWhereALongOneIsAmongThem) {
  Make(SmallLimits(2), {}, /*engine_count=*/2);
  Gate small_gate;
  TestJob long_one(Needing(0), WaitAt(gate_)), first(Small(0), WaitAt(small_gate));
  TestJob second(Small(), Succeed());
  for (TestJob* job : {&long_one, &first, &second}) {
    ASSERT_TRUE(scheduler_->Submit(job->job()).ok());
  }
  EXPECT_TRUE(second.status().ok());
  EXPECT_EQ(first.finish_count(), 0);
  small_gate.Open();
  gate_.Open();
}

TEST_F(SchedulerEnginesTest, AJobThatNeedsABusyEngineBlocksNobody) {
  Make(SmallLimits(1), {}, /*engine_count=*/2);
  TestJob blocker(Needing(0), WaitAt(gate_)), waiting(Needing(0), Succeed());
  ASSERT_TRUE(scheduler_->Submit(blocker.job()).ok());
  ASSERT_TRUE(scheduler_->Submit(waiting.job()).ok());
  TestJob other(Needing(1), Succeed()), any(Succeed());
  ASSERT_TRUE(scheduler_->Submit(other.job()).ok());
  EXPECT_TRUE(other.status().ok());
  ASSERT_TRUE(scheduler_->Submit(any.job()).ok());
  EXPECT_TRUE(any.status().ok());
  EXPECT_EQ(waiting.run_count(), 0);
  gate_.Open();
  EXPECT_TRUE(waiting.status().ok());
}

TEST_F(SchedulerEnginesTest, AWaitingJobRunsOnWhicheverEngineIsFreeFirst) {
  Make(SmallLimits(1), {}, /*engine_count=*/2);
  Gate other_gate;
  TestJob first(Needing(0), WaitAt(gate_)), second(Needing(1), WaitAt(other_gate)), any(Succeed());
  for (TestJob* job : {&first, &second, &any}) ASSERT_TRUE(scheduler_->Submit(job->job()).ok());
  other_gate.Open();
  EXPECT_TRUE(any.status().ok());
  EXPECT_EQ(first.finish_count(), 0);
  gate_.Open();
  EXPECT_TRUE(first.status().ok());
}

TEST_F(SchedulerEnginesTest, TheOthersGoOnWhenOneIsLost) {
  Make(SmallLimits(1), {}, /*engine_count=*/2);
  Gate other_gate;
  TestJob failing(Needing(0), Lose(0, gate_)), running(Needing(1), WaitAt(other_gate));
  TestJob needing(Needing(0), Succeed()), any(Succeed());
  for (TestJob* job : {&failing, &running, &needing, &any}) {
    ASSERT_TRUE(scheduler_->Submit(job->job()).ok());
  }
  gate_.Open();
  EXPECT_TRUE(absl::IsInternal(failing.status()));
  EXPECT_EQ(ReasonOf(needing.status()), kReasonEngineLost);
  EXPECT_EQ(needing.run_count(), 0);
  EXPECT_EQ(any.finish_count(), 0);
  EXPECT_THAT(lost_, ElementsAre(Pair(0, false)));
  const absl::Status refused = scheduler_->CheckAdmission(Needing(0));
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
  EXPECT_EQ(ReasonOf(refused), kReasonEngineLost);
  EXPECT_TRUE(scheduler_->CheckAdmission(Needing(1)).ok());
  other_gate.Open();
  EXPECT_TRUE(running.status().ok());
  EXPECT_TRUE(any.status().ok());
  const SchedulerStatistics statistics = scheduler_->GetStatistics();
  EXPECT_EQ(statistics.failed, 2u);
  EXPECT_EQ(statistics.succeeded, 2u);
  EXPECT_TRUE(statistics.engines[0].lost);
  EXPECT_FALSE(statistics.engines[1].lost);
}

TEST_F(SchedulerEnginesTest, WithTheLastOneEverythingFails) {
  Make(SmallLimits(1), {}, /*engine_count=*/2);
  Gate other_gate;
  TestJob first(Needing(0), Lose(0, gate_)), second(Needing(1), Lose(1, other_gate));
  TestJob any(Succeed());
  for (TestJob* job : {&first, &second, &any}) ASSERT_TRUE(scheduler_->Submit(job->job()).ok());
  gate_.Open();
  EXPECT_TRUE(absl::IsInternal(first.status()));
  EXPECT_EQ(any.finish_count(), 0);
  other_gate.Open();
  EXPECT_TRUE(absl::IsInternal(second.status()));
  EXPECT_EQ(ReasonOf(any.status()), kReasonEngineLost);
  EXPECT_EQ(any.run_count(), 0);
  EXPECT_THAT(lost_, ElementsAre(Pair(0, false), Pair(1, true)));
  EXPECT_EQ(ReasonOf(scheduler_->CheckAdmission({})), kReasonEngineLost);
}

TEST_F(SchedulerEnginesTest, StoppingReachesAllOfThem) {
  Make(SmallLimits(1), {}, /*engine_count=*/2);
  TestJob first(Needing(0), WaitAt(gate_)), second(Needing(1), WaitAt(gate_));
  TestJob needing(Needing(1), Succeed()), any(Succeed());
  for (TestJob* job : {&first, &second, &needing, &any}) {
    ASSERT_TRUE(scheduler_->Submit(job->job()).ok());
  }
  scheduler_->StopAll();
  for (TestJob* job : {&first, &second, &needing, &any}) {
    EXPECT_EQ(ReasonOf(job->status()), kReasonDraining);
  }
  EXPECT_EQ(scheduler_->GetStatistics().cancelled.shutdown, 4u);
}

}  // namespace
}  // namespace gridfold::server
