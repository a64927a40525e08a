// Calls over several servers behind one target, of which some are lost, come back, or say that they
// do not serve.
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "client/library/fake_server.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

const std::vector<float> kElements = {1, 2, 3};

class BalancingTest : public testing::Test {
 protected:
  BalancingTest() {
    for (size_t i = 0; i < servers_.size(); ++i) Start(i, 0);
  }
  ~BalancingTest() override {
    stop_ = true;
    callers_.clear();
  }

  void Start(size_t server, int port) {
    servers_[server] = std::make_unique<FakeServer>(
        port, [this, server](grpc::ServerContext&, const auto&, auto&) {
          absl::SleepFor(absl::Milliseconds(1));
          ++answered_[server];
          return grpc::Status::OK;
        });
  }
  int PortOf(size_t server) const {
    int port = 0;
    const std::vector<std::string> parts = absl::StrSplit(servers_[server]->target(), ':');
    EXPECT_TRUE(absl::SimpleAtoi(parts.at(1), &port));
    return port;
  }
  std::unique_ptr<Client> Connect(Balancing balancing) const {
    std::string target = "ipv4:";
    for (const auto& server : servers_) absl::StrAppend(&target, server->target(), ",");
    target.pop_back();
    auto client =
        Client::Connect({.target = target,
                         .balancing = balancing,
                         .retry = {.attempts_max = 6, .initial_backoff = absl::Milliseconds(5)}});
    EXPECT_TRUE(client.ok()) << client.status();
    return *std::move(client);
  }
  // Calls one after the other from several threads, until the test ends.
  void KeepCalling(Client& client) {
    for (int i = 0; i < 4; ++i) {
      callers_.emplace_back([this, &client] {
        while (!stop_) {
          const absl::Status status = client.ReduceArray(kElements, {}).status();
          if (!status.ok()) ADD_FAILURE() << status;
        }
      });
    }
  }
  bool IsCalled(size_t server, absl::Duration patience) {
    const int before = answered_[server];
    for (const absl::Time end = absl::Now() + patience; absl::Now() < end;) {
      if (answered_[server] > before) return true;
      absl::SleepFor(absl::Milliseconds(1));
    }
    return false;
  }
  bool AreAllCalled() {
    return IsCalled(0, kPatience) && IsCalled(1, kPatience) && IsCalled(2, kPatience);
  }
  // Whether a server that was called a moment ago is left alone before long.
  bool IsLeftAlone(size_t server) {
    for (const absl::Time end = absl::Now() + kPatience; absl::Now() < end;) {
      if (!IsCalled(server, absl::Milliseconds(300))) return true;
    }
    return false;
  }

  static constexpr absl::Duration kPatience = absl::Seconds(30);
  std::array<std::unique_ptr<FakeServer>, 3> servers_;
  std::array<std::atomic<int>, 3> answered_ = {};
  std::unique_ptr<Client> client_;
  std::atomic<bool> stop_ = false;
  std::vector<std::jthread> callers_;
};

TEST_F(BalancingTest, TheFirstServerGetsAllCallsByDefault) {
  client_ = Connect(Balancing::kFirst);
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(client_->ReduceArray(kElements, {}).ok());
  EXPECT_EQ(answered_[0], 9);
}

TEST_F(BalancingTest, EveryServerHasItsTurn) {
  client_ = Connect(Balancing::kRoundRobin);
  KeepCalling(*client_);
  EXPECT_TRUE(AreAllCalled());
  const std::array<int, 3> before = {answered_[0], answered_[1], answered_[2]};
  while (answered_[0] < before[0] + 100) absl::SleepFor(absl::Milliseconds(1));
  for (size_t i = 1; i < 3; ++i) EXPECT_NEAR(answered_[i] - before[i], 100, 30);
}

TEST_F(BalancingTest, AServerThatStopsAndComesBackCostsNoCall) {
  client_ = Connect(Balancing::kRoundRobin);
  KeepCalling(*client_);
  ASSERT_TRUE(AreAllCalled());
  for (const size_t server : {0, 1, 2}) {
    const int port = PortOf(server);
    // Calls that it has end; what comes too late for it is tried again elsewhere.
    servers_[server].reset();
    for (size_t other = 0; other < 3; ++other) {
      EXPECT_EQ(IsCalled(other, other == server ? absl::Milliseconds(100) : kPatience),
                other != server);
    }
    Start(server, port);
    EXPECT_TRUE(AreAllCalled());
  }
}

TEST_F(BalancingTest, AServerThatDoesNotServeIsLeftAloneAndComesBack) {
  client_ = Connect(Balancing::kRoundRobin);
  KeepCalling(*client_);
  ASSERT_TRUE(AreAllCalled());
  servers_[1]->health().SetServingStatus(false);
  EXPECT_TRUE(IsLeftAlone(1));
  EXPECT_TRUE(IsCalled(0, kPatience) && IsCalled(2, kPatience));
  servers_[1]->health().SetServingStatus(true);
  EXPECT_TRUE(AreAllCalled());
}

}  // namespace
}  // namespace gridfold::client
