// Which jobs are taken, against the rules of job_admission.h and fair_queue.h told once more: in
// whole numbers, over a plain list of the jobs that wait.
#include "server/scheduling/job_admission.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gridfold::server {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Cause = JobRefusal::Cause;
using Integer = __int128;

constexpr uint32_t kEngines = 2;

struct Waiting {
  JobWork work;
  nanoseconds cost;
};

// The rules. All that costs time is in nanoseconds.
class Oracle {
 public:
  Oracle(const JobWork& work, const AdmissionFacts& facts, const std::vector<Waiting>& waiting,
         const TenantWeights& weights, const Limits& limits)
      : work_(work), facts_(facts), limits_(limits), weight_(WeightOf(work.tenant, weights)) {
    std::set<std::string> tenants = {work.tenant};
    for (const Waiting& job : waiting) {
      const bool is_own = job.work.tenant == work.tenant;
      const bool is_for_same = job.work.engine == work.engine;
      tenants.insert(job.work.tenant);
      Add(job, all_);
      if (is_own) Add(job, own_);
      if (is_for_same) cost_of_same_ += job.cost.count();
      if (is_own && is_for_same && job.work.priority <= work.priority) ahead_ += job.cost.count();
    }
    for (const std::string& tenant : tenants) weights_ += WeightOf(tenant, weights);
  }

  std::optional<Cause> Find() const {
    if (facts_.is_draining) return Cause::kDraining;
    if (facts_.lane_count == 0) return Cause::kEngineLost;
    if (work_.deadline <= facts_.now) return Cause::kDeadlinePassed;
    if (work_.deadline != JobClock::time_point::max() && IsUnmeetable()) {
      return Cause::kDeadlineUnmeetable;
    }
    if (facts_.lane_is_idle) return std::nullopt;
    if (all_.jobs + 1 > limits_.queued_jobs_max) return Cause::kQueueJobs;
    if (Integer{all_.bytes} + work_.payload_bytes > limits_.queued_bytes_max) {
      return Cause::kQueueBytes;
    }
    const bool has_room =
        (own_.jobs == 0 || HasRoom(limits_.queued_jobs_max, all_.jobs, own_.jobs, 1)) &&
        (own_.bytes == 0 ||
         HasRoom(limits_.queued_bytes_max, all_.bytes, own_.bytes, work_.payload_bytes));
    if (!has_room) return Cause::kTenantShare;
    return std::nullopt;
  }

  // The time until a quarter of what is in the way has gone, and one job at least.
  milliseconds RetryDelayAfter(Cause cause) const {
    const bool is_own = cause == Cause::kTenantShare;
    const Backlog& backlog = is_own ? own_ : all_;
    if (backlog.cost.count() == 0) return kRetryDelay;
    const auto parts = static_cast<Integer>(std::clamp<uint64_t>(backlog.jobs, 1, 4));
    const Integer time = Integer{backlog.cost.count()} * (is_own ? weights_ : 1);
    const Integer speed = parts * facts_.lane_count * (is_own ? weight_ : 1) * 1'000'000;
    return milliseconds(static_cast<int64_t>(std::clamp<Integer>(
        (time + speed - 1) / speed, kRetryDelayMin.count(), kRetryDelayMax.count())));
  }

 private:
  static uint64_t WeightOf(const std::string& tenant, const TenantWeights& weights) {
    const auto found = weights.find(tenant);
    return found == weights.end() ? 1 : found->second;
  }

  static void Add(const Waiting& job, Backlog& backlog) {
    ++backlog.jobs;
    backlog.bytes += job.work.payload_bytes;
    backlog.cost += job.cost;
  }

  // Whether the wait, at the lanes' pace, and half of the job's own cost are too long, where only a
  // part of the time is for waiting: the tenant's jobs before it have its share of the lanes, and
  // are never slower than all that wait. Pace and part are whole numbers of quarters.
  bool IsUnmeetable() const {
    const auto pace = static_cast<Integer>(4 * facts_.pace);
    const auto part = static_cast<Integer>(4 * facts_.wait_part);
    const Integer left = (work_.deadline - facts_.now).count();
    Integer needed = Integer{facts_.cost.count()} * part * facts_.lane_count;
    if (!facts_.lane_is_idle) {
      needed += 2 * pace * std::min(ahead_ * weights_ / weight_, cost_of_same_);
    }
    return 2 * left * part * facts_.lane_count < needed;
  }

  // Three quarters for all; of the rest a tenant's share, where one more than those who wait share.
  bool HasRoom(uint64_t max, uint64_t taken, uint64_t own, uint64_t more) const {
    const uint64_t reserve = max / 4;
    return Integer{taken} + more <= max - reserve ||
           (Integer{own} + more) * (weights_ + 1) <= Integer{reserve} * weight_;
  }

  const JobWork& work_;
  const AdmissionFacts& facts_;
  const Limits& limits_;
  const uint64_t weight_;
  Integer weights_ = 0;  // Of those who wait, with this one.
  Backlog all_;
  Backlog own_;
  Integer ahead_ = 0;
  Integer cost_of_same_ = 0;
};

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}

  uint64_t UpTo(uint64_t most) { return random_() % (most + 1); }
  bool OneIn(uint64_t count) { return UpTo(count - 1) == 0; }

  JobWork Work(uint64_t bytes_max) {
    JobWork work;
    work.payload_bytes = UpTo(bytes_max);
    work.tenant = std::string(1, static_cast<char>('a' + UpTo(3)));
    work.priority = static_cast<Priority>(UpTo(kPriorityCount - 1));
    if (OneIn(2)) work.engine = static_cast<uint32_t>(UpTo(kEngines - 1));
    return work;
  }

 private:
  std::mt19937_64 random_;
};

void CheckOne(uint64_t seed, std::map<std::optional<Cause>, int>& seen) {
  Draw draw(seed);
  Limits limits;
  limits.queued_jobs_max = 1 + draw.UpTo(200);
  limits.queued_bytes_max = 1 + draw.UpTo(2000);
  TenantWeights weights;
  for (const char* const tenant : {"a", "b"}) weights[tenant] = 1 + draw.UpTo(40);
  FairQueue queue(kEngines, weights);
  // A queue has no more than may wait.
  std::vector<Waiting> waiting;
  const uint64_t job_count = draw.UpTo(limits.queued_jobs_max);
  uint64_t bytes_left = limits.queued_bytes_max;
  for (uint64_t i = 0; i < job_count; ++i) {
    const JobWork work = draw.Work(std::min<uint64_t>(bytes_left, 20));
    const microseconds cost(draw.OneIn(4) ? 0 : draw.UpTo(5000));
    JobList entry = {std::make_shared<Job>(work, cost)};
    queue.Push(entry);
    waiting.push_back({work, cost});
    bytes_left -= work.payload_bytes;
  }

  JobWork work = draw.Work(draw.OneIn(2) ? 20 : limits.queued_bytes_max + 10);
  AdmissionFacts facts{.now = JobClock::time_point(std::chrono::hours(1)),
                       .cost = microseconds(draw.UpTo(5000)),
                       .is_draining = draw.OneIn(50),
                       .lane_count = static_cast<uint32_t>(draw.OneIn(50) ? 0 : 1 + draw.UpTo(7)),
                       .lane_is_idle = draw.OneIn(10),
                       .pace = 0.25 * static_cast<double>(1 + draw.UpTo(15)),
                       .wait_part = 0.25 * static_cast<double>(1 + draw.UpTo(3))};
  // Off whole microseconds, so that no time is just enough.
  if (draw.OneIn(2)) work.deadline = facts.now + nanoseconds(1000 * draw.UpTo(50'000) + 500);
  if (draw.OneIn(50)) work.deadline = facts.now;

  const Oracle oracle(work, facts, waiting, weights, limits);
  const std::optional<JobRefusal> refusal = FindRefusal(work, facts, queue, limits);
  const std::optional<Cause> cause = refusal ? std::optional(refusal->cause) : std::nullopt;
  ASSERT_EQ(cause, oracle.Find()) << "seed " << seed;
  ++seen[cause];
  if (cause == Cause::kQueueJobs || cause == Cause::kQueueBytes || cause == Cause::kTenantShare) {
    const milliseconds difference = refusal->retry_delay - oracle.RetryDelayAfter(*cause);
    EXPECT_LE(std::abs(difference.count()), 1) << "seed " << seed;
  }
  JobList rest;
  queue.RemoveAll(rest);
}

TEST(JobAdmissionTest, FollowsItsRules) {
  std::map<std::optional<Cause>, int> seen;
  for (uint64_t seed = 0; seed < 10'000 && !testing::Test::HasFatalFailure(); ++seed) {
    CheckOne(seed, seen);
  }
  EXPECT_EQ(seen.size(), 8u) << "it is taken, or refused for each of the causes";
  for (const auto& [cause, count] : seen) EXPECT_GE(count, 50);
}

// A share is a fraction, which must not lose a place by rounding: 98 / 49 is 2.
TEST(JobAdmissionTest, AShareIsExact) {
  Limits limits;
  limits.queued_jobs_max = 4 * 98;
  FairQueue queue(1, {{"b", 47}});
  const auto add = [&queue](const std::string& tenant, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      JobList entry = {std::make_shared<Job>(JobWork{.tenant = tenant})};
      queue.Push(entry);
    }
  };
  const auto refused = [&] {
    return FindRefusal({.tenant = "a"}, {.now = {}, .lane_count = 1}, queue, limits).has_value();
  };
  add("b", 3 * 98);
  add("a", 1);
  EXPECT_FALSE(refused());
  add("a", 1);
  EXPECT_TRUE(refused());
  JobList rest;
  queue.RemoveAll(rest);
}

// What would wrap around is too much.
TEST(JobAdmissionTest, SizesNearTheEndOf64Bits) {
  Limits limits;
  FairQueue queue(1, {});
  for (const uint64_t bytes : {limits.queued_bytes_max + 1, ~uint64_t{0}}) {
    const auto refusal =
        FindRefusal({.payload_bytes = bytes}, {.now = {}, .lane_count = 1}, queue, limits);
    ASSERT_TRUE(refusal.has_value());
    EXPECT_EQ(refusal->cause, Cause::kQueueBytes);
  }
}

}  // namespace
}  // namespace gridfold::server
