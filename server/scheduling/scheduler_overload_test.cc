// Far more jobs than the lane can run, each with a deadline: what is answered in time, of what
// could have been. The lane runs in the test's own time: while a job "runs", others arrive.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "server/testing/scheduler_fixture.h"

namespace gridfold::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr nanoseconds kMeanCost = milliseconds(5);
// From the end of a job until its caller has the answer.
constexpr nanoseconds kAnswerTime = milliseconds(2);

struct Source {
  std::string tenant;
  double load;  // Of all that the lane could do.
  nanoseconds timeout;
  JobClock::time_point next = {};
};

struct Tally {
  uint64_t offered = 0;
  uint64_t in_time = 0;
};

class SchedulerOverloadTest : public SchedulerFixture {
 protected:
  // Jobs of all sources for so long; then until the last has ended.
  void Run(std::vector<Source> sources, nanoseconds time) {
    Limits limits;
    limits.lane_count = 1;
    Make(limits);
    sources_ = std::move(sources);
    end_ = clock_.Now() + time;
    for (Source& source : sources_) source.next = clock_.Now() + Gap(source);
    while (Next().next < end_) {
      // The lane's thread sleeps: the time is this one's, until the job has been taken.
      ArriveNext();
      ASSERT_TRUE(scheduler_->WaitUntilIdle(seconds(60)));
    }
  }

  // Of the work that the lane could have done in that time.
  double Goodput(nanoseconds time) const {
    uint64_t in_time = 0;
    for (const auto& [tenant, tally] : tallies_) in_time += tally.in_time;
    return static_cast<double>(in_time * kMeanCost.count()) / static_cast<double>(time.count());
  }

  std::map<std::string, Tally> tallies_;
  double spread_ = 0.5;   // Of costs, each way.
  double slow_part_ = 0;  // Jobs that cost ten times as much.

 private:
  Source& Next() {
    return *std::ranges::min_element(sources_, {}, [](const Source& s) { return s.next; });
  }

  nanoseconds Gap(const Source& source) {
    std::exponential_distribution<double> gaps(source.load /
                                               static_cast<double>(kMeanCost.count()));
    return nanoseconds(static_cast<int64_t>(gaps(random_)) + 1);
  }

  nanoseconds Cost() {
    std::uniform_real_distribution<double> spread(1 - spread_, 1 + spread_);
    const bool is_slow = std::bernoulli_distribution(slow_part_)(random_);
    const double mean = static_cast<double>(kMeanCost.count()) / (1 + 9 * slow_part_);
    return nanoseconds(static_cast<int64_t>(spread(random_) * mean * (is_slow ? 10 : 1)));
  }

  // Time goes by, in which jobs arrive.
  void Pass(nanoseconds time) {
    const JobClock::time_point until = clock_.Now() + time;
    while (Next().next <= until && Next().next < end_) ArriveNext();
    clock_.Advance(until - clock_.Now());
  }

  void ArriveNext() {
    Source& source = Next();
    clock_.Advance(source.next - clock_.Now());
    source.next += Gap(source);
    Arrive(source);
  }

  void Arrive(const Source& source) {
    Tally& tally = tallies_[source.tenant];
    ++tally.offered;
    const JobClock::time_point deadline = clock_.Now() + source.timeout;
    JobWork work{.payload_bytes = 4096, .deadline = deadline, .tenant = source.tenant};
    work.run = [this](const JobContext&) {
      Pass(Cost());
      return absl::OkStatus();
    };
    work.finish = [this, &tally, deadline](const absl::Status& status) {
      if (status.ok() && clock_.Now() + kAnswerTime <= deadline) ++tally.in_time;
    };
    (void)scheduler_->Submit(std::make_shared<Job>(std::move(work)));
  }

  std::mt19937_64 random_{7};
  std::vector<Source> sources_;
  JobClock::time_point end_;
};

class DeadlineTest : public SchedulerOverloadTest,
                     public testing::WithParamInterface<std::tuple<int, double>> {};

TEST_P(DeadlineTest, NearlyAllThatTheLaneCanDoIsInTime) {
  const auto [timeout_ms, slow_part] = GetParam();
  slow_part_ = slow_part;
  const nanoseconds time = milliseconds(60'000 + 2 * timeout_ms);
  Run({{"greedy", 3, milliseconds(timeout_ms)}}, time);
  EXPECT_GE(Goodput(time), 0.9);
  EXPECT_LE(Goodput(time), 1.1) << "the test counts too much";
}

INSTANTIATE_TEST_SUITE_P(Timeouts, DeadlineTest,
                         testing::Combine(testing::Values(100, 250, 1000, 30'000),
                                          testing::Values(0, 0.02)));

TEST_F(SchedulerOverloadTest, WhatFitsIsServedAlmostWhole) {
  Run({{"one", 0.7, milliseconds(250)}}, seconds(60));
  EXPECT_GE(static_cast<double>(tallies_["one"].in_time),
            0.98 * static_cast<double>(tallies_["one"].offered));
}

TEST_F(SchedulerOverloadTest, ATenantWithLittleIsInTimeBesideOneWithFarTooMuch) {
  const nanoseconds time = seconds(60);
  Run({{"greedy", 3, milliseconds(250)}, {"modest", 0.1, milliseconds(100)}}, time);
  EXPECT_GE(static_cast<double>(tallies_["modest"].in_time),
            0.97 * static_cast<double>(tallies_["modest"].offered));
  EXPECT_GE(Goodput(time), 0.9);
}

TEST_F(SchedulerOverloadTest, LongAndShortDeadlinesOfOneTenant) {
  const nanoseconds time = seconds(60);
  Run({{"one", 1.5, milliseconds(250)}, {"one", 1.5, seconds(5)}}, time);
  EXPECT_GE(Goodput(time), 0.9);
}

}  // namespace
}  // namespace gridfold::server
