#include "client/library/retry.h"

#include <string>
#include <vector>

#include "absl/strings/cord.h"
#include "gmock/gmock.h"
#include "gridfold/v1/error_details.pb.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class FakeEnvironment : public RetryEnvironment {
 public:
  absl::Time Now() override { return now; }
  void Sleep(absl::Duration duration) override {
    sleeps.push_back(duration);
    now += duration;
  }
  double RandomFraction() override { return fraction; }

  absl::Time now = absl::UnixEpoch();
  double fraction = 0.5;  // No jitter.
  std::vector<absl::Duration> sleeps;
};

class RetryTest : public testing::Test {
 protected:
  // Runs attempts that end with `statuses` in turn.
  absl::Status Run(std::vector<absl::Status> statuses) {
    attempts_ = 0;
    return RetryWhileUnavailable(RetrySchedule(policy_, deadline_, waits_while_refused_),
                                 environment_, [&] { return statuses.at(attempts_++); });
  }

  RetryPolicy policy_;
  absl::Time deadline_ = absl::InfiniteFuture();
  bool waits_while_refused_ = false;
  FakeEnvironment environment_;
  size_t attempts_ = 0;
};

const absl::Status kUnavailable = absl::UnavailableError("draining");

TEST_F(RetryTest, SuccessIsNotTriedAgain) {
  EXPECT_TRUE(Run({absl::OkStatus()}).ok());
  EXPECT_EQ(attempts_, 1u);
  EXPECT_THAT(environment_.sleeps, IsEmpty());
}

TEST_F(RetryTest, OnlyUnavailableIsTriedAgain) {
  for (int code = 1; code <= 16; ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), "error");
    EXPECT_EQ(Run({status, absl::OkStatus()}).ok(), code == 14) << code;
    EXPECT_EQ(attempts_, code == 14 ? 2u : 1u) << code;
  }
}

TEST_F(RetryTest, LastErrorIsReturned) {
  EXPECT_TRUE(absl::IsInternal(Run({kUnavailable, absl::InternalError("broken")})));
  EXPECT_EQ(Run({kUnavailable, kUnavailable, kUnavailable, absl::UnavailableError("last")}),
            absl::UnavailableError("last"));
  EXPECT_EQ(attempts_, 4u);
}

TEST_F(RetryTest, BackoffGrowsToItsMaximum) {
  policy_ = {.attempts_max = 6,
             .initial_backoff = absl::Milliseconds(100),
             .backoff_max = absl::Milliseconds(500),
             .backoff_multiplier = 2,
             .jitter = 0.25};
  EXPECT_EQ(Run(std::vector<absl::Status>(6, kUnavailable)), kUnavailable);
  EXPECT_THAT(environment_.sleeps,
              ElementsAre(absl::Milliseconds(100), absl::Milliseconds(200), absl::Milliseconds(400),
                          absl::Milliseconds(500), absl::Milliseconds(500)));
}

TEST_F(RetryTest, JitterMovesBothWays) {
  policy_ = {.attempts_max = 2, .initial_backoff = absl::Seconds(1), .jitter = 0.25};
  environment_.fraction = 0;
  EXPECT_EQ(Run({kUnavailable, kUnavailable}), kUnavailable);
  environment_.fraction = 1;
  EXPECT_EQ(Run({kUnavailable, kUnavailable}), kUnavailable);
  EXPECT_THAT(environment_.sleeps, ElementsAre(absl::Milliseconds(750), absl::Milliseconds(1250)));
}

TEST_F(RetryTest, NoWaitGoesPastTheDeadline) {
  policy_.initial_backoff = absl::Milliseconds(100);
  deadline_ = absl::UnixEpoch() + absl::Milliseconds(250);
  EXPECT_EQ(Run(std::vector<absl::Status>(4, kUnavailable)), kUnavailable);
  EXPECT_THAT(environment_.sleeps, ElementsAre(absl::Milliseconds(100)));
  EXPECT_EQ(attempts_, 2u);
}

absl::Status InThreeSeconds(absl::Status status) {
  v1::RetryInfo retry_info;
  retry_info.mutable_retry_delay()->set_seconds(3);
  status.SetPayload("type.googleapis.com/google.rpc.RetryInfo",
                    absl::Cord(retry_info.SerializeAsString()));
  return status;
}

TEST_F(RetryTest, ServersRetryDelayIsHonoured) {
  EXPECT_TRUE(Run({InThreeSeconds(kUnavailable), absl::OkStatus()}).ok());
  EXPECT_THAT(environment_.sleeps, ElementsAre(absl::Seconds(3)));
}

TEST_F(RetryTest, WhoWaitsWhileRefusedComesAgainAsOftenAsThereIsTime) {
  const absl::Status full = absl::ResourceExhaustedError("the queue is full");
  EXPECT_EQ(Run({InThreeSeconds(full)}), InThreeSeconds(full));
  waits_while_refused_ = true;
  EXPECT_EQ(Run({full}), full);
  std::vector<absl::Status> statuses(9, InThreeSeconds(full));
  // These are not counted, and do not make later waits longer.
  statuses.push_back(kUnavailable);
  statuses.push_back(absl::OkStatus());
  EXPECT_TRUE(Run(statuses).ok());
  std::vector<absl::Duration> waits(9, absl::Seconds(3));
  waits.push_back(policy_.initial_backoff);
  EXPECT_EQ(environment_.sleeps, waits);
  deadline_ = environment_.now + absl::Seconds(7);
  EXPECT_EQ(Run(std::vector<absl::Status>(9, InThreeSeconds(full))), InThreeSeconds(full));
  EXPECT_EQ(attempts_, 3u);
}

TEST(SystemRandomFractionTest, FractionsAreInRangeAndDiffer) {
  const double first = SystemRandomFraction();
  const double second = SystemRandomFraction();
  EXPECT_NE(first, second);
  EXPECT_GE(first, 0);
  EXPECT_LT(first, 1);
}

}  // namespace
}  // namespace gridfold::client
