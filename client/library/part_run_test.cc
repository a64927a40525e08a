// Work in parts, some of which the server refuses for now.
#include "client/library/part_run.h"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <set>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "client/library/helper_thread.h"
#include "gmock/gmock.h"
#include "gridfold/v1/error_details.pb.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

absl::Status RefusedForNow() {
  absl::Status status = absl::ResourceExhaustedError("full");
  v1::RetryInfo info;
  info.mutable_retry_delay()->set_nanos(1'000'000);
  status.SetPayload("type.googleapis.com/google.rpc.RetryInfo",
                    absl::Cord(info.SerializeAsString()));
  return status;
}

TEST(PartRunTest, EachPartRunsOnce) {
  absl::Mutex mutex;
  std::multiset<size_t> parts;
  std::set<size_t> workers;
  EXPECT_TRUE(RunParts(100, 4, {}, [&](size_t part, size_t worker, const StopRequest&) {
                const absl::MutexLock lock(&mutex);
                parts.insert(part);
                workers.insert(worker);
                return absl::OkStatus();
              }).ok());
  EXPECT_EQ(parts.size(), 100u);
  EXPECT_EQ(std::set<size_t>(parts.begin(), parts.end()).size(), 100u);
  EXPECT_LE(*workers.rbegin(), 3u);
  EXPECT_TRUE(RunParts(0, 4, {}, [](size_t, size_t, const StopRequest&) {
                return absl::InternalError("there is no part");
              }).ok());
}

TEST(PartRunTest, TheFirstErrorStopsTheOthers) {
  absl::Notification failed;
  const absl::Status status =
      RunParts(2, 2, {}, [&](size_t part, size_t, const StopRequest& is_stopped) -> absl::Status {
        if (part == 1) {
          failed.Notify();
          return absl::DataLossError("gone");
        }
        failed.WaitForNotification();
        const absl::Time begin = absl::Now();
        while (!is_stopped() && absl::Now() - begin < absl::Seconds(20)) {
          absl::SleepFor(absl::Milliseconds(1));
        }
        return absl::CancelledError("stopped");
      });
  EXPECT_EQ(status, absl::DataLossError("gone"));
}

TEST(PartRunTest, ACancellationReachesTheParts) {
  EXPECT_TRUE(absl::IsCancelled(RunParts(
      3, 2, [] { return true; },
      [](size_t, size_t, const StopRequest& is_stopped) {
        return is_stopped() ? absl::CancelledError("stopped") : absl::OkStatus();
      })));
}

// A server with one place.
TEST(PartRunTest, RefusedPartsWaitForAPlace) {
  std::atomic<int> running = 0;
  std::atomic<int> ended = 0;
  EXPECT_TRUE(RunParts(20, 4, {}, [&](size_t, size_t, const StopRequest&) {
                if (running.fetch_add(1) > 0) {
                  running.fetch_sub(1);
                  return RefusedForNow();
                }
                absl::SleepFor(absl::Milliseconds(1));
                running.fetch_sub(1);
                ended.fetch_add(1);
                return absl::OkStatus();
              }).ok());
  EXPECT_EQ(ended, 20);
}

TEST(PartRunTest, ARefusalWithNothingToWaitForIsTheAnswer) {
  std::atomic<int> attempts = 0;
  const absl::Status status = RunParts(5, 3, {}, [&](size_t, size_t, const StopRequest&) {
    attempts.fetch_add(1);
    return RefusedForNow();
  });
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_LE(attempts, 4);
}

// Runs parts where the address space has no room for the stack of another thread, and ends the
// process: with 0 where the caller's thread has run them all.
[[noreturn]] void RunWithoutThreads() {
  std::ifstream sizes("/proc/self/statm");
  uint64_t pages = 0;
  sizes >> pages;
  const uint64_t bytes = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + (uint64_t{2} << 20);
  const rlimit limit{bytes, bytes};
  bool is_as_it_should = pages > 0 && setrlimit(RLIMIT_AS, &limit) == 0;
  is_as_it_should = is_as_it_should && !TryStartThread([] {}).has_value();
  size_t part_count = 0;
  const absl::Status status = RunParts(50, 8, {}, [&](size_t, size_t worker, const StopRequest&) {
    ++part_count;
    return worker == 0 ? absl::OkStatus() : absl::InternalError("another thread");
  });
  _exit(is_as_it_should && status.ok() && part_count == 50 ? 0 : 1);
}

TEST(PartRunDeathTest, WithoutThreadsTheCallerRunsAllParts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(RunWithoutThreads(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace gridfold::client
