// Many threads submit, cancel and stop at once; whatever they do, every accepted job is finished
// exactly once and the counts add up.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "server/scheduling/scheduler.h"
#include "server/testing/test_jobs.h"

namespace gridfold::server {
namespace {

constexpr int kSubmitterCount = 8;
constexpr int kJobsPerSubmitter = 2000;
constexpr int kEngineCount = 2;

struct RaceJob {
  std::atomic<int> run_count = 0;
  std::atomic<int> finish_count = 0;
  bool accepted = false;
  std::shared_ptr<Job> job;
};

// Of any tenant, more than are remembered, and of any priority; some need one of the engines.
JobWork RandomWork(std::minstd_rand& random) {
  JobWork work{.payload_bytes = random() % 50,
               .tenant = std::to_string(random() % 2 == 0 ? random() % 4 : random() % 1000),
               .priority = static_cast<Priority>(random() % kPriorityCount)};
  if (random() % 3 == 0) work.engine = random() % kEngineCount;
  return work;
}

std::shared_ptr<Job> MakeJob(RaceJob& race, std::minstd_rand& random) {
  JobWork work = RandomWork(random);
  work.run = [&race](const JobContext& context) {
    ++race.run_count;
    for (int spin = 0; spin < 50; ++spin) {
      if (context.stop.stop_requested()) return absl::CancelledError();
    }
    return absl::OkStatus();
  };
  work.finish = [&race](const absl::Status&) { ++race.finish_count; };
  return std::make_shared<Job>(std::move(work));
}

// Submits jobs and cancels some: the one just submitted, or one from a while ago. Loses an engine,
// if any, when half of the jobs have yet to come.
void SubmitAndCancel(Scheduler& scheduler, int seed, std::vector<RaceJob>& jobs,
                     FakeEngine* to_lose) {
  std::minstd_rand random(seed);
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (to_lose != nullptr && i == jobs.size() / 2) to_lose->healthy = false;
    jobs[i].job = MakeJob(jobs[i], random);
    jobs[i].accepted = scheduler.Submit(jobs[i].job).ok();
    if (random() % 3 == 0) scheduler.Cancel(jobs[random() % (i + 1)].job);
  }
}

SchedulerStatistics Race(const Limits& limits, std::vector<std::vector<RaceJob>>& jobs,
                         bool stop_midway, bool lose_engine_midway = false) {
  FakeEngine engines[kEngineCount];
  std::unique_ptr<Scheduler> scheduler =
      *Scheduler::Create({&engines[0], &engines[1]}, {.limits = limits});
  std::vector<std::thread> threads;
  for (size_t t = 0; t < jobs.size(); ++t) {
    threads.emplace_back([&, t] {
      SubmitAndCancel(*scheduler, static_cast<int>(t + 1), jobs[t],
                      lose_engine_midway ? &engines[0] : nullptr);
    });
  }
  if (stop_midway) {
    while (scheduler->GetStatistics().accepted < 100) std::this_thread::yield();
    scheduler->StopAll();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(scheduler->WaitUntilIdle(std::chrono::hours(1)));
  return scheduler->GetStatistics();
}

void CheckOutcome(const std::vector<std::vector<RaceJob>>& jobs,
                  const SchedulerStatistics& statistics) {
  uint64_t accepted_count = 0;
  for (const std::vector<RaceJob>& of_thread : jobs) {
    for (const RaceJob& job : of_thread) {
      EXPECT_EQ(job.finish_count, job.accepted ? 1 : 0);
      EXPECT_LE(job.run_count, job.accepted ? 1 : 0);
      accepted_count += job.accepted ? 1 : 0;
    }
  }
  EXPECT_EQ(statistics.accepted, accepted_count);
  EXPECT_EQ(statistics.accepted,
            statistics.succeeded + statistics.failed + statistics.cancelled.total());
  EXPECT_EQ(statistics.queued, 0u);
  EXPECT_EQ(statistics.queued_bytes, 0u);
  EXPECT_EQ(statistics.lanes_busy, 0u);
  for (const EngineStatistics& engine : statistics.engines) EXPECT_EQ(engine.lanes_busy, 0u);
}

std::vector<std::vector<RaceJob>> MakeJobs() {
  std::vector<std::vector<RaceJob>> jobs;
  for (int t = 0; t < kSubmitterCount; ++t) jobs.emplace_back(kJobsPerSubmitter);
  return jobs;
}

TEST(SchedulerRaceTest, EveryAcceptedJobIsFinishedOnce) {
  std::vector<std::vector<RaceJob>> jobs = MakeJobs();
  const SchedulerStatistics statistics =
      Race(SmallLimits(4, /*jobs_max=*/32, /*bytes_max=*/500), jobs, /*stop_midway=*/false);
  CheckOutcome(jobs, statistics);
  EXPECT_EQ(statistics.accepted + statistics.refused.by_queue(),
            uint64_t{kSubmitterCount} * kJobsPerSubmitter);
}

TEST(SchedulerRaceTest, AlsoWhenAnEngineIsLostMidway) {
  std::vector<std::vector<RaceJob>> jobs = MakeJobs();
  const SchedulerStatistics statistics =
      Race(SmallLimits(2, /*jobs_max=*/1000, /*bytes_max=*/1 << 20), jobs, /*stop_midway=*/false,
           /*lose_engine_midway=*/true);
  CheckOutcome(jobs, statistics);
  EXPECT_TRUE(statistics.engines[0].lost);
  EXPECT_FALSE(statistics.engines[1].lost);
}

TEST(SchedulerRaceTest, AlsoWhenEverythingIsStoppedMidway) {
  std::vector<std::vector<RaceJob>> jobs = MakeJobs();
  const SchedulerStatistics statistics =
      Race(SmallLimits(2, /*jobs_max=*/1000, /*bytes_max=*/1 << 20), jobs, /*stop_midway=*/true);
  CheckOutcome(jobs, statistics);
}

}  // namespace
}  // namespace gridfold::server
