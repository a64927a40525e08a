// The memory guard by itself: memory and connections are the test's.
#include "server/process/memory_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "server/base/fixed_limits.h"

namespace gridfold::server {
namespace {

using testing::ElementsAre;
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

}  // namespace
}  // namespace gridfold::server
