// The memory guard by itself: memory and connections are the test's.
#include "server/process/memory_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "server/base/fixed_limits.h"
#include "server/process/event_log.h"

namespace gridfold::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kMost = 1 * kGiB;
constexpr uint64_t kGrowth = kMost / kMemoryGrowthPart;

class MemoryGuardTest : public testing::Test {
 protected:
  void LookAt(uint64_t bytes) {
    bytes_ = bytes;
    guard_.Look();
  }
  void LookPatiently(uint64_t bytes) {
    for (uint64_t i = 0; i <= kMemoryPatienceLooks; ++i) LookAt(bytes);
  }
  // Everybody sent and received something long ago.
  static ConnectionLoad Quiet(int descriptor) {
    return {.descriptor = descriptor,
            .cookie = static_cast<uint64_t>(descriptor) + 100,
            .sent_bytes = 100'000,
            .received_bytes = 100'000};
  }

  uint64_t bytes_ = 0;
  std::vector<ConnectionLoad> connections_ = {Quiet(1), Quiet(2), Quiet(3)};
  std::vector<int> closed_;
  MemoryGuard guard_{kMost,
                     {.memory_bytes = [this] { return bytes_; },
                      .connections = [this] { return connections_; },
                      .close = [this](int descriptor) { closed_.push_back(descriptor); }}};
};

TEST_F(MemoryGuardTest, AShortageBeginsBeyondTheMostAndEndsWellBelowIt) {
  LookAt(kMost);
  EXPECT_FALSE(guard_.is_short());
  LookAt(kMost + 1);
  EXPECT_TRUE(guard_.is_short());
  LookAt(kMost);
  EXPECT_TRUE(guard_.is_short());
  LookAt(kMost - kGrowth + 1);
  EXPECT_TRUE(guard_.is_short());
  LookAt(kMost - kGrowth);
  EXPECT_FALSE(guard_.is_short());
  LookAt(kMost);
  EXPECT_FALSE(guard_.is_short());
}

TEST_F(MemoryGuardTest, NobodyIsClosedWhileThereIsEnough) {
  connections_[0].calls = 1'000'000;
  LookPatiently(kMost);
  EXPECT_THAT(closed_, IsEmpty());
}

TEST_F(MemoryGuardTest, WhoeverHasTheCallsIsClosedWhenMemoryGrows) {
  connections_[1].calls = 50'000;
  connections_[0].calls = 20;
  LookAt(kMost + 1);
  EXPECT_THAT(closed_, IsEmpty());
  LookAt(kMost + kGrowth);
  EXPECT_THAT(closed_, IsEmpty());
  // What honest callers send meanwhile does not make them suspects.
  connections_[0].received_bytes += 1000;
  connections_[2].received_bytes += 50'000;
  LookAt(kMost + kGrowth + 1);
  EXPECT_THAT(closed_, ElementsAre(2));
}

TEST_F(MemoryGuardTest, WhoeverDoesNotTakeAnswersIsClosed) {
  connections_[2].answer_bytes = kMost / 2;
  LookAt(kMost + 1);
  LookAt(kMost + 1 + kGrowth);
  EXPECT_THAT(closed_, ElementsAre(3));
}

TEST_F(MemoryGuardTest, WhoeverTakesAnswersIsNot) {
  connections_[2].answer_bytes = kMost / 2;
  for (uint64_t i = 0; i < 4 * kMemoryPatienceLooks; ++i) {
    connections_[2].sent_bytes += 1000;
    LookAt(kMost + 1 + i * kGrowth / 2);
  }
  EXPECT_THAT(closed_, IsEmpty());
}

TEST_F(MemoryGuardTest, AShortageThatLastsIsEnded) {
  connections_[1].calls = 50'000;
  LookPatiently(kMost + 1);
  EXPECT_THAT(closed_, ElementsAre(2));
}

TEST_F(MemoryGuardTest, WhoHoldsLittleDoesNotPayForOthers) {
  for (ConnectionLoad& connection : connections_) connection.calls = 100;
  LookPatiently(kMost + 1);
  LookPatiently(kMost + kGrowth / 2);
  EXPECT_THAT(closed_, IsEmpty());
}

TEST_F(MemoryGuardTest, ThousandsWhoOnlyConnectedMakeNobodyElseASuspect) {
  for (int i = 0; i < 10'000; ++i) {
    connections_.push_back({.descriptor = 10 + i,
                            .cookie = static_cast<uint64_t>(200 + i),
                            .sent_bytes = 60,
                            .received_bytes = 64});
  }
  LookAt(kMost + 1);
  for (uint64_t look = 1; look <= 3; ++look) {
    // Requests that wait to be answered.
    connections_[0].received_bytes += 4'000;
    LookAt(kMost + 1 + look * 2 * kGrowth);
  }
  EXPECT_THAT(closed_, IsEmpty());
}

TEST_F(MemoryGuardTest, HeadersWithoutEndAreSeenFromTheirBeginning) {
  // Before the shortage; the server has sent its settings, and nothing since.
  connections_[1].sent_bytes = 100;
  connections_[1].received_bytes = kMost / kMemoryPerHeaderByte;
  LookAt(kMost + 1);
  LookAt(kMost + 1 + kGrowth);
  EXPECT_THAT(closed_, ElementsAre(2));
}

TEST_F(MemoryGuardTest, NobodyElsePaysForTheEndOfACall) {
  connections_[1].sent_bytes = 100;
  connections_[1].received_bytes = kMost / kMemoryPerHeaderByte;
  LookAt(kMost + 1);
  LookAt(kMost + 1 + kGrowth);
  ASSERT_THAT(closed_, ElementsAre(2));
  const uint64_t after = bytes_;
  // It is gone, its memory is not; and who waits has calls meanwhile.
  connections_.erase(connections_.begin() + 1);
  connections_[0].calls = kGrowth / 4 / kIdleCallBytes;
  LookAt(after + kEndingPerHeaderMemory * kMost);
  EXPECT_THAT(closed_, ElementsAre(2));
  LookAt(after + kEndingPerHeaderMemory * kMost + kGrowth);
  EXPECT_THAT(closed_, ElementsAre(2, 1));
}

TEST_F(MemoryGuardTest, SeveralThatHoldMostAreClosedAtOnce) {
  connections_.clear();
  for (int i = 0; i < 100; ++i) {
    connections_.push_back(Quiet(i));
    connections_.back().calls = i < 50 ? 1000 : 1;
  }
  LookAt(kMost + 1);
  LookAt(kMost + 1 + kGrowth);
  EXPECT_GE(closed_.size(), 25U);
  for (const int descriptor : closed_) EXPECT_LT(descriptor, 50);
}

TEST_F(MemoryGuardTest, PatienceBeginsAnewWithEachShortageAndClosing) {
  connections_[1].calls = 50'000;
  const auto look_one_less = [this] {
    for (uint64_t i = 1; i < kMemoryPatienceLooks; ++i) LookAt(kMost + 1);
  };
  look_one_less();
  EXPECT_THAT(closed_, IsEmpty());
  LookAt(kMost + 1);
  EXPECT_THAT(closed_, ElementsAre(2));
  look_one_less();
  EXPECT_THAT(closed_, ElementsAre(2));
  LookAt(kMost + 1);
  EXPECT_THAT(closed_, ElementsAre(2, 2));
  look_one_less();
  LookAt(0);
  look_one_less();
  EXPECT_THAT(closed_, ElementsAre(2, 2));
  LookAt(kMost + 1);
  EXPECT_THAT(closed_, ElementsAre(2, 2, 2));
}

TEST_F(MemoryGuardTest, GrowthCountsFromTheLowest) {
  connections_[1].calls = 50'000;
  LookAt(kMost + 1);
  LookAt(kMost - kGrowth / 2);
  LookAt(kMost + kGrowth / 2 - 1);
  EXPECT_THAT(closed_, IsEmpty());
  LookAt(kMost + kGrowth / 2);
  EXPECT_THAT(closed_, ElementsAre(2));
}

TEST_F(MemoryGuardTest, WhatWasAnsweredBeforeTheShortageMakesNobodyASuspect) {
  connections_[2].received_bytes = kMost;
  LookAt(kMost + 1);
  LookAt(kMost + 1 + kGrowth);
  LookAt(0);
  // What is known of connections is known of one shortage.
  connections_[2].received_bytes += kMost;
  LookAt(kMost + 1);
  LookAt(kMost + 1 + kGrowth);
  EXPECT_THAT(closed_, IsEmpty());
}

TEST_F(MemoryGuardTest, CallsThatEndedInAnotherShortageExcuseNobody) {
  connections_[1].sent_bytes = 100;
  connections_[1].received_bytes = kMost / kMemoryPerHeaderByte;
  LookAt(kMost + 1);
  LookAt(kMost + 1 + kGrowth);
  ASSERT_THAT(closed_, ElementsAre(2));
  connections_.erase(connections_.begin() + 1);
  LookAt(0);
  connections_[0].calls = 1000;
  LookAt(kMost + 1);
  LookAt(kMost + 1 + kGrowth);
  EXPECT_THAT(closed_, ElementsAre(2, 1));
}

// Of holders of 10 MiB, the half of all that they hold, and of less.
TEST_F(MemoryGuardTest, WhoHoldHalfOfAllAreClosedAndNobodyElse) {
  constexpr uint64_t kMost10 = 10 * kMiB;
  for (size_t first = 0; first < 3; ++first) {
    const std::array<int, 3> descriptors = {static_cast<int>(first) + 1,
                                            static_cast<int>(first + 1) % 3 + 1,
                                            static_cast<int>(first + 2) % 3 + 1};
    const auto close_of = [&](uint64_t third) {
      const std::array<uint64_t, 3> held = {kMost10, 6 * kMiB, third};
      for (size_t i = 0; i < 3; ++i) {
        connections_[static_cast<size_t>(descriptors[i] - 1)].answer_bytes = held[i];
      }
      closed_.clear();
      LookAt(0);
      LookAt(kMost + 1);
      LookAt(kMost + 1 + kGrowth);
    };
    close_of(4 * kMiB + 1);
    EXPECT_THAT(closed_, ElementsAre(descriptors[0]));
    close_of(4 * kMiB + 2);
    EXPECT_THAT(closed_, ElementsAre(descriptors[0], descriptors[1]));
  }
}

TEST_F(MemoryGuardTest, TheLogSaysHowManyWereClosedAndWhatTheyHeld) {
  connections_[0].calls = 1000;
  connections_[1].calls = 1000;
  connections_[2].calls = 1001;
  (void)FlushLog(std::chrono::seconds(30));
  testing::internal::CaptureStderr();
  LookAt(kMost + 1);
  LookAt(kMost + 1 + kGrowth);
  (void)FlushLog(std::chrono::seconds(30));
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("bytes=1073741825 most=1073741824"));
  EXPECT_THAT(log, HasSubstr("count=2 held_bytes=26637312"));  // 2,001 times 13 KiB.
}

// Whether a guard closes the first of these connections.
bool ClosesFirst(uint64_t bytes_max, const std::vector<ConnectionLoad>& connections,
                 bool memory_grows) {
  uint64_t bytes = bytes_max + 1;
  bool is_closed = false;
  MemoryGuard guard(
      bytes_max,
      {.memory_bytes = [&] { return bytes; },
       .connections = [&] { return connections; },
       .close = [&](int descriptor) { is_closed |= descriptor == connections[0].descriptor; }});
  guard.Look();
  if (memory_grows) bytes += bytes_max / kMemoryGrowthPart;
  for (uint64_t i = 1; i < (memory_grows ? 2 : kMemoryPatienceLooks); ++i) guard.Look();
  return is_closed;
}

// What somebody may hold when memory grows, and when it does not; on small and large machines.
TEST(MemoryGuardEdgesTest, WhatOneMayHold) {
  const struct {
    uint64_t bytes_max;
    uint64_t held_when_it_grows;
    uint64_t held_when_it_does_not;
  } machines[] = {{64 * kMiB, 128 * kKiB, kMiB},
                  {kGiB, 2 * kMiB, 6656 * kKiB},
                  {64 * kGiB, 3328 * kKiB, 6656 * kKiB}};
  for (const auto& [bytes_max, when_it_grows, when_it_does_not] : machines) {
    for (const bool grows : {false, true}) {
      ConnectionLoad load = {.descriptor = 1, .cookie = 1, .sent_bytes = 9999, .received_bytes = 9};
      load.answer_bytes = grows ? when_it_grows : when_it_does_not;
      EXPECT_FALSE(ClosesFirst(bytes_max, {load}, grows)) << bytes_max;
      ++load.answer_bytes;
      EXPECT_TRUE(ClosesFirst(bytes_max, {load}, grows)) << bytes_max;
    }
  }
}

// Of memory for a million bytes of headers of each of two, or of two thirds of that each of three.
TEST(MemoryGuardEdgesTest, WhatHeadersMayTake) {
  constexpr uint64_t kHeaderBytes = 2'000'000;
  const auto closes = [](uint64_t sent, uint64_t received, uint64_t received_by_other) {
    return ClosesFirst(kHeaderBytes * kMemoryPerHeaderByte,
                       {{1, 1, sent, received}, {2, 2, sent, received_by_other}}, true);
  };
  EXPECT_FALSE(closes(0, kHeaderBytes / 2, 512));
  EXPECT_TRUE(closes(0, kHeaderBytes / 2 + 1, 512));
  EXPECT_FALSE(closes(0, kHeaderBytes / 3, 513));
  EXPECT_TRUE(closes(0, kHeaderBytes / 3 + 1, 513));
  // What the server sends to greet is no answer.
  EXPECT_TRUE(closes(512, kHeaderBytes, 0));
  EXPECT_FALSE(closes(513, kHeaderBytes, 0));
}

}  // namespace
}  // namespace gridfold::server
