// What programs read. The oracle is the JSON parser.
#include "client/command_line/report/json_report.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace gridfold::client {
namespace {

using nlohmann::json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

json Parse(const std::string& text) {
  EXPECT_TRUE(absl::EndsWith(text, "}\n"));
  return json::parse(text);
}

template <typename Result>
Answer<Result> MakeAnswer(Result result) {
  result.execution.engine = "cpu";
  result.execution.strategy = "reduce/long/blocks";
  result.execution.bytes_read = 12;
  result.execution.kernel_time = absl::Microseconds(2.5);
  return {.input = {.source = "a.npy", .element_type = ElementType::kInt16, .shape = {2, 3}},
          .result = std::move(result),
          .round_trip_time = absl::Milliseconds(3)};
}

TEST(JsonReportTest, ReductionIsComplete) {
  ReductionResult result;
  result.group_count = 2;
  result.entries = {
      {Statistic::kSum, std::vector<int64_t>{INT64_MIN, 2}},
      {Statistic::kCount, std::vector<uint64_t>{UINT64_MAX, 4}},
      {Statistic::kMean, std::vector<double>{std::nan(""), -kInfinity}},
      {Statistic::kL2Norm, std::vector<double>{2755170.1662385147, kInfinity}},
      {Statistic::kAny, std::vector<bool>{true, false}},
  };
  const json object = Parse(ToJson(MakeAnswer(result)));
  EXPECT_EQ(object["operation"], "reduce");
  EXPECT_EQ(object["input"], json::parse(R"({"source": "a.npy", "element_type": "int16",
                                             "shape": [2, 3], "element_count": 6})"));
  EXPECT_EQ(object["group_count"], 2);
  EXPECT_EQ(object["statistics"], json::parse(R"({
    "sum": [-9223372036854775808, 2], "count": [18446744073709551615, 4],
    "mean": ["NaN", "-Infinity"], "l2_norm": [2755170.1662385147, "Infinity"],
    "any": [true, false]})"));
  EXPECT_EQ(object["execution"]["engine"], "cpu");
  EXPECT_EQ(object["execution"]["strategy"], "reduce/long/blocks");
  EXPECT_EQ(object["execution"]["cluster_size"], 1);
  EXPECT_EQ(object["execution"]["bytes_read"], 12);
  EXPECT_EQ(object["execution"]["kernel_time_us"], 2.5);
  EXPECT_EQ(object["execution"]["round_trip_time_us"], 3000);
  for (const char* stage : {"queue", "stage_in", "stage_out", "total"}) {
    EXPECT_EQ(object["execution"][std::string(stage) + "_time_us"], 0) << stage;
  }
}

// Numbers have the digits that tell them from others of their type.
TEST(JsonReportTest, StatisticsInAnOutputTypeAreShort) {
  const std::vector<float> floats = {0.1F, -std::numeric_limits<float>::infinity()};
  ReductionResult result;
  result.group_count = 2;
  result.entries = {{Statistic::kMean,
                     std::vector<double>(floats.begin(), floats.end()),
                     {true, true},
                     ElementType::kFloat32,
                     std::string(reinterpret_cast<const char*>(floats.data()), 8)},
                    {Statistic::kMin,
                     std::vector<double>{0.0999755859375, 0},
                     {true, false},
                     ElementType::kFloat16,
                     std::string("\x66\x2E\x00\x00", 4)},
                    {Statistic::kMax,
                     std::vector<double>{3.140625, std::nan("")},
                     {},
                     ElementType::kBfloat16,
                     std::string("\x49\x40\xC0\x7F", 4)},
                    {Statistic::kCount, std::vector<uint64_t>{3, 4}}};
  EXPECT_THAT(ToJson(MakeAnswer(result)),
              testing::HasSubstr(R"("statistics":{"mean":[0.1,"-Infinity"],"min":[0.1,null],)"
                                 R"("max":[3.14,"NaN"],"count":[3,4]})"));
}

TEST(JsonReportTest, ScanHoldsValuesOrTheirFile) {
  ScanResult scan;
  scan.element_type = ElementType::kFloat16;
  scan.shape = {2};
  scan.data = std::string("\x00\x3C\x00\x7E", 4);  // 1 and NaN.
  const json values = Parse(ToJson(MakeAnswer(scan), ""));
  EXPECT_EQ(values["result"],
            json::parse(R"({"element_type": "float16", "shape": [2], "values": [1, "NaN"]})"));
  scan.data = std::string("\x66\x2E\x55\x35", 4);
  EXPECT_THAT(ToJson(MakeAnswer(scan), ""), testing::HasSubstr(R"("values":[0.1,0.3333])"));
  const json file = Parse(ToJson(MakeAnswer(scan), "out.npy"));
  EXPECT_EQ(file["result"],
            json::parse(R"({"element_type": "float16", "shape": [2], "output": "out.npy"})"));
}

TEST(JsonReportTest, HistogramIsComplete) {
  HistogramResult result;
  result.channels = {{.counts = {1, 2},
                      .weight_sums = {},
                      .bin_indices = {},
                      .underflow_count = 3,
                      .overflow_count = 4,
                      .nan_count = 5,
                      .quantile_values = {std::nan("")}}};
  result.bins = {{2, {-kInfinity, 0.5, 1}}};
  const json object = Parse(ToJson(MakeAnswer(result), {.quantiles = {0.5}}));
  EXPECT_EQ(object["channels"], json::parse(R"([{
    "counts": [1, 2], "underflow_count": 3, "overflow_count": 4, "nan_count": 5,
    "quantiles": [{"probability": 0.5, "value": "NaN"}]}])"));
  EXPECT_EQ(object["bins"], json::parse(R"([{"bin_count": 2, "edges": ["-Infinity", 0.5, 1.0]}])"));
}

TEST(JsonReportTest, SparseWeightSumsHaveTheirBins) {
  HistogramResult result;
  result.channels = {HistogramCounts{.weight_sums = {0.5}, .bin_indices = {7}}};
  result.bins = {{10, {}}};
  const std::vector<float> weights;
  const json object =
      Parse(ToJson(MakeAnswer(result), {.weights = weights, .format = HistogramFormat::kSparse}));
  EXPECT_EQ(object["channels"][0]["weight_sums"], json::parse("[0.5]"));
  EXPECT_EQ(object["channels"][0]["bin_indices"], json::parse("[7]"));
  EXPECT_FALSE(object["channels"][0].contains("counts"));
  EXPECT_EQ(object["bins"], json::parse(R"([{"bin_count": 10}])"));
}

TEST(JsonReportTest, ServerIsComplete) {
  ServerInfo info;
  info.version = "1.2.3";
  info.devices = {{"GPU", 9, 132, "9.0"}};
  info.limits.lane_count = 4;
  info.limits.stream_count_max = 8;
  info.limits.stream_pending_bytes_max = 9;
  ServerStatistics statistics;
  statistics.jobs_refused = 5;
  statistics.resident_array_count = 6;
  statistics.resident_bytes = 7;
  const json object = Parse(ToJson("host:1", HealthStatus::kServing, info, statistics));
  EXPECT_EQ(object["target"], "host:1");
  EXPECT_EQ(object["health"], "SERVING");
  EXPECT_EQ(object["version"], "1.2.3");
  EXPECT_EQ(object["devices"][0], json::parse(R"({"name": "GPU", "memory_bytes": 9,
    "compute_units": 132, "compute_capability": "9.0"})"));
  EXPECT_EQ(object["limits"]["lane_count"], 4);
  EXPECT_EQ(object["limits"]["stream_count_max"], 8);
  EXPECT_EQ(object["limits"]["stream_pending_bytes_max"], 9);
  EXPECT_EQ(object["statistics"]["jobs_refused"], 5);
  EXPECT_EQ(object["statistics"]["resident_array_count"], 6);
  EXPECT_EQ(object["statistics"]["resident_bytes"], 7);
  EXPECT_EQ(Parse(ToJson("host:1", HealthStatus::kNotServing)),
            json::parse(R"({"target": "host:1", "health": "NOT_SERVING"})"));
}

TEST(JsonReportTest, ErrorsCarryWhatIsKnown) {
  EXPECT_EQ(Parse(ToJson(absl::NotFoundError("c"), "a \"b\" \xFF")),
            json::parse("{\"error\": {\"code\": \"NOT_FOUND\", \"message\": \"a \\\"b\\\" "
                        "\xEF\xBF\xBD\"}}"));
  absl::Status status = absl::ResourceExhaustedError("full");
  // RetryInfo of two seconds.
  status.SetPayload("type.googleapis.com/google.rpc.RetryInfo", absl::Cord("\x0A\x02\x08\x02"));
  // BadRequest with the field "a".
  status.SetPayload("type.googleapis.com/google.rpc.BadRequest", absl::Cord("\x0A\x03\x0A\x01"
                                                                            "a"));
  const json error = Parse(ToJson(status, "too full"))["error"];
  EXPECT_EQ(error["code"], "RESOURCE_EXHAUSTED");
  EXPECT_EQ(error["message"], "too full");
  EXPECT_EQ(error["retry_delay_us"], 2e6);
  EXPECT_EQ(error["field"], "a");
}

}  // namespace
}  // namespace gridfold::client
