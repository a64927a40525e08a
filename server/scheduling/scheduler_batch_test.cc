// Small jobs that wait at the same time share a launch, and each comes to its own end.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "kernels/folds/reduction_batch.h"
#include "server/scheduling/job_batch.h"
#include "server/scheduling/scheduler.h"
#include "server/testing/fake_engine.h"
#include "server/testing/test_jobs.h"

namespace gridfold::server {
namespace {

using std::chrono::milliseconds;

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

// A sum of integers that may share a launch.
class SumJob {
 public:
  explicit SumJob(std::vector<int64_t> values, JobWork work = {},
                  kernels::OverflowPolicy overflow_policy = kernels::OverflowPolicy::kError)
      : values_(std::move(values)),
        plan_(MakePlan(values_.size(), overflow_policy)),
        test_(Prepare(std::move(work)), [this](const JobContext& context) {
          kernels::RunStatistics statistics;
          return Take(context.lane.RunReduction(plan_, input(), context.stop, statistics));
        }) {}

  const std::shared_ptr<Job>& job() const { return test_.job(); }
  absl::Status status() { return test_.status(); }
  int finish_count() const { return test_.finish_count(); }
  bool ran_alone() const { return test_.run_count() > 0; }
  bool shared_a_launch() const { return batch_count_ > 0; }
  std::optional<int64_t> sum() const { return sum_; }

 private:
  static kernels::ReductionPlan MakePlan(size_t count, kernels::OverflowPolicy overflow_policy) {
    return *kernels::PlanReduction(
        kernels::ArrayDescription::Vector(kernels::ElementType::kInt64, count),
        {.statistics = {kernels::Statistic::kSum},
         .grouping = {},
         .overflow_policy = overflow_policy});
  }

  kernels::HostSpan input() const {
    const auto bytes = std::as_bytes(std::span(values_));
    return {bytes.data(), bytes.size()};
  }

  JobWork Prepare(JobWork work) {
    work.payload_bytes = input().size_bytes;
    work.batchable =
        BatchableWork{*kernels::BatchKeyOf(plan_),
                      {&plan_, input()},
                      [this](absl::StatusOr<kernels::ReductionResult> result, const SharedLaunch&) {
                        ++batch_count_;
                        return Take(std::move(result));
                      }};
    return work;
  }

  absl::Status Take(absl::StatusOr<kernels::ReductionResult> result) {
    if (!result.ok()) return result.status();
    sum_ = static_cast<int64_t>(result->columns[0].slots[0]);
    return absl::OkStatus();
  }

  const std::vector<int64_t> values_;
  const kernels::ReductionPlan plan_;
  std::atomic<int> batch_count_ = 0;
  std::optional<int64_t> sum_;
  TestJob test_;
};

class SchedulerBatchTest : public testing::Test {
 protected:
  // One lane, held by a job until `gate_` opens.
  void Start(kernels::Engine& engine, Limits limits = SmallLimits(1, 1000, kMiB * 100)) {
    scheduler_ = *Scheduler::Create({&engine}, {.limits = limits});
    ASSERT_TRUE(scheduler_->Submit(blocker_.job()).ok());
    gate_.WaitForArrivals(1);
  }
  void Start() { Start(*cpu_); }

  SumJob& Add(std::vector<int64_t> values, JobWork work = {}) {
    SumJob& job = *jobs_.emplace_back(std::make_unique<SumJob>(std::move(values), std::move(work)));
    const absl::Status status = scheduler_->Submit(job.job());
    EXPECT_TRUE(status.ok()) << status;
    return job;
  }

  void AddMany(int64_t count) {
    for (int64_t i = 0; i < count; ++i) Add({i, 1});
  }

  void OpenAndWait() {
    gate_.Open();
    for (const std::unique_ptr<SumJob>& job : jobs_) (void)job->status();
    ASSERT_TRUE(scheduler_->WaitUntilIdle(std::chrono::seconds(10)));
  }

  std::unique_ptr<kernels::Engine> cpu_ =
      *kernels::CreateEngine({.kind = kernels::EngineKind::kCpu, .cpu_threads = 1});
  Gate gate_;
  TestJob blocker_{WaitAt(gate_)};
  std::vector<std::unique_ptr<SumJob>> jobs_;
  std::unique_ptr<Scheduler> scheduler_;
};

TEST_F(SchedulerBatchTest, JobsThatWaitTogetherShareALaunch) {
  Start();
  AddMany(50);
  OpenAndWait();
  for (int64_t i = 0; i < 50; ++i) {
    SumJob& job = *jobs_[static_cast<size_t>(i)];
    EXPECT_TRUE(job.status().ok()) << job.status();
    EXPECT_EQ(job.sum(), i + 1);
    EXPECT_TRUE(job.shared_a_launch());
    EXPECT_FALSE(job.ran_alone());
    EXPECT_EQ(job.finish_count(), 1);
  }
  const SchedulerStatistics statistics = scheduler_->GetStatistics();
  EXPECT_EQ(statistics.batches, 1u);
  EXPECT_EQ(statistics.batched_jobs, 50u);
  EXPECT_EQ(statistics.succeeded, 51u);
  EXPECT_EQ(statistics.running, 0u);
}

TEST_F(SchedulerBatchTest, ALoneJobRunsByItselfAtOnce) {
  scheduler_ = *Scheduler::Create({cpu_.get()}, {.limits = SmallLimits(1)});
  SumJob& job = Add({1, 2});
  EXPECT_TRUE(job.status().ok());
  EXPECT_TRUE(job.ran_alone());
  EXPECT_EQ(scheduler_->GetStatistics().batches, 0u);
}

TEST_F(SchedulerBatchTest, AnErrorIsItsOwnJobs) {
  Start();
  AddMany(10);
  SumJob& bad = Add({kLargest, 1});
  AddMany(10);
  OpenAndWait();
  for (const std::unique_ptr<SumJob>& job : jobs_) {
    EXPECT_EQ(job->status().ok(), job.get() != &bad) << job->status();
    EXPECT_TRUE(job->shared_a_launch());
  }
  EXPECT_TRUE(absl::IsOutOfRange(bad.status())) << bad.status();
  EXPECT_EQ(scheduler_->GetStatistics().failed, 1u);
}

TEST_F(SchedulerBatchTest, AFailedDeviceFailsAll) {
  FakeEngine engine;
  engine.on_run = [](std::stop_token) { return absl::InternalError("broken"); };
  Start(engine);
  AddMany(5);
  OpenAndWait();
  for (const std::unique_ptr<SumJob>& job : jobs_) {
    EXPECT_EQ(job->status(), absl::InternalError("broken"));
  }
}

TEST_F(SchedulerBatchTest, CancelledAndExpiredJobsAreLeftOut) {
  Start();
  AddMany(3);
  SumJob& cancelled = Add({1});
  SumJob& expired = Add({1}, {.deadline = JobClock::now() + milliseconds(50)});
  AddMany(3);
  scheduler_->Cancel(cancelled.job());
  EXPECT_TRUE(absl::IsCancelled(cancelled.status()));
  std::this_thread::sleep_for(milliseconds(60));
  OpenAndWait();
  EXPECT_TRUE(absl::IsDeadlineExceeded(expired.status())) << expired.status();
  EXPECT_FALSE(cancelled.shared_a_launch());
  EXPECT_FALSE(expired.shared_a_launch());
  EXPECT_EQ(scheduler_->GetStatistics().batched_jobs, 6u);
}

TEST_F(SchedulerBatchTest, AJobCancelledDuringTheLaunchLeavesTheOthersAlone) {
  FakeEngine engine;
  Gate launched;
  engine.on_run = [&](std::stop_token stop) { return launched.Pass(std::move(stop)); };
  Start(engine);
  AddMany(3);
  gate_.Open();
  launched.WaitForArrivals(1);
  scheduler_->Cancel(jobs_[1]->job());
  launched.Open();
  EXPECT_TRUE(jobs_[0]->status().ok());
  EXPECT_TRUE(absl::IsCancelled(jobs_[1]->status())) << jobs_[1]->status();
  EXPECT_TRUE(jobs_[2]->status().ok());
}

TEST_F(SchedulerBatchTest, BatchesAreBounded) {
  Start();
  AddMany(static_cast<int64_t>(2 * kJobBatchJobsMax));
  OpenAndWait();
  EXPECT_EQ(scheduler_->GetStatistics().batches, 2u);
}

TEST_F(SchedulerBatchTest, BatchesAreBoundedByBytes) {
  Start();
  constexpr uint64_t kBytes = kJobBatchedArrayBytesMax;
  const uint64_t jobs = kJobBatchBytesMax / kBytes + 1;
  for (uint64_t i = 0; i < jobs; ++i) Add(std::vector<int64_t>(kBytes / sizeof(int64_t), 1));
  OpenAndWait();
  EXPECT_EQ(scheduler_->GetStatistics().batched_jobs, jobs - 1);
  EXPECT_TRUE(jobs_.back()->ran_alone());
}

// Another tenant's turn is not put off for jobs that would fit the launch.
TEST_F(SchedulerBatchTest, TurnsOfTenantsAreKept) {
  Start();
  std::vector<std::unique_ptr<TestJob>> others;
  std::atomic<int> sums_before = -1;
  for (int i = 0; i < 10; ++i) Add({i}, {.tenant = "a"});
  TestJob other(JobWork{.payload_bytes = 1, .tenant = "b"}, [&](const JobContext&) {
    sums_before = 0;
    for (const std::unique_ptr<SumJob>& job : jobs_) sums_before += job->finish_count();
    return absl::OkStatus();
  });
  ASSERT_TRUE(scheduler_->Submit(other.job()).ok());
  OpenAndWait();
  EXPECT_TRUE(other.status().ok());
  EXPECT_LE(sums_before, 1);
}

// Jobs in between that are different are no obstacle for a tenant's own.
TEST_F(SchedulerBatchTest, JobsOfOtherKindsMayStandInBetween) {
  Start();
  std::vector<std::unique_ptr<TestJob>> others;
  for (int i = 0; i < 10; ++i) {
    Add({i});
    ASSERT_TRUE(
        scheduler_->Submit(others.emplace_back(std::make_unique<TestJob>(Succeed()))->job()).ok());
  }
  OpenAndWait();
  for (const auto& other : others) EXPECT_TRUE(other->status().ok());
  EXPECT_EQ(scheduler_->GetStatistics().batches, 1u);
  EXPECT_EQ(scheduler_->GetStatistics().batched_jobs, 10u);
}

TEST_F(SchedulerBatchTest, StoppedWhileTheyWait) {
  Start();
  AddMany(20);
  scheduler_->StopAll();
  for (const std::unique_ptr<SumJob>& job : jobs_) {
    EXPECT_TRUE(absl::IsUnavailable(job->status())) << job->status();
    EXPECT_EQ(job->finish_count(), 1);
  }
}

// Submitted and cancelled from many threads, of two keys, some of them too large a sum: each ends
// once, and as it should.
TEST(SchedulerBatchRaceTest, EachEndsOnceWithItsOwnAnswer) {
  const auto engine = *kernels::CreateEngine({.kind = kernels::EngineKind::kCpu, .cpu_threads = 2});
  const auto scheduler =
      *Scheduler::Create({engine.get()}, {.limits = SmallLimits(2, 1000, 100 * kMiB)});
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int round = 0; round < 100; ++round) {
        std::vector<std::unique_ptr<SumJob>> jobs;
        for (int64_t i = 0; i < 10; ++i) {
          const bool overflows = random() % 20 == 0;
          const bool wraps = random() % 3 == 0;
          jobs.push_back(std::make_unique<SumJob>(
              std::vector<int64_t>{overflows ? kLargest : round, i},
              JobWork{.tenant = t % 2 == 0 ? "even" : "odd"},
              wraps ? kernels::OverflowPolicy::kWrap : kernels::OverflowPolicy::kError));
          ASSERT_TRUE(scheduler->Submit(jobs.back()->job()).ok());
          if (random() % 10 == 0) scheduler->Cancel(jobs.back()->job());
        }
        for (int64_t i = 0; i < 10; ++i) {
          SumJob& job = *jobs[static_cast<size_t>(i)];
          const absl::Status status = job.status();
          EXPECT_EQ(job.finish_count(), 1);
          if (status.ok()) {
            const auto wrapped =
                static_cast<int64_t>(static_cast<uint64_t>(kLargest) + static_cast<uint64_t>(i));
            EXPECT_TRUE(job.sum() == round + i || job.sum() == wrapped) << *job.sum();
          } else {
            EXPECT_TRUE(absl::IsCancelled(status) || absl::IsOutOfRange(status)) << status;
          }
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(scheduler->WaitUntilIdle(std::chrono::seconds(10)));
  const SchedulerStatistics statistics = scheduler->GetStatistics();
  EXPECT_EQ(statistics.accepted, 8000u);
  EXPECT_EQ(statistics.accepted,
            statistics.succeeded + statistics.failed + statistics.cancelled.total());
  EXPECT_EQ(statistics.running, 0u);
  EXPECT_EQ(statistics.lanes_busy, 0u);
}

// Whoever shares a launch pays for a part of it, and all of them for all of it.
TEST_F(SchedulerBatchTest, WhatJobsAreChargedAddsUpToTheTimeUsed) {
  for (const int count : {1, 2, 3, 7, 100, 256}) {
    for (const std::chrono::nanoseconds time :
         {std::chrono::nanoseconds(1'000'003), std::chrono::nanoseconds(50'000)}) {
      FakeClock clock;
      FakeEngine engine;
      Gate gate;
      TestJob blocker(WaitAt(gate));
      jobs_.clear();
      const auto scheduler =
          Scheduler::Create({&engine}, {.limits = SmallLimits(1, 1000, kMiB * 100),
                                        .now = [&clock] { return clock.Now(); }})
              .value();
      ASSERT_TRUE(scheduler->Submit(blocker.job()).ok());
      gate.WaitForArrivals(1);
      for (int i = 0; i < count; ++i) {
        jobs_.push_back(std::make_unique<SumJob>(std::vector<int64_t>{1, 2}));
        ASSERT_TRUE(scheduler->Submit(jobs_.back()->job()).ok());
      }
      engine.on_run = [&](const std::stop_token&) {
        clock.Advance(time);
        return absl::OkStatus();
      };
      clock.Advance(milliseconds(7));
      gate.Open();
      ASSERT_TRUE(scheduler->WaitUntilIdle(std::chrono::seconds(10)));
      const SchedulerStatistics statistics = scheduler->GetStatistics();
      EXPECT_EQ(statistics.batched_jobs, count > 1 ? static_cast<uint64_t>(count) : 0u);
      EXPECT_EQ(statistics.lane_time, milliseconds(7) + time) << count;
    }
  }
}

}  // namespace
}  // namespace gridfold::server
