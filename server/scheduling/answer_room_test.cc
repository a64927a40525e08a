// Room for answers by itself, and jobs that wait for it.
#include "server/scheduling/answer_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "server/testing/scheduler_fixture.h"

namespace gridfold::server {
namespace {

using testing::ElementsAre;

// Parts of 5 MiB for everybody, 2 for tenants, half of one for connections and for small answers.
constexpr uint64_t kRoom = 8 * kMiB;

std::optional<AnswerGrant> Take(AnswerRoom& room, const std::string& tenant, uint64_t connection,
                                uint64_t bytes) {
  return room.Take({.tenant = tenant, .connection = connection}, bytes);
}

TEST(AnswerRoomTest, TheOpenPartIsTakenToItsLastByte) {
  AnswerRoom room(kRoom, {});
  std::optional<AnswerGrant> first = Take(room, "a", 1, 3 * kMiB);
  std::optional<AnswerGrant> second = Take(room, "a", 1, 2 * kMiB);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(room.taken_bytes(), 5 * kMiB);
  EXPECT_FALSE(Take(room, "a", 1, kSmallAnswerBytes + 1));
  room.Shrink(*second, 2 * kMiB - kSmallAnswerBytes - 1);
  std::optional<AnswerGrant> third = Take(room, "a", 1, kSmallAnswerBytes + 1);
  ASSERT_TRUE(third);
  for (auto* grant : {&*first, &*second, &*third}) room.GiveBack(*grant);
  EXPECT_EQ(room.taken_bytes(), 0U);
}

TEST(AnswerRoomTest, AnAnswerLargerThanTheRoomIsAloneInTheOpenPart) {
  AnswerRoom room(kRoom, {});
  std::optional<AnswerGrant> huge = Take(room, "a", 1, 100 * kMiB);
  ASSERT_TRUE(huge);
  EXPECT_FALSE(Take(room, "a", 1, 100 * kMiB));
  room.GiveBack(*huge);
  huge = Take(room, "a", 1, 100 * kMiB);
  ASSERT_TRUE(huge);
  room.GiveBack(*huge);
}

TEST(AnswerRoomTest, OtherTenantsHaveTheirShare) {
  AnswerRoom room(kRoom, {{"heavy", 2}});
  std::vector<AnswerGrant> grants;
  while (auto grant = Take(room, "greedy", 1, kMiB)) grants.push_back(*grant);
  EXPECT_EQ(grants.size(), 5U);
  // Of the 2 MiB: of the weights 1 + 1 + 1 it has one; of 1 + 2 + 1 two.
  EXPECT_FALSE(Take(room, "other", 2, 2 * kMiB / 3 + 1));
  EXPECT_TRUE(room.HasRoom({.tenant = "other", .connection = 2}, 2 * kMiB / 3));
  EXPECT_TRUE(room.HasRoom({.tenant = "heavy", .connection = 2}, kMiB));
  EXPECT_FALSE(room.HasRoom({.tenant = "heavy", .connection = 2}, kMiB + 1));
  for (AnswerGrant& grant : grants) room.GiveBack(grant);
}

TEST(AnswerRoomTest, OtherConnectionsOfTheSameTenantHaveTheirShare) {
  AnswerRoom room(kRoom, {});
  std::vector<AnswerGrant> grants;
  while (auto grant = Take(room, "", 1, kMiB)) grants.push_back(*grant);
  EXPECT_FALSE(room.HasRoom({.tenant = "", .connection = 1}, 100 * kKiB));
  // Of half of 1 MiB: of 1 + 1 + 1 connections it is one.
  EXPECT_TRUE(room.HasRoom({.tenant = "", .connection = 2}, kMiB / 6));
  EXPECT_FALSE(room.HasRoom({.tenant = "", .connection = 2}, kMiB / 6 + 1));
  for (AnswerGrant& grant : grants) room.GiveBack(grant);
}

TEST(AnswerRoomTest, SmallAnswersHaveAPartOfTheirOwn) {
  AnswerRoom room(kRoom, {});
  std::vector<AnswerGrant> grants = {*Take(room, "", 1, 5 * kMiB)};
  while (auto grant = Take(room, "", 1, kSmallAnswerBytes)) grants.push_back(*grant);
  EXPECT_EQ(room.taken_bytes(), 5 * kMiB + kMiB / 2);
  EXPECT_EQ(room.taken_bytes_high_water(), room.taken_bytes());
  // What is given back of it is for small answers again, and for no others.
  ASSERT_TRUE(room.GiveBackSmall(grants.back()));
  EXPECT_EQ(room.taken_bytes(), 5 * kMiB + kMiB / 2 - kSmallAnswerBytes);
  EXPECT_FALSE(Take(room, "", 1, kSmallAnswerBytes + 1));
  grants.back() = *Take(room, "", 1, kSmallAnswerBytes);
  EXPECT_FALSE(room.GiveBackSmall(grants.front()));
  for (AnswerGrant& grant : grants) room.GiveBack(grant);
  EXPECT_EQ(room.taken_bytes(), 0U);
}

TEST(AnswerRoomTest, SmallAnswersFindTheOpenPartWhenTheirsIsFull) {
  AnswerRoom room(kRoom, {});
  std::vector<AnswerGrant> grants;
  while (auto grant = Take(room, "", 1, kSmallAnswerBytes)) grants.push_back(*grant);
  EXPECT_EQ(room.taken_bytes(), 5 * kMiB + kMiB / 2);
  for (AnswerGrant& grant : grants) room.GiveBack(grant);
}

class AnswerRoomSchedulerTest : public SchedulerFixture {
 protected:
  void SetUp() override {
    Limits limits = SmallLimits(1);
    limits.answer_bytes_max = kRoom;
    Make(limits);
  }
  absl::Status SubmitAnswer(const std::string& mark, uint64_t answer_bytes,
                            const std::string& tenant = "", uint64_t connection = 1) {
    return Submit({.tenant = tenant, .answer_bytes = answer_bytes, .connection = connection}, mark);
  }
  // Until jobs have ended whose answers had room.
  void WaitForOrder(size_t count) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (scheduler_->GetStatistics().succeeded < count &&
           std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
    ASSERT_EQ(scheduler_->GetStatistics().succeeded, count);
  }
  // Until so many jobs wait for room.
  void WaitForWaiting(uint64_t count) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (scheduler_->GetStatistics().queued_for_answers != count &&
           std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
    ASSERT_EQ(scheduler_->GetStatistics().queued_for_answers, count);
  }
  void AnswerGone(size_t job) { scheduler_->GiveBackAnswerRoom(*jobs_[job].job()); }
};

TEST_F(AnswerRoomSchedulerTest, AJobWithoutRoomWaitsOnNoLane) {
  ASSERT_TRUE(SubmitAnswer("first", 5 * kMiB).ok());
  WaitForOrder(1);
  ASSERT_TRUE(SubmitAnswer("second", 5 * kMiB).ok());
  // The only lane is free for others, of the same tenant and connection where they are small.
  ASSERT_TRUE(SubmitAnswer("small", kKiB).ok());
  ASSERT_TRUE(SubmitAnswer("other", kMiB / 2, "b", 2).ok());
  WaitForOrder(3);
  EXPECT_EQ(scheduler_->GetStatistics().queued_for_answers, 1U);
  EXPECT_EQ(scheduler_->GetStatistics().lanes_busy, 0U);
  AnswerGone(0);
  WaitForOrder(4);
  EXPECT_THAT(order_, ElementsAre("first", "small", "other", "second"));
  for (size_t job = 0; job < 4; ++job) AnswerGone(job);
  EXPECT_EQ(scheduler_->GetStatistics().answer_bytes, 0U);
}

TEST_F(AnswerRoomSchedulerTest, ALargeAnswerIsNotOvertakenForEver) {
  ASSERT_TRUE(SubmitAnswer("1", 2 * kMiB).ok());
  ASSERT_TRUE(SubmitAnswer("2", 2 * kMiB).ok());
  WaitForOrder(2);
  ASSERT_TRUE(SubmitAnswer("huge", 50 * kMiB, "b", 2).ok());
  ASSERT_TRUE(SubmitAnswer("3", 2 * kMiB).ok());
  AnswerGone(0);
  AnswerGone(1);
  WaitForOrder(3);
  AnswerGone(2);
  WaitForOrder(4);
  EXPECT_THAT(order_, ElementsAre("1", "2", "huge", "3"));
  AnswerGone(3);
}

TEST_F(AnswerRoomSchedulerTest, TenantsTakeTurnsAtWhatBecomesFree) {
  const std::vector<std::string> marks = {"0", "a1", "a2", "a3", "b1"};
  ASSERT_TRUE(SubmitAnswer(marks[0], 5 * kMiB, "a").ok());
  WaitForOrder(1);
  for (size_t job = 1; job < 5; ++job) {
    ASSERT_TRUE(SubmitAnswer(marks[job], 5 * kMiB, job < 4 ? "a" : "b").ok());
  }
  for (size_t job = 0; job < 5; ++job) {
    WaitForOrder(job + 1);
    // Of the one that ran last; the others have none, or none any more.
    AnswerGone(std::find(marks.begin(), marks.end(), order_.back()) - marks.begin());
  }
  EXPECT_THAT(order_, ElementsAre("0", "a1", "b1", "a2", "a3"));
}

TEST_F(AnswerRoomSchedulerTest, AJobThatWaitsForRoomCanBeCancelled) {
  ASSERT_TRUE(SubmitAnswer("first", 5 * kMiB).ok());
  WaitForOrder(1);
  ASSERT_TRUE(SubmitAnswer("waits", 50 * kMiB, "b").ok());
  ASSERT_TRUE(SubmitAnswer("behind", 3 * kMiB, "c").ok());
  scheduler_->Cancel(jobs_[1].job());
  EXPECT_EQ(jobs_[1].status().code(), absl::StatusCode::kCancelled);
  AnswerGone(0);
  WaitForOrder(2);
  EXPECT_THAT(order_, ElementsAre("first", "behind"));
  AnswerGone(2);
}

// Whoever gives back the room takes no lock, unless a job waits: none may be overlooked.
TEST_F(AnswerRoomSchedulerTest, NoSmallAnswerThatWaitsIsForgotten) {
  ASSERT_TRUE(SubmitAnswer("large", 5 * kMiB).ok());
  WaitForOrder(1);
  // The part for small answers has room for 8 of these.
  constexpr int kJobs = 4000;
  constexpr int kAtOnce = 12;
  std::counting_semaphore<> places(kAtOnce);
  std::counting_semaphore<> ended(0);
  std::mutex mutex;
  std::deque<int> ended_jobs;  // Guarded by mutex.
  std::deque<TestJob> jobs;
  for (int i = 0; i < kJobs; ++i) {
    jobs.emplace_back(JobWork{.answer_bytes = kSmallAnswerBytes, .connection = 1},
                      [&, i](const JobContext&) {
                        {
                          const std::lock_guard lock(mutex);
                          ended_jobs.push_back(i);
                        }
                        ended.release();
                        return absl::OkStatus();
                      });
  }
  std::atomic<int> left = kJobs;
  std::vector<std::thread> givers;
  for (int thread = 0; thread < 2; ++thread) {
    givers.emplace_back([&] {
      while (left-- > 0) {
        if (!ended.try_acquire_for(std::chrono::seconds(30))) {
          ADD_FAILURE() << "a job was forgotten";
          return;
        }
        int job = 0;
        {
          const std::lock_guard lock(mutex);
          job = ended_jobs.front();
          ended_jobs.pop_front();
        }
        EXPECT_TRUE(jobs[job].status().ok());
        scheduler_->GiveBackAnswerRoom(*jobs[job].job());
        places.release();
      }
    });
  }
  for (TestJob& job : jobs) {
    if (!places.try_acquire_for(std::chrono::seconds(40))) break;
    EXPECT_TRUE(scheduler_->Submit(job.job()).ok());
  }
  for (std::thread& giver : givers) giver.join();
  EXPECT_EQ(scheduler_->GetStatistics().answer_bytes, 5 * kMiB);
  EXPECT_TRUE(scheduler_->WaitUntilIdle(std::chrono::seconds(30)));
  AnswerGone(0);
}

// A job that waits alone runs when one small answer has gone, which is given back without a lock
// where none waits.
TEST_F(AnswerRoomSchedulerTest, ASmallAnswerThatHasGoneLetsTheOneThatWaitsRun) {
  ASSERT_TRUE(SubmitAnswer("large", 5 * kMiB).ok());
  WaitForOrder(1);
  const std::string tenant;
  std::vector<AnswerGrant> grants;
  while (auto grant =
             scheduler_->TakeAnswerRoom({.tenant = tenant, .connection = 1}, kSmallAnswerBytes)) {
    grants.push_back(*grant);
  }
  ASSERT_GT(grants.size(), 1u);
  ASSERT_TRUE(SubmitAnswer("waits", kSmallAnswerBytes).ok());
  WaitForWaiting(1);
  EXPECT_THAT(order_, ElementsAre("large"));
  scheduler_->GiveBackAnswerRoom(grants.back());
  grants.pop_back();
  WaitForOrder(2);
  EXPECT_EQ(scheduler_->GetStatistics().queued_for_answers, 0U);
  for (AnswerGrant& grant : grants) scheduler_->GiveBackAnswerRoom(grant);
  for (size_t job = 0; job < 2; ++job) AnswerGone(job);
  EXPECT_EQ(scheduler_->GetStatistics().answer_bytes, 0U);
}

TEST_F(AnswerRoomSchedulerTest, AFailedJobGivesItsRoomBack) {
  TestJob& failing = jobs_.emplace_back(JobWork{.answer_bytes = 5 * kMiB}, [](const JobContext&) {
    return absl::InternalError("no");
  });
  ASSERT_TRUE(scheduler_->Submit(failing.job()).ok());
  EXPECT_FALSE(failing.status().ok());
  EXPECT_TRUE(scheduler_->WaitUntilIdle(std::chrono::seconds(30)));
  EXPECT_EQ(scheduler_->GetStatistics().answer_bytes, 0U);
}

TEST_F(AnswerRoomSchedulerTest, WhatWaitsForRoomFillsTheQueue) {
  ASSERT_TRUE(SubmitAnswer("first", 5 * kMiB).ok());
  WaitForOrder(1);
  absl::Status status;
  int accepted = 0;
  while (status.ok() && accepted < 100) {
    status = SubmitAnswer("more", 5 * kMiB);
    if (status.ok()) ++accepted;
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_LE(accepted, 16);
  scheduler_->StopAll();
  EXPECT_TRUE(scheduler_->WaitUntilIdle(std::chrono::seconds(30)));
  AnswerGone(0);
}

TEST_F(AnswerRoomSchedulerTest, RoomForAnswersWithoutAJob) {
  const std::string tenant;
  std::optional<AnswerGrant> grant =
      scheduler_->TakeAnswerRoom({.tenant = tenant, .connection = 1}, kMiB);
  ASSERT_TRUE(grant);
  EXPECT_EQ(scheduler_->GetStatistics().answer_bytes, kMiB);
  scheduler_->GiveBackAnswerRoom(*grant);
  EXPECT_EQ(scheduler_->GetStatistics().answer_bytes, 0U);
}

}  // namespace
}  // namespace gridfold::server
