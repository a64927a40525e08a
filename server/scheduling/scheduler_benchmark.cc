// What the scheduler costs: a job from its submission to its end, and a refusal while a full queue
// waits and many threads ask.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <semaphore>
#include <string>
#include <vector>

#include "server/testing/test_jobs.h"

namespace gridfold::server {
namespace {

Limits OneLane() { return SmallLimits(1, /*jobs_max=*/1024, /*bytes_max=*/uint64_t{1} << 30); }

JobWork SmallWork(const std::string& tenant) {
  return {.payload_bytes = 4120,
          .deadline = JobClock::now() + std::chrono::minutes(1),
          .tenant = tenant,
          .run = [](const JobContext&) { return absl::OkStatus(); },
          .finish = [](const absl::Status&) {}};
}

// Jobs that do nothing, through a lane that never sleeps: the lane and the submitter at once.
void RunJobs(benchmark::State& state) {
  FakeEngine engine;
  const auto scheduler = Scheduler::Create({&engine}, {.limits = OneLane()}).value();
  const int64_t tenant_count = state.range(0);
  std::vector<std::string> tenants;
  for (int64_t i = 0; i < tenant_count; ++i) tenants.push_back("tenant" + std::to_string(i));
  std::counting_semaphore<> places(256);
  size_t next = 0;
  for (auto _ : state) {
    places.acquire();
    JobWork work = SmallWork(tenants[next++ % tenants.size()]);
    work.finish = [&places](const absl::Status&) { places.release(); };
    if (!scheduler->Submit(std::make_shared<Job>(std::move(work))).ok()) std::abort();
  }
  scheduler->WaitUntilIdle(std::chrono::hours(1));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(RunJobs)->Arg(1)->Arg(100)->UseRealTime();

// The scheduler that all threads of Refuse share: its lane is busy and its queue full.
class FullScheduler {
 public:
  FullScheduler() {
    blocker_.emplace(WaitAt(gate_));
    (void)scheduler_->Submit(blocker_->job());
    gate_.WaitForArrivals(1);
    for (int i = 0; i < 1024; ++i) {
      const absl::Status status =
          scheduler_->Submit(std::make_shared<Job>(SmallWork(std::to_string(i % 64))));
      if (!status.ok() && i < 700) std::abort();
    }
    while (scheduler_->Submit(std::make_shared<Job>(SmallWork(std::to_string(more_++)))).ok()) {
    }
  }
  ~FullScheduler() { gate_.Open(); }

  Scheduler& scheduler() { return *scheduler_; }

 private:
  FakeEngine engine_;
  Gate gate_;
  int more_ = 1000;
  std::optional<TestJob> blocker_;
  std::unique_ptr<Scheduler> scheduler_ =
      Scheduler::Create({&engine_}, {.limits = OneLane()}).value();
};

void Refuse(benchmark::State& state) {
  static std::mutex mutex;
  static std::vector<double> latencies_us;
  static auto* const full = new FullScheduler;
  std::vector<double> own_us;
  own_us.reserve(1 << 20);
  const auto job = std::make_shared<Job>(SmallWork("one more"));
  state.SetLabel(std::string(full->scheduler().Submit(job).message()));
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    if (full->scheduler().Submit(job).ok()) std::abort();
    own_us.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
            .count());
  }
  const std::lock_guard lock(mutex);
  latencies_us.insert(latencies_us.end(), own_us.begin(), own_us.end());
  if (latencies_us.size() < static_cast<size_t>(state.iterations()) * state.threads()) return;
  // The last thread of the run.
  std::sort(latencies_us.begin(), latencies_us.end());
  const auto quantile = [&](double q) {
    return latencies_us[static_cast<size_t>(q * static_cast<double>(latencies_us.size() - 1))];
  };
  state.counters["p50_us"] = quantile(0.5);
  state.counters["p99_us"] = quantile(0.99);
  state.counters["p999_us"] = quantile(0.999);
  const auto late = std::upper_bound(latencies_us.begin(), latencies_us.end(), 1000.0);
  state.counters["over_1ms"] = static_cast<double>(latencies_us.end() - late);
  latencies_us.clear();
}
BENCHMARK(Refuse)->Threads(1)->Threads(64)->Iterations(20'000)->UseRealTime();

}  // namespace
}  // namespace gridfold::server

BENCHMARK_MAIN();
