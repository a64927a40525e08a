// What a client asks about the server: facts and limits, statistics, health.
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/library/client_test_fixture.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

TEST_F(ClientTest, ServerInfoReachesTheCaller) {
  server_.on_info = [](grpc::ServerContext&, const v1::GetServerInfoRequest&,
                       v1::GetServerInfoResponse& response) {
    Parse(R"(version: "1.2.3" engine: "cuda"
             devices { name: "GPU" memory_bytes: 9 compute_units: 132 compute_capability: "9.0"
                       uuid: "GPU-1" }
             limits { message_bytes_max: 1 bin_count_max: 2 group_count_max: 3 lane_count: 4
                      queued_jobs_max: 5 queued_bytes_max: 6
                      resident_bytes_max: 7 tenant_resident_bytes_max: 8
                      array_count_max: 9 array_chunk_bytes_max: 10
                      region_count_max: 12 region_bytes_max: 13
                      stream_count_max: 14 stream_pending_bytes_max: 15
                      batch_operations_max: 11 })",
          response);
    return grpc::Status::OK;
  };
  const auto info = client_->GetServerInfo();
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->version, "1.2.3");
  EXPECT_EQ(info->engine, "cuda");
  ASSERT_EQ(info->devices.size(), 1u);
  EXPECT_EQ(info->devices[0].name, "GPU");
  EXPECT_EQ(info->devices[0].memory_bytes, 9u);
  EXPECT_EQ(info->devices[0].compute_units, 132u);
  EXPECT_EQ(info->devices[0].compute_capability, "9.0");
  EXPECT_EQ(info->devices[0].uuid, "GPU-1");
  EXPECT_EQ(info->limits.message_bytes_max, 1u);
  EXPECT_EQ(info->limits.bin_count_max, 2u);
  EXPECT_EQ(info->limits.group_count_max, 3u);
  EXPECT_EQ(info->limits.lane_count, 4u);
  EXPECT_EQ(info->limits.queued_jobs_max, 5u);
  EXPECT_EQ(info->limits.queued_bytes_max, 6u);
  EXPECT_EQ(info->limits.resident_bytes_max, 7u);
  EXPECT_EQ(info->limits.tenant_resident_bytes_max, 8u);
  EXPECT_EQ(info->limits.array_count_max, 9u);
  EXPECT_EQ(info->limits.array_chunk_bytes_max, 10u);
  EXPECT_EQ(info->limits.region_count_max, 12u);
  EXPECT_EQ(info->limits.region_bytes_max, 13u);
  EXPECT_EQ(info->limits.stream_count_max, 14u);
  EXPECT_EQ(info->limits.stream_pending_bytes_max, 15u);
  EXPECT_EQ(info->limits.batch_operations_max, 11u);
}

TEST_F(ClientTest, StatisticsReachTheCaller) {
  server_.on_statistics = [](grpc::ServerContext&, const v1::GetStatisticsRequest&,
                             v1::GetStatisticsResponse& response) {
    Parse(R"(uptime { seconds: 1 } jobs_accepted: 2 jobs_refused: 3 jobs_succeeded: 4
             jobs_failed: 5 jobs_cancelled: 6 bytes_processed: 7 jobs_queued: 8 bytes_queued: 9
             lanes_busy: 10 lane_count: 11 resident_array_count: 12 resident_bytes: 13)",
          response);
    return grpc::Status::OK;
  };
  const auto statistics = client_->GetStatistics();
  ASSERT_TRUE(statistics.ok()) << statistics.status();
  EXPECT_EQ(statistics->uptime, absl::Seconds(1));
  EXPECT_EQ(statistics->jobs_accepted, 2u);
  EXPECT_EQ(statistics->jobs_refused, 3u);
  EXPECT_EQ(statistics->jobs_succeeded, 4u);
  EXPECT_EQ(statistics->jobs_failed, 5u);
  EXPECT_EQ(statistics->jobs_cancelled, 6u);
  EXPECT_EQ(statistics->bytes_processed, 7u);
  EXPECT_EQ(statistics->jobs_queued, 8u);
  EXPECT_EQ(statistics->bytes_queued, 9u);
  EXPECT_EQ(statistics->lanes_busy, 10u);
  EXPECT_EQ(statistics->lane_count, 11u);
  EXPECT_EQ(statistics->resident_array_count, 12u);
  EXPECT_EQ(statistics->resident_bytes, 13u);
}

TEST_F(ClientTest, HealthIsTheStandardServices) {
  EXPECT_EQ(*client_->CheckHealth(), HealthStatus::kServing);
  server_.health().SetServingStatus("some.Service", false);
  EXPECT_EQ(*client_->CheckHealth("some.Service"), HealthStatus::kNotServing);
  EXPECT_TRUE(absl::IsNotFound(client_->CheckHealth("other.Service").status()));
}

}  // namespace
}  // namespace gridfold::client
