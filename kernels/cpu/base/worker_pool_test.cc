#include "kernels/cpu/base/worker_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace gridfold::kernels::cpu {
namespace {

TEST(WorkerPoolTest, CallsForEveryIndexOnce) {
  for (const int threads : {1, 2, 7}) {
    WorkerPool workers(threads);
    for (const uint64_t count : {0, 1, 2, 1000}) {
      std::vector<std::atomic<int>> calls(count);
      EXPECT_TRUE(
          workers.ForEach(count, workers.thread_count(), {}, [&](uint64_t i) { ++calls[i]; }).ok());
      EXPECT_TRUE(std::all_of(calls.begin(), calls.end(), [](const auto& n) { return n == 1; }));
    }
  }
}

TEST(WorkerPoolTest, CallersShareTheThreads) {
  constexpr int kThreads = 2;
  WorkerPool workers(kThreads);
  EXPECT_EQ(workers.thread_count(), kThreads);
  std::atomic<int> running = 0;
  std::atomic<int> most_running = 0;
  const auto work = [&](uint64_t) {
    const int now = ++running;
    int most = most_running;
    while (now > most && !most_running.compare_exchange_weak(most, now)) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --running;
  };
  std::vector<std::thread> callers;
  for (const uint64_t count : {1, 20, 1, 20}) {
    callers.emplace_back(
        [&, count] { EXPECT_TRUE(workers.ForEach(count, workers.thread_count(), {}, work).ok()); });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_LE(most_running, kThreads);
}

// As many calls as there are threads wait for each other, also where the machine has fewer
// processors.
TEST(WorkerPoolTest, AllThreadsWorkAtOnce) {
  for (const int threads : {1, 2, 7}) {
    WorkerPool workers(threads);
    std::atomic<int> waiting = 0;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    const auto wait_for_all = [&](uint64_t) {
      for (++waiting; waiting < threads && std::chrono::steady_clock::now() < deadline;) {
        std::this_thread::yield();
      }
    };
    EXPECT_TRUE(workers.ForEach(static_cast<uint64_t>(threads), threads, {}, wait_for_all).ok());
    EXPECT_LT(std::chrono::steady_clock::now(), deadline) << threads;
  }
}

#ifndef __SANITIZE_THREAD__  // Which cannot follow a process that was forked from several threads.

// Whether pools work and end in a process that is forked from this one now: one from before, and
// its own.
bool WorkAfterFork(std::unique_ptr<WorkerPool>& from_before) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // Ends a process that waits for threads that it does not have.
    std::atomic<uint64_t> calls = 0;
    {
      WorkerPool own(5);
      for (WorkerPool* workers : {from_before.get(), &own}) {
        if (!workers->ForEach(1000, 5, {}, [&](uint64_t) { ++calls; }).ok()) _exit(2);
      }
      from_before.reset();
    }
    _exit(calls == 2000 ? 0 : 1);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

TEST(WorkerPoolTest, WorksInProcessesForkedWhileThreadsWork) {
  auto workers = std::make_unique<WorkerPool>(16);
  std::atomic<bool> is_over = false;
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&] {
      while (!is_over) EXPECT_TRUE(workers->ForEach(64, 16, {}, [](uint64_t) {}).ok());
    });
  }
  int forks = 0;
  while (forks < 200 && WorkAfterFork(workers)) ++forks;
  is_over = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(forks, 200);
  EXPECT_TRUE(WorkAfterFork(workers));  // Also while all threads wait.
}

#endif

TEST(WorkerPoolTest, CallsNothingOnceStopped) {
  WorkerPool workers(2);
  std::stop_source stop;
  stop.request_stop();
  const absl::Status status = workers.ForEach(100, workers.thread_count(), stop.get_token(),
                                              [](uint64_t) { ADD_FAILURE() << "called"; });
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
}

TEST(WorkerPoolTest, StopsBetweenCalls) {
  WorkerPool workers(2);
  std::stop_source stop;
  std::atomic<uint64_t> calls = 0;
  const absl::Status status =
      workers.ForEach(1'000'000, workers.thread_count(), stop.get_token(), [&](uint64_t) {
        if (++calls == 10) stop.request_stop();
      });
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_LT(calls, 1'000'000u);
}

}  // namespace
}  // namespace gridfold::kernels::cpu
