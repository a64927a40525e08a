// One call in several parts, and what goes wrong with one of them: the answer is right, or there is
// an error with a name.
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "client/library/tcp_proxy.h"
#include "client/library/test_server.h"
#include "gmock/gmock.h"
#include "gridfold/client.h"
#include "gridfold/error_details.h"
#include "gridfold/shared_region.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

constexpr uint64_t kElementCount = uint64_t{6} << 20;  // Of 4 bytes.

class TransportFaultTest : public testing::Test {
 protected:
  TransportFaultTest() : elements_(kElementCount) {
    std::iota(elements_.begin(), elements_.end(), -1'000'000);
  }

  // Whether the answer is right, by a sum of this test's own.
  void ExpectSum(const absl::StatusOr<ReductionResult>& result) const {
    ASSERT_TRUE(result.ok()) << result.status();
    const int64_t sum = std::accumulate(elements_.begin(), elements_.end(), int64_t{0});
    const StatisticValues* const values = result->Find(Statistic::kSum);
    ASSERT_NE(values, nullptr);
    EXPECT_EQ(std::get<std::vector<int64_t>>(*values), std::vector<int64_t>{sum});
  }

  absl::StatusOr<ReductionResult> Sum(Client& client, const CallOptions& options) const {
    return client.ReduceArray(elements_, {.statistics = {Statistic::kSum}}, options);
  }

  std::vector<int32_t> elements_;
};

TEST_F(TransportFaultTest, EachPartHasAConnectionOfItsOwn) {
  const TestServer server;
  TcpProxy proxy(server.target());
  const auto client = ConnectClient(proxy.target());
  const auto result = Sum(*client, {});
  ExpectSum(result);
  EXPECT_EQ(result->execution.transport, ArrayTransport::kStreams);
  EXPECT_EQ(result->execution.streams, 3u);
  EXPECT_EQ(result->execution.bytes_read, kElementCount * sizeof(int32_t));
  EXPECT_EQ(proxy.ConnectionsWith(kElementCount), 3);
}

TEST_F(TransportFaultTest, ALostPartIsSentAgain) {
  const TestServer server;
  TcpProxy proxy(server.target());
  const auto client = ConnectClient(proxy.target());
  proxy.KillAfter(uint64_t{3} << 20);
  uint64_t told_bytes = 0;
  bool is_monotonic = true;
  ExpectSum(Sum(*client, {.transport = ArrayTransport::kStreams,
                          .progress = [&](uint64_t sent_bytes, uint64_t size_bytes) {
                            is_monotonic &= sent_bytes > told_bytes && sent_bytes <= size_bytes;
                            told_bytes = sent_bytes;
                          }}));
  EXPECT_TRUE(proxy.has_killed());
  EXPECT_TRUE(is_monotonic);
  EXPECT_EQ(told_bytes, kElementCount * sizeof(int32_t));
}

TEST_F(TransportFaultTest, ALostPartIsAnErrorWhereNothingIsSentAgain) {
  const TestServer server;
  TcpProxy proxy(server.target());
  const auto client = ConnectClient(proxy.target(), {.retry = {.attempts_max = 1}});
  proxy.KillAfter(uint64_t{3} << 20);
  const auto result = Sum(*client, {.transport = ArrayTransport::kStreams});
  EXPECT_TRUE(absl::IsUnavailable(result.status())) << result.status();
  EXPECT_TRUE(proxy.has_killed());
}

TEST_F(TransportFaultTest, ADeadlineEndsAllParts) {
  const TestServer server;
  TcpProxy proxy(server.target());
  const auto client = ConnectClient(proxy.target());
  proxy.SetRate(uint64_t{2} << 20);
  const absl::Time begin = absl::Now();
  const auto result =
      Sum(*client, {.timeout = absl::Milliseconds(300), .transport = ArrayTransport::kStreams});
  EXPECT_TRUE(absl::IsDeadlineExceeded(result.status())) << result.status();
  EXPECT_GE(absl::Now() - begin, absl::Milliseconds(300));
  EXPECT_LT(absl::Now() - begin, absl::Seconds(3));
}

TEST_F(TransportFaultTest, ACancelledCallEnds) {
  const TestServer server;
  TcpProxy proxy(server.target());
  const auto client = ConnectClient(proxy.target());
  proxy.SetRate(uint64_t{2} << 20);
  for (const ArrayTransport transport : {ArrayTransport::kStreams, ArrayTransport::kStream,
                                         ArrayTransport::kInline, ArrayTransport::kResident}) {
    const absl::Time begin = absl::Now();
    const auto result = Sum(
        *client, {.is_cancelled = [begin] { return absl::Now() - begin > absl::Milliseconds(100); },
                  .transport = transport});
    EXPECT_TRUE(absl::IsCancelled(result.status()))
        << ArrayTransportName(transport) << ": " << result.status();
    EXPECT_LT(absl::Now() - begin, absl::Seconds(5)) << ArrayTransportName(transport);
  }
}

TEST_F(TransportFaultTest, PartsNeedNoMoreRoomThanOne) {
  const TestServer server({"--max-streams", "1"});
  const auto client = ConnectClient(server.target());
  const auto result = Sum(*client, {.transport = ArrayTransport::kStreams});
  ExpectSum(result);
  EXPECT_EQ(result->execution.transport, ArrayTransport::kStreams);
}

TEST_F(TransportFaultTest, WithoutRegionsTheArrayIsSent) {
  const TestServer server;
  const auto client = ConnectClient(server.target());
  const auto result = Sum(*client, {});
  ExpectSum(result);
  EXPECT_EQ(result->execution.transport, ArrayTransport::kStreams);
  const auto forced = Sum(*client, {.transport = ArrayTransport::kRegion});
  EXPECT_EQ(ErrorReason(forced.status()), "REGIONS_DISABLED") << forced.status();
}

TEST_F(TransportFaultTest, RefusedRegionsLeaveTheArrayToBeSent) {
  // Regions are allowed, but none has room for what the client shares.
  const TestServer server({"--allow-regions", "--max-region-bytes", "4096"});
  const auto client = ConnectClient(server.target());
  const auto result = Sum(*client, {});
  ExpectSum(result);
  EXPECT_EQ(result->execution.transport, ArrayTransport::kStreams);
  EXPECT_FALSE(Sum(*client, {.transport = ArrayTransport::kRegion}).ok());
}

TEST_F(TransportFaultTest, SharedMemoryIsUsedAndKept) {
  const TestServer server({"--allow-regions"});
  const auto client = ConnectClient(server.target());
  const auto first = Sum(*client, {});
  ExpectSum(first);
  EXPECT_EQ(first->execution.transport, ArrayTransport::kRegion);
  const auto regions = client->ListRegions();
  ASSERT_TRUE(regions.ok()) << regions.status();
  EXPECT_THAT(*regions, testing::SizeIs(testing::AllOf(testing::Ge(1), testing::Le(4))));
  ExpectSum(Sum(*client, {}));
  EXPECT_EQ(client->ListRegions()->size(), regions->size());
}

TEST_F(TransportFaultTest, SmallArraysOfAClientThatCallsAgainAreShared) {
  constexpr size_t kCount = (uint64_t{1} << 20) / sizeof(int32_t);
  const std::span<const int32_t> small = std::span<const int32_t>(elements_).first(kCount);
  const int64_t expected = std::accumulate(small.begin(), small.end(), int64_t{0});
  const auto way_of = [&](Client& client) {
    const auto sum = client.ReduceArray(small, {.statistics = {Statistic::kSum}});
    EXPECT_TRUE(sum.ok()) << sum.status();
    if (!sum.ok()) return ArrayTransport::kAuto;
    EXPECT_EQ(std::get<std::vector<int64_t>>(*sum->Find(Statistic::kSum)),
              std::vector<int64_t>{expected});
    return sum->execution.transport;
  };
  const TestServer server({"--allow-regions"});
  const auto client = ConnectClient(server.target());
  EXPECT_EQ(way_of(*client), ArrayTransport::kInline);
  EXPECT_EQ(way_of(*client), ArrayTransport::kInline);
  EXPECT_TRUE(client->ListRegions()->empty());
  for (int call = 0; call < 3; ++call) EXPECT_EQ(way_of(*client), ArrayTransport::kRegion);
  const auto regions = client->ListRegions();
  ASSERT_TRUE(regions.ok()) << regions.status();
  ASSERT_EQ(regions->size(), 1u);
  ASSERT_TRUE(client->UnregisterRegion(regions->front().name).ok());
  EXPECT_EQ(way_of(*client), ArrayTransport::kRegion) << "made again";

  // Callers that are many do not make a region each, to give it up after the call.
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 32; ++caller) {
    callers.emplace_back([&] {
      for (int call = 0; call < 3; ++call) way_of(*client);
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_LE(client->ListRegions()->size(), 17u);

  const TestServer refusing({"--allow-regions", "--max-region-bytes", "4096"});
  const auto refused = ConnectClient(refusing.target());
  for (int call = 0; call < 4; ++call) EXPECT_NE(way_of(*refused), ArrayTransport::kRegion);
}

// A server may lose all regions at once, as when another takes its place: what a call needs of them
// is made again, however many of the old ones are kept.
TEST_F(TransportFaultTest, RegionsThatTheServerHasLostAreMadeAgain) {
  const TestServer server({"--allow-regions"});
  const CallOptions in_region{.transport = ArrayTransport::kRegion};
  const ScanOptions scan{.operation = ScanOperation::kMax};
  const auto client_of_lost_regions = [&] {
    auto client = ConnectClient(server.target());
    // Each scan is larger than the regions that are kept, so it needs a new one.
    for (const size_t count : {4u, 5u, 6u}) {
      const auto first = std::span<const int32_t>(elements_).first(count << 20);
      EXPECT_TRUE(client->ScanArray(first, scan, in_region).ok());
    }
    const auto regions = client->ListRegions();
    EXPECT_TRUE(regions.ok()) << regions.status();
    EXPECT_EQ(regions->size(), 3u);
    for (const RegionDescription& region : *regions) {
      EXPECT_TRUE(client->UnregisterRegion(region.name).ok());
    }
    return client;
  };

  const auto sum = Sum(*client_of_lost_regions(), {});
  ExpectSum(sum);
  EXPECT_EQ(sum->execution.transport, ArrayTransport::kRegion);

  const auto maxima = client_of_lost_regions()->ScanArray(elements_, scan, in_region);
  ASSERT_TRUE(maxima.ok()) << maxima.status();
  ASSERT_EQ(maxima->data.size(), elements_.size() * sizeof(int32_t));
  // The elements ascend.
  EXPECT_EQ(std::memcmp(maxima->data.data(), elements_.data(), maxima->data.size()), 0);

  const auto smallest =
      client_of_lost_regions()->ComputeQuantiles(elements_, {.ranks = {0}}, in_region);
  EXPECT_TRUE(smallest.ok()) << smallest.status();
}

TEST_F(TransportFaultTest, AClientLeavesNoRegionBehind) {
  const TestServer server({"--allow-regions"});
  const auto other = ConnectClient(server.target());
  ExpectSum(Sum(*ConnectClient(server.target()), {.transport = ArrayTransport::kRegion}));
  const auto regions = other->ListRegions();
  ASSERT_TRUE(regions.ok()) << regions.status();
  EXPECT_TRUE(regions->empty());
}

// The sum of a part may overflow where that of the whole does not.
TEST_F(TransportFaultTest, AnErrorOfAPartIsNotThatOfTheWhole) {
  const TestServer server({"--allow-regions"});
  const auto client = ConnectClient(server.target());
  std::vector<int64_t> elements(uint64_t{2} << 20, 0);
  for (size_t i = 0; i < 10; ++i) {
    elements[i] = std::numeric_limits<int64_t>::max();
    elements[elements.size() - 1 - i] = -std::numeric_limits<int64_t>::max();
  }
  for (const ArrayTransport transport : {ArrayTransport::kStreams, ArrayTransport::kRegion}) {
    const auto result =
        client->ReduceArray(elements, {.statistics = {Statistic::kSum}}, {.transport = transport});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(std::get<std::vector<int64_t>>(*result->Find(Statistic::kSum)),
              std::vector<int64_t>{0});
    EXPECT_EQ(result->execution.transport, ArrayTransport::kStream);
  }
}

}  // namespace
}  // namespace gridfold::client
