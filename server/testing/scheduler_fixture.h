// A scheduler on fake engines with a clock that the test moves, for tests that name jobs by
// strings.
#ifndef GRIDFOLD_SERVER_TESTING_SCHEDULER_FIXTURE_H_
#define GRIDFOLD_SERVER_TESTING_SCHEDULER_FIXTURE_H_

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/testing/test_jobs.h"

namespace gridfold::server {

class SchedulerFixture : public testing::Test {
 protected:
  void Make(const Limits& limits, TenantWeights weights = {}, int engine_count = 1) {
    std::vector<kernels::Engine*> engines;
    for (int i = 0; i < engine_count; ++i) engines.push_back(&engines_.emplace_back());
    SchedulerOptions options{.limits = limits, .tenant_weights = std::move(weights)};
    options.now = [this] { return clock_.Now(); };
    options.on_engine_lost = [this](uint32_t engine, bool none_is_left) {
      lost_.emplace_back(engine, none_is_left);
    };
    absl::StatusOr<std::unique_ptr<Scheduler>> scheduler = Scheduler::Create(engines, options);
    ASSERT_TRUE(scheduler.ok()) << scheduler.status();
    scheduler_ = *std::move(scheduler);
  }

  // Submits a job that takes `cost` of the clock's time and leaves `mark` in `order_`. Only for
  // schedulers with one lane.
  absl::Status Submit(JobWork work, std::string mark,
                      std::chrono::nanoseconds cost = std::chrono::milliseconds(10)) {
    TestJob& job = jobs_.emplace_back(std::move(work),
                                      [this, mark = std::move(mark), cost](const JobContext&) {
                                        clock_.Advance(cost);
                                        order_.push_back(mark);
                                        return absl::OkStatus();
                                      });
    return scheduler_->Submit(job.job());
  }

  // Keeps the only lane of the scheduler busy until RunAll.
  void OccupyLane(const std::string& tenant = "the one that runs") {
    TestJob& job = jobs_.emplace_back(JobWork{.tenant = tenant}, WaitAt(gate_));
    ASSERT_TRUE(scheduler_->Submit(job.job()).ok());
    gate_.WaitForArrivals(1);
  }

  // The order in which the waiting jobs run.
  const std::vector<std::string>& RunAll() {
    gate_.Open();
    EXPECT_TRUE(scheduler_->WaitUntilIdle(std::chrono::hours(1)));
    return order_;
  }

  std::deque<FakeEngine> engines_;
  FakeClock clock_;
  Gate gate_;
  std::vector<std::pair<uint32_t, bool>> lost_;
  std::vector<std::string> order_;  // Written by the only lane's thread.
  std::deque<TestJob> jobs_;
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_SCHEDULER_FIXTURE_H_
