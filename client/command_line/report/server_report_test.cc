// What programs are told of a server, its arrays and its regions: with another figure in each
// place.
#include "client/command_line/report/server_report.h"

#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "client/command_line/report/answer_test_util.h"
#include "client/command_line/report/json_report.h"
#include "client/command_line/report/region_report.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

ServerInfo MakeInfo() {
  ServerInfo info;
  info.version = "1.2.3";
  info.engine = "cuda";
  info.devices = {{"GPU", 150'000'000'000, 132, "9.0"}, {"CPU", 0, 8, ""}};
  info.limits = LimitsOfServer();
  return info;
}

ServerStatistics MakeStatistics() {
  return {.uptime = absl::Seconds(3661.5),
          .jobs_accepted = 1100,
          .jobs_refused = 1200,
          .jobs_succeeded = 1300,
          .jobs_failed = 1400,
          .jobs_cancelled = 1500,
          .bytes_processed = 1600,
          .jobs_queued = 1700,
          .bytes_queued = 1800,
          .lanes_busy = 19,
          .lane_count = 20,
          .resident_array_count = 2100,
          .resident_bytes = 2200,
          .region_count = 2300,
          .region_bytes = 2400};
}

TEST(ServerReportTest, JsonHasEachFigureUnderItsName) {
  EXPECT_EQ(
      ToJson("host:1", HealthStatus::kNotServing, MakeInfo(), MakeStatistics()),
      R"({"target":"host:1","health":"NOT_SERVING","version":"1.2.3","engine":"cuda",)"
      R"("devices":[{"name":"GPU","memory_bytes":150000000000,"compute_units":132,)"
      R"("compute_capability":"9.0"},{"name":"CPU","memory_bytes":0,"compute_units":8,)"
      R"("compute_capability":""}],"limits":{"message_bytes_max":1000,"bin_count_max":2000,)"
      R"("group_count_max":3000,"lane_count":4,"queued_jobs_max":5000,"queued_bytes_max":6000,)"
      R"("resident_bytes_max":7000,"tenant_resident_bytes_max":8000,"array_count_max":9000,)"
      R"("array_chunk_bytes_max":10000,"region_count_max":11000,"region_bytes_max":12000,)"
      R"("stream_count_max":13000,"stream_pending_bytes_max":14000,)"
      R"("batch_operations_max":15000,"dealt_bytes_min":16000},)"
      R"("statistics":{"uptime_us":3661500000.0,"jobs_accepted":1100,"jobs_refused":1200,)"
      R"("jobs_succeeded":1300,"jobs_failed":1400,"jobs_cancelled":1500,"bytes_processed":1600,)"
      R"("jobs_queued":1700,"bytes_queued":1800,"lanes_busy":19,"lane_count":20,)"
      R"("resident_array_count":2100,"resident_bytes":2200,"region_count":2300,)"
      R"("region_bytes":2400}})"
      "\n");
  EXPECT_THAT(ToJson("host:1", HealthStatus::kServing, MakeInfo(), std::nullopt),
              testing::EndsWith("\"statistics\":null}\n"));
}

std::string TextOf(const ServerInfo& info, const std::optional<ServerStatistics>& statistics) {
  std::ostringstream out;
  PrintServer("host:1", HealthStatus::kServing, info, statistics, kPlain, out);
  return out.str();
}

TEST(ServerReportTest, TextHasEachFigureInItsLine) {
  EXPECT_EQ(
      TextOf(MakeInfo(), MakeStatistics()),
      "server     host:1 | gridfold 1.2.3 | SERVING\n"
      "engine     cuda\n"
      "device 0   GPU | compute capability 9.0 | 132 multiprocessors | 150 GB\n"
      "device 1   CPU | 8 threads\n"
      "message    up to 1.00 kB\n"
      "histogram  up to 2,000 bins\n"
      "groups     up to 3,000\n"
      "queue      up to 5,000 jobs, 6.00 kB\n"
      "arrays     up to 9,000, 7.00 kB\n"
      "regions    up to 11,000, 12.0 kB\n"
      "streams    up to 13,000 open, each with 14.0 kB waiting\n"
      "batch      up to 15,000 operations\n"
      "together   all devices, from 16.0 kB of input\n"
      "up for     1h1m1s\n"
      "jobs       1,300 answered, 1,400 failed, 1,500 cancelled, 1,200 refused\n"
      "processed  1.60 kB\n"
      "now        19 of 20 lanes busy, 1,700 jobs waiting (1.80 kB), 2,100 arrays (2.20 kB)\n");
}

TEST(ServerReportTest, WhatAServerHasNotHasNoLine) {
  ServerInfo info = MakeInfo();
  info.devices = {{"one", 1, 2, ""}, {"none", 0, 2, ""}};
  info.limits.region_count_max = 1;
  info.limits.dealt_bytes_min = 1;
  const std::string one = TextOf(info, std::nullopt);
  EXPECT_THAT(one, testing::HasSubstr("one | 2 threads | 1 byte\n"));
  EXPECT_THAT(one, testing::HasSubstr("none | 2 threads\n"));
  EXPECT_THAT(one, testing::HasSubstr("\nregions    up to 1, 12.0 kB\n"));
  EXPECT_THAT(one, testing::HasSubstr("\ntogether   all devices, from 1 byte of input\n"));
  EXPECT_THAT(one, testing::Not(testing::HasSubstr("lanes busy")));
  info.limits.region_count_max = 0;
  info.limits.dealt_bytes_min = 0;
  const std::string none = TextOf(info, std::nullopt);
  EXPECT_THAT(none, testing::Not(testing::HasSubstr("regions")));
  EXPECT_THAT(none, testing::Not(testing::HasSubstr("together")));
}

TEST(RegionReportTest, EachFigureHasItsPlace) {
  const std::vector<RegionDescription> regions = {
      {"r", 2000, absl::Hours(1), absl::Seconds(2.9), 12345},
      {"a/longer", 1, absl::Seconds(90), absl::Minutes(1)}};
  std::ostringstream out;
  PrintRegions(regions, kPlain, out);
  EXPECT_EQ(out.str(),
            "name         size  owner  idle  expires after\n"
            "r         2.00 kB  12345    2s             1h\n"
            "a/longer   1 byte           1m          1m30s\n");
  std::ostringstream none;
  PrintRegions({}, kPlain, none);
  EXPECT_EQ(none.str(), "no regions\n");
  EXPECT_EQ(ToJson(regions),
            R"({"regions":[{"name":"r","size_bytes":2000,"idle_expiry_us":3600000000.0,)"
            R"("idle_time_us":2900000.0,"owner_process_id":12345},{"name":"a/longer",)"
            R"("size_bytes":1,"idle_expiry_us":90000000.0,"idle_time_us":60000000.0}]})"
            "\n");
}

TEST(ArrayReportTest, JsonHasEachFigureUnderItsName) {
  const ArrayDescription array = {"x", ElementType::kFloat32,    {10, 3},
                                  120, absl::Seconds(1),         absl::Seconds(2),
                                  6,   {{3, 0, 20}, {5, 20, 10}}};
  const std::string object =
      R"({"name":"x","element_type":"float32","shape":[10,3],"size_bytes":120,"device":6,)"
      R"("idle_expiry_us":1000000.0,"idle_time_us":2000000.0,"shards":[)"
      R"({"device":3,"first_element":0,"element_count":20},)"
      R"({"device":5,"first_element":20,"element_count":10}]})";
  EXPECT_EQ(ToJson(array), "{\"array\":" + object + "}\n");
  EXPECT_EQ(ToJson(std::vector<ArrayDescription>{array, array}),
            "{\"arrays\":[" + object + "," + object + "]}\n");
  EXPECT_EQ(ToJson(std::vector<ArrayDescription>()), "{\"arrays\":[]}\n");
}

TEST(HealthReportTest, EachHealthHasItsName) {
  EXPECT_EQ(ToJson("t", HealthStatus::kServiceUnknown),
            "{\"target\":\"t\",\"health\":\"SERVICE_UNKNOWN\"}\n");
}

}  // namespace
}  // namespace gridfold::client
