// Requests that several lanes work on: all parts or none are taken, none waits for another one, and
// what happens to one of them happens to the request.
#include "server/scheduling/job_group.h"

#include <gmock/gmock.h>

#include <atomic>
#include <deque>
#include <set>

#include "server/base/error_reason.h"
#include "server/testing/scheduler_fixture.h"

namespace gridfold::server {
namespace {

using testing::ElementsAre;

class JobGroupTest : public SchedulerFixture {
 protected:
  // A request whose end can be waited for.
  class Request {
   public:
    Request(
        Scheduler& scheduler, JobGroup::Parts parts,
        JobGroup::EndRound end_round = [](const JobContext&) { return JobGroup::Parts(); })
        : group_(JobGroup::Make(
              scheduler, std::move(parts),
              [this, end_round = std::move(end_round)](const JobContext& context) {
                ++rounds_;
                return end_round(context);
              },
              [this](const absl::Status& status) { finished_.Add(status); })) {}

    JobGroup& group() { return *group_; }
    int rounds() const { return rounds_; }

    absl::Status status() {
      const bool is_finished = finished_.WaitFor(std::chrono::minutes(1));
      EXPECT_TRUE(is_finished);
      EXPECT_EQ(finished_.count(), 1);
      return is_finished ? finished_.status() : absl::OkStatus();
    }

   private:
    FinishRecord finished_;
    std::atomic<int> rounds_ = 0;
    std::shared_ptr<JobGroup> group_;
  };

  // Parts that need one engine each.
  static JobGroup::Parts OnEach(uint32_t engine_count, const TestJob::Body& body,
                                const std::string& tenant = "") {
    JobGroup::Parts parts;
    for (uint32_t engine = 0; engine < engine_count; ++engine) {
      parts.push_back({.payload_bytes = 1, .tenant = tenant, .engine = engine, .run = body});
    }
    return parts;
  }

  static TestJob::Body Fail(const absl::Status& status) {
    return [status](const JobContext&) { return status; };
  }
};

TEST_F(JobGroupTest, PartsRunAtTheSameTimeOnTheirEngines) {
  Make(SmallLimits(1), {}, /*engine_count=*/3);
  std::mutex mutex;
  std::set<uint32_t> engines;
  Request request(*scheduler_, OnEach(3, [&](const JobContext& context) {
    {
      const std::lock_guard lock(mutex);
      engines.insert(context.engine);
    }
    return gate_.Pass(context.stop);
  }));
  ASSERT_TRUE(request.group().Submit().ok());
  gate_.WaitForArrivals(3);
  EXPECT_EQ(request.rounds(), 0);
  gate_.Open();
  EXPECT_TRUE(request.status().ok());
  EXPECT_EQ(request.rounds(), 1);
  EXPECT_THAT(engines, ElementsAre(0u, 1u, 2u));
  EXPECT_EQ(scheduler_->GetStatistics().accepted, 3u);
}

TEST_F(JobGroupTest, RoundsFollowOneAnother) {
  Make(SmallLimits(1), {}, /*engine_count=*/2);
  std::atomic<int> runs = 0;
  const TestJob::Body count = [&runs](const JobContext&) {
    ++runs;
    return absl::OkStatus();
  };
  int left = 2;
  Request request(*scheduler_, OnEach(2, count), [&](const JobContext&) {
    return left-- > 0 ? OnEach(2, count) : JobGroup::Parts();
  });
  ASSERT_TRUE(request.group().Submit().ok());
  EXPECT_TRUE(request.status().ok());
  EXPECT_EQ(request.rounds(), 3);
  EXPECT_EQ(runs, 6);
}

// What has begun is not refused half-way.
TEST_F(JobGroupTest, FurtherRoundsAreTakenWhileTheServerDrains) {
  Make(SmallLimits(1), {}, /*engine_count=*/2);
  int left = 1;
  Request request(*scheduler_, OnEach(2, WaitAt(gate_)), [&](const JobContext&) {
    return left-- > 0 ? OnEach(2, Succeed()) : JobGroup::Parts();
  });
  ASSERT_TRUE(request.group().Submit().ok());
  gate_.WaitForArrivals(2);
  scheduler_->BeginDrain();
  gate_.Open();
  EXPECT_TRUE(request.status().ok());
  EXPECT_EQ(request.rounds(), 2);
}

TEST_F(JobGroupTest, AllPartsAreTakenOrNone) {
  Make(SmallLimits(1, /*jobs_max=*/2), {}, /*engine_count=*/2);
  TestJob busy[] = {TestJob({.engine = 0}, WaitAt(gate_)), TestJob({.engine = 1}, WaitAt(gate_))};
  for (TestJob& job : busy) ASSERT_TRUE(scheduler_->Submit(job.job()).ok());
  TestJob waiting(JobWork{.tenant = "other", .engine = 0}, Succeed());
  ASSERT_TRUE(scheduler_->Submit(waiting.job()).ok());
  Request refused(*scheduler_, OnEach(2, Succeed()));
  EXPECT_TRUE(absl::IsResourceExhausted(refused.group().Submit()));
  EXPECT_EQ(scheduler_->GetStatistics().queued, 1u);
  gate_.Open();
  EXPECT_TRUE(waiting.status().ok());
  EXPECT_TRUE(scheduler_->WaitUntilIdle(std::chrono::minutes(1)));
  EXPECT_EQ(refused.rounds(), 0);
}

TEST_F(JobGroupTest, CancellingStopsPartsThatRunAndThatWait) {
  Make(SmallLimits(1), {}, /*engine_count=*/2);
  Gate others_gate;
  TestJob other(JobWork{.engine = 1}, WaitAt(others_gate));
  ASSERT_TRUE(scheduler_->Submit(other.job()).ok());
  Request request(*scheduler_, OnEach(2, WaitAt(gate_)));
  ASSERT_TRUE(request.group().Submit().ok());
  gate_.WaitForArrivals(1);
  request.group().Cancel();
  EXPECT_TRUE(absl::IsCancelled(request.status()));
  EXPECT_EQ(request.rounds(), 0);
  others_gate.Open();
  EXPECT_TRUE(other.status().ok());
}

TEST_F(JobGroupTest, ADeviceThatFailsEndsTheRequestAndNothingElse) {
  Make(SmallLimits(1), {}, /*engine_count=*/2);
  JobGroup::Parts parts = OnEach(2, WaitAt(gate_));
  Gate failing_gate;
  parts[1].run = [&](const JobContext& context) {
    (void)failing_gate.Pass(context.stop);
    engines_[1].healthy = false;
    return absl::InternalError("device error");
  };
  Request request(*scheduler_, std::move(parts));
  ASSERT_TRUE(request.group().Submit().ok());
  gate_.WaitForArrivals(1);
  Request waiting(*scheduler_, OnEach(2, Succeed()));
  ASSERT_TRUE(waiting.group().Submit().ok());
  TestJob other(JobWork{.engine = 0}, Succeed());
  ASSERT_TRUE(scheduler_->Submit(other.job()).ok());
  failing_gate.Open();
  EXPECT_EQ(request.status(), absl::InternalError("device error")) << "its other part is stopped";
  EXPECT_EQ(ReasonOf(waiting.status()), kReasonEngineLost);
  EXPECT_TRUE(other.status().ok());
  EXPECT_THAT(lost_, ElementsAre(std::pair(1u, false)));
  Request late(*scheduler_, OnEach(2, Succeed()));
  EXPECT_EQ(ReasonOf(late.group().Submit()), kReasonEngineLost);
}

TEST_F(JobGroupTest, OfErrorsOfTheDataThatOfTheFirstPartIsTold) {
  Make(SmallLimits(1), {}, /*engine_count=*/3);
  JobGroup::Parts parts = OnEach(3, WaitAt(gate_));
  parts[2].run = Fail(absl::OutOfRangeError("last"));
  parts[1].run = [this](const JobContext& context) {
    const absl::Status status = gate_.Pass(context.stop);
    return status.ok() ? absl::OutOfRangeError("second") : status;
  };
  Request request(*scheduler_, std::move(parts));
  ASSERT_TRUE(request.group().Submit().ok());
  gate_.WaitForArrivals(2);
  gate_.Open();
  EXPECT_EQ(request.status(), absl::OutOfRangeError("second"));
}

TEST_F(JobGroupTest, WhatTheLastPartThrowsIsAnError) {
  Make(SmallLimits(1), {}, /*engine_count=*/2);
  Request request(
      *scheduler_, OnEach(2, Succeed()),
      [](const JobContext&) -> absl::StatusOr<JobGroup::Parts> { throw std::bad_alloc(); });
  ASSERT_TRUE(request.group().Submit().ok());
  EXPECT_TRUE(absl::IsResourceExhausted(request.status()));
}

// Two requests that each need all devices, each of which has one lane, and other jobs for every
// device: whatever the order, all of them end.
TEST_F(JobGroupTest, RequestsForAllDevicesDoNotBlockEachOther) {
  Make(SmallLimits(1, /*jobs_max=*/1000), {}, /*engine_count=*/3);
  std::atomic<int> runs = 0;
  const TestJob::Body count = [&runs](const JobContext&) {
    ++runs;
    return absl::OkStatus();
  };
  std::deque<Request> requests;
  std::deque<TestJob> small;
  for (int i = 0; i < 50; ++i) {
    JobGroup::Parts forward = OnEach(3, count);
    JobGroup::Parts backward = OnEach(3, count);
    std::reverse(backward.begin(), backward.end());
    requests.emplace_back(*scheduler_, std::move(forward));
    ASSERT_TRUE(requests.back().group().Submit().ok());
    requests.emplace_back(*scheduler_, std::move(backward));
    ASSERT_TRUE(requests.back().group().Submit().ok());
    for (uint32_t engine = 0; engine < 3; ++engine) {
      small.emplace_back(JobWork{.engine = engine}, count);
      ASSERT_TRUE(scheduler_->Submit(small.back().job()).ok());
    }
  }
  for (Request& request : requests) EXPECT_TRUE(request.status().ok());
  for (TestJob& job : small) EXPECT_TRUE(job.status().ok());
  EXPECT_EQ(runs, 2 * 50 * 3 + 50 * 3);
}

// A tenant whose requests take all devices pays for each of them: another one's small jobs for one
// device run in between, in their turns.
TEST_F(JobGroupTest, RequestsForAllDevicesTakeTurnsWithSmallJobs) {
  Make(SmallLimits(1, /*jobs_max=*/100), {}, /*engine_count=*/1);
  OccupyLane();
  std::deque<Request> requests;
  for (int i = 0; i < 3; ++i) {
    requests.emplace_back(*scheduler_, OnEach(
                                           1,
                                           [this](const JobContext&) {
                                             clock_.Advance(std::chrono::milliseconds(10));
                                             order_.push_back("large");
                                             return absl::OkStatus();
                                           },
                                           "large"));
    ASSERT_TRUE(requests.back().group().Submit().ok());
  }
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(Submit({.payload_bytes = 1, .tenant = "small"}, "small").ok());
  }
  EXPECT_THAT(RunAll(), ElementsAre("large", "small", "large", "small", "large", "small"));
}

}  // namespace
}  // namespace gridfold::server
