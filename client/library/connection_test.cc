// How calls meet the network: connections, retries, deadlines, limits, uploads.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "client/library/fake_server.h"
#include "client/library/stalling_server.h"
#include "gmock/gmock.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

const std::vector<float> kElements = {1, 2, 3};

std::unique_ptr<Client> ConnectOrDie(const ClientOptions& options) {
  auto client = Client::Connect(options);
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

// Fails the first `failure_count` reductions with `code`.
void FailFirst(FakeServer& server, std::atomic<int>& calls, int failure_count,
               grpc::StatusCode code) {
  server.on_reduce = [&calls, failure_count, code](grpc::ServerContext&, const auto&, auto&) {
    return ++calls <= failure_count ? grpc::Status(code, "not yet") : grpc::Status::OK;
  };
}

TEST(ConnectionTest, EveryChannelHasItsOwnConnection) {
  FakeServer server;
  std::atomic<int> calls = 0;
  FailFirst(server, calls, 0, grpc::StatusCode::OK);
  const auto client = ConnectOrDie({.target = server.target(), .channel_count = 3});
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(client->ReduceArray(kElements, {}).ok());
  EXPECT_EQ(server.peers().size(), 3u);
}

TEST(ConnectionTest, TwoClientsShareNoConnection) {
  FakeServer server;
  std::atomic<int> calls = 0;
  FailFirst(server, calls, 0, grpc::StatusCode::OK);
  const auto one = ConnectOrDie({.target = server.target()});
  const auto other = ConnectOrDie({.target = server.target()});
  EXPECT_TRUE(one->ReduceArray(kElements, {}).ok());
  EXPECT_TRUE(other->ReduceArray(kElements, {}).ok());
  EXPECT_EQ(server.peers().size(), 2u);
}

TEST(ConnectionTest, ManyThreadsShareAClient) {
  FakeServer server;
  std::atomic<int> calls = 0;
  FailFirst(server, calls, 0, grpc::StatusCode::OK);
  const auto client = ConnectOrDie({.target = server.target(), .channel_count = 2});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int call = 0; call < 25; ++call) EXPECT_TRUE(client->ReduceArray(kElements, {}).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calls, 100);
}

TEST(ConnectionTest, UnavailableIsTriedAgain) {
  FakeServer server;
  std::atomic<int> calls = 0;
  FailFirst(server, calls, 2, grpc::StatusCode::UNAVAILABLE);
  const auto client = ConnectOrDie(
      {.target = server.target(), .retry = {.initial_backoff = absl::Milliseconds(1)}});
  EXPECT_TRUE(client->ReduceArray(kElements, {}).ok());
  EXPECT_EQ(calls, 3);
}

// As gRPC answers for a server that stops.
TEST(ConnectionTest, ACallThatIsCutOffIsTriedAgain) {
  FakeServer server;
  std::atomic<int> calls = 0;
  FailFirst(server, calls, 1, grpc::StatusCode::CANCELLED);
  const auto client = ConnectOrDie(
      {.target = server.target(), .retry = {.initial_backoff = absl::Milliseconds(1)}});
  EXPECT_TRUE(client->ReduceArray(kElements, {}).ok());
  EXPECT_EQ(calls, 2);
}

TEST(ConnectionTest, OtherErrorsAreNotTriedAgain) {
  FakeServer server;
  std::atomic<int> calls = 0;
  FailFirst(server, calls, 1, grpc::StatusCode::RESOURCE_EXHAUSTED);
  const auto client = ConnectOrDie({.target = server.target()});
  EXPECT_EQ(client->ReduceArray(kElements, {}).status(), absl::ResourceExhaustedError("not yet"));
  EXPECT_EQ(calls, 1);
}

TEST(ConnectionTest, DeadlineEndsACallAndItsRetries) {
  FakeServer server;
  absl::Notification done;
  server.on_reduce = [&](grpc::ServerContext& context, const auto&, auto&) {
    EXPECT_LT(absl::FromChrono(context.deadline()), absl::Now() + absl::Seconds(10));
    done.WaitForNotification();
    return grpc::Status::OK;
  };
  server.on_scan = [](grpc::ServerContext&, const auto&, auto&) {
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "draining");
  };
  const auto client = ConnectOrDie({.target = server.target(),
                                    .default_timeout = absl::Milliseconds(200),
                                    .retry = {.attempts_max = 1000,
                                              .initial_backoff = absl::Milliseconds(20),
                                              .backoff_max = absl::Milliseconds(20)}});
  absl::Time start = absl::Now();
  EXPECT_TRUE(absl::IsDeadlineExceeded(client->ReduceArray(kElements, {}).status()));
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(190));
  EXPECT_LT(absl::Now() - start, absl::Seconds(2));
  done.Notify();

  start = absl::Now();
  // Between two tries, or during one.
  const absl::Status status =
      client->ScanArray(kElements, {}, {.timeout = absl::Milliseconds(100)}).status();
  EXPECT_TRUE(absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status)) << status;
  EXPECT_LT(absl::Now() - start, absl::Seconds(2));
}

TEST(ConnectionTest, ATraceIsPassedOnWhereAHeaderCanCarryIt) {
  FakeServer server;
  std::vector<std::string> seen;
  server.on_reduce = [&](grpc::ServerContext& context, const auto&, auto&) {
    const auto [first, last] = context.client_metadata().equal_range("traceparent");
    for (auto it = first; it != last; ++it) seen.emplace_back(it->second.data(), it->second.size());
    return grpc::Status::OK;
  };
  const auto client = ConnectOrDie({.target = server.target()});
  const std::string trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  for (const std::string& traceparent : {trace, std::string("no header\n"), std::string()}) {
    EXPECT_TRUE(client->ReduceArray(kElements, {}, {.traceparent = traceparent}).ok());
  }
  EXPECT_EQ(seen, std::vector<std::string>{trace});
}

TEST(ConnectionTest, NobodyListeningIsUnavailableAtOnce) {
  const absl::Time start = absl::Now();
  // Port 1 is reserved, and nothing serves it.
  EXPECT_TRUE(absl::IsUnavailable(Client::Connect({.target = "127.0.0.1:1"}).status()));
  EXPECT_LT(absl::Now() - start, absl::Seconds(4));
}

TEST(ConnectionTest, WithoutConnectTimeoutTheFirstCallConnects) {
  const auto client = ConnectOrDie({.target = "127.0.0.1:1",
                                    .connect_timeout = absl::ZeroDuration(),
                                    .retry = {.attempts_max = 1}});
  EXPECT_TRUE(absl::IsUnavailable(client->ReduceArray(kElements, {}).status()));
}

TEST(ConnectionTest, OptionsThatMakeNoSenseAreInvalid) {
  const std::vector<ClientOptions> all = {
      {.target = ""},
      {.tenant = "müller"},
      {.tenant = "two\nlines"},
      {.channel_count = 0},
      {.stall_timeout = absl::ZeroDuration()},
      {.message_bytes_max = 0},
      {.retry = {.attempts_max = 0}},
      {.retry = {.initial_backoff = absl::ZeroDuration()}},
      {.retry = {.initial_backoff = absl::Seconds(9)}},
      {.retry = {.backoff_multiplier = 0.5}},
      {.retry = {.jitter = 2}},
  };
  for (const ClientOptions& options : all) {
    EXPECT_TRUE(absl::IsInvalidArgument(Client::Connect(options).status()));
  }
}

// The least that each option may be, and the next that it may not.
TEST(ConnectionTest, OptionsAreTakenToTheirEdges) {
  FakeServer server;
  const auto take = [&](const std::function<void(ClientOptions&)>& change) {
    ClientOptions options{.target = server.target()};
    change(options);
    return Client::Connect(options).status();
  };
  using Change = std::function<void(ClientOptions&)>;
  const std::vector<std::pair<Change, Change>> edges = {
      {[](auto& o) { o.stall_timeout = absl::Milliseconds(1); },
       [](auto& o) { o.stall_timeout = absl::Microseconds(999); }},
      {[](auto& o) { o.write_chunk_bytes = 8; }, [](auto& o) { o.write_chunk_bytes = 7; }},
      {[](auto& o) { o.stream_count = 64; }, [](auto& o) { o.stream_count = 65; }},
      {[](auto& o) { o.stream_count = 0; }, [](auto& o) { o.stream_count = -1; }},
      {[](auto& o) { o.retry.attempts_max = 1; }, [](auto& o) { o.retry.attempts_max = 0; }},
      {[](auto& o) { o.retry.initial_backoff = absl::Nanoseconds(1); },
       [](auto& o) { o.retry.initial_backoff = -absl::Nanoseconds(1); }},
      {[](auto& o) { o.retry.backoff_max = o.retry.initial_backoff; },
       [](auto& o) { o.retry.backoff_max = o.retry.initial_backoff - absl::Nanoseconds(1); }},
      {[](auto& o) { o.retry.backoff_multiplier = 1; },
       [](auto& o) { o.retry.backoff_multiplier = 0.999; }},
      {[](auto& o) { o.retry.jitter = 0; }, [](auto& o) { o.retry.jitter = -0.001; }},
      {[](auto& o) { o.retry.jitter = 1; }, [](auto& o) { o.retry.jitter = 1.001; }}};
  for (size_t i = 0; i < edges.size(); ++i) {
    EXPECT_TRUE(take(edges[i].first).ok()) << i << take(edges[i].first);
    EXPECT_TRUE(absl::IsInvalidArgument(take(edges[i].second))) << i;
  }
}

TEST(ConnectionTest, MessagesAreLimitedBothWays) {
  FakeServer server;
  std::atomic<int> calls = 0;
  server.on_scan = [&](grpc::ServerContext&, const auto&, v1::ScanArrayResponse& response) {
    ++calls;
    response.mutable_inline_array()->set_data(std::string(100'000, 'x'));
    return grpc::Status::OK;
  };
  const auto client = ConnectOrDie({.target = server.target(),
                                    .transport = ArrayTransport::kInline,
                                    .message_bytes_max = 50'000});
  const std::vector<int8_t> large(60'000);
  EXPECT_TRUE(absl::IsResourceExhausted(client->ScanArray(large, {}).status()));
  EXPECT_EQ(calls, 0);
  const std::vector<int8_t> small(1);
  EXPECT_TRUE(absl::IsResourceExhausted(client->ScanArray(small, {}).status()));
  EXPECT_EQ(calls, 1);
}

TEST(ConnectionTest, LargeArraysArriveWhole) {
  FakeServer server;
  std::vector<int32_t> elements(10'000'000);
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<int32_t>(i * 2654435761u);
  server.on_reduce = [&](grpc::ServerContext&, const v1::ReduceArrayRequest& request, auto&) {
    const std::string& data = request.array().inline_array().data();
    EXPECT_EQ(data.size(), elements.size() * sizeof(int32_t));
    EXPECT_EQ(memcmp(data.data(), elements.data(), data.size()), 0);
    return grpc::Status::OK;
  };
  const auto client =
      ConnectOrDie({.target = server.target(), .transport = ArrayTransport::kInline});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(client->ReduceArray(elements, {}).ok());
}

TEST(ConnectionTest, AStalledConnectionIsGivenUp) {
  // The server takes the request's first megabytes and then reads nothing more, as a machine does
  // whose network broke.
  StallingServer server;
  const auto client = ConnectOrDie({.target = server.target(), .stall_timeout = absl::Seconds(1)});
  const std::vector<int8_t> elements(64 << 20);
  const absl::Time start = absl::Now();
  const absl::Status status =
      client
          ->ReduceArray(elements, {},
                        {.timeout = absl::Milliseconds(500), .transport = ArrayTransport::kInline})
          .status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(490));
  EXPECT_LT(absl::Now() - start, absl::Seconds(10));
}

}  // namespace
}  // namespace gridfold::client
