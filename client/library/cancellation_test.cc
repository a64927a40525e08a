// Calls that are given up while they wait.
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "client/library/fake_server.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

const std::vector<float> kElements = {1, 2, 3};

// What is cut off here would be tried again otherwise, and given up then.
const RetryPolicy kOnce = {.attempts_max = 1};
const absl::Status kGivenUp = absl::CancelledError("the caller has given up the call");

// Says yes from the third time on that it is asked.
std::function<bool()> GiveUpSoon(std::atomic<int>& asked) {
  return [&asked] { return ++asked >= 3; };
}

// Gives up a reduction that would take long, which then ends soon.
void ExpectGivenUp(Client& client) {
  std::atomic<int> asked = 0;
  const absl::Time start = absl::Now();
  const absl::Status status =
      client.ReduceArray(kElements, {}, {.is_cancelled = GiveUpSoon(asked)}).status();
  EXPECT_EQ(status, kGivenUp);
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
}

TEST(CancellationTest, EndsAUnaryCallHereAndOnTheServer) {
  FakeServer server;
  absl::Notification cancelled;
  server.on_reduce = [&](grpc::ServerContext& context, const auto&, auto&) {
    const absl::Time end = absl::Now() + absl::Seconds(20);
    while (!context.IsCancelled() && absl::Now() < end) absl::SleepFor(absl::Milliseconds(5));
    if (context.IsCancelled()) cancelled.Notify();
    return grpc::Status::OK;
  };
  const auto client = Client::Connect({.target = server.target(), .retry = kOnce});
  ASSERT_TRUE(client.ok());
  ExpectGivenUp(**client);
  EXPECT_TRUE(cancelled.WaitForNotificationWithTimeout(absl::Seconds(10)));
}

TEST(CancellationTest, EndsTheWaitForARetry) {
  FakeServer server;
  std::atomic<int> calls = 0;
  server.on_reduce = [&](grpc::ServerContext&, const auto&, auto&) {
    ++calls;
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "not yet");
  };
  const auto client = Client::Connect(
      {.target = server.target(),
       .retry = {.initial_backoff = absl::Seconds(30), .backoff_max = absl::Seconds(30)}});
  ASSERT_TRUE(client.ok());
  ExpectGivenUp(**client);
  EXPECT_EQ(calls, 1);
}

TEST(CancellationTest, EndsAStream) {
  FakeServer server;
  server.on_info = [](grpc::ServerContext&, const auto&, v1::GetServerInfoResponse& response) {
    response.mutable_limits()->set_array_chunk_bytes_max(1024);
    response.mutable_limits()->set_message_bytes_max(1 << 20);
    return grpc::Status::OK;
  };
  server.on_reduce_stream = [&](grpc::ServerContext& context, const auto&, auto&) {
    const absl::Time end = absl::Now() + absl::Seconds(20);
    while (!context.IsCancelled() && absl::Now() < end) absl::SleepFor(absl::Milliseconds(5));
    return grpc::Status::OK;
  };
  const auto client = Client::Connect({.target = server.target(), .retry = kOnce});
  ASSERT_TRUE(client.ok());
  std::atomic<int> asked = 0;
  const auto stream = (*client)->OpenReductionStream({.element_type = ElementType::kFloat32}, {},
                                                     {.is_cancelled = GiveUpSoon(asked)});
  ASSERT_TRUE(stream.ok()) << stream.status();
  const absl::Time start = absl::Now();
  const absl::Status status = (*stream)->Finish().status();
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
  // And one that an array goes in by itself.
  asked = 0;
  CallOptions in_stream{.is_cancelled = GiveUpSoon(asked)};
  in_stream.transport = ArrayTransport::kStream;
  EXPECT_EQ((*client)->ReduceArray(kElements, {}, in_stream).status(), kGivenUp);
  EXPECT_LT(absl::Now() - start, absl::Seconds(10));
}

TEST(CancellationTest, ACallThatIsNotGivenUpSucceeds) {
  FakeServer server;
  server.on_reduce = [&](grpc::ServerContext&, const auto&, auto&) {
    absl::SleepFor(absl::Milliseconds(200));
    return grpc::Status::OK;
  };
  const auto client = Client::Connect({.target = server.target()});
  ASSERT_TRUE(client.ok());
  std::atomic<int> asked = 0;
  const auto result = (*client)->ReduceArray(kElements, {}, {.is_cancelled = [&] {
                                               ++asked;
                                               return false;
                                             }});
  EXPECT_TRUE(result.ok()) << result.status();
  EXPECT_GE(asked, 2);
}

}  // namespace
}  // namespace gridfold::client
