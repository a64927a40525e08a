// Metrics as Prometheus gets them: calls over a real socket to the engine that every machine has,
// and the numbers of a scrape over HTTP, compared with what was done.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gridfold/v1/compute_service.pb.h"
#include "gridfold/v1/region_service.pb.h"
#include "server/base/limits.h"
#include "server/base/rpc.h"
#include "server/testing/array_caller.h"
#include "server/testing/metrics_fixture.h"
#include "server/testing/metrics_text.h"
#include "server/testing/request_mutator.h"
#include "server/testing/shared_object.h"
#include "server/testing/stream_caller.h"
#include "server/testing/test_server.h"

namespace gridfold::server {
namespace {

using testing::IsSubsetOf;
using testing::Pair;
using testing::UnorderedElementsAre;
using testing::UnorderedElementsAreArray;

TEST_F(MetricsTest, BytesAreThoseOfTheMessages) {
  v1::ReduceArrayRequest request = SmallReduction();
  *request.mutable_array() =
      ArrayOf<double>(v1::ELEMENT_TYPE_FLOAT64, std::vector<double>(100'000, 0.5));
  grpc::ClientContext context;
  v1::ReduceArrayResponse response;
  ASSERT_TRUE(server_.compute().ReduceArray(&context, request, &response).ok());
  const MetricsText metrics = Scrape(server_);
  EXPECT_EQ(metrics.Value("gridfold_request_bytes_total{rpc=\"ReduceArray\"}"),
            static_cast<double>(request.ByteSizeLong()));
  EXPECT_EQ(metrics.Value("gridfold_response_bytes_total{rpc=\"ReduceArray\"}"),
            static_cast<double>(response.ByteSizeLong()));
  EXPECT_EQ(metrics.Value("gridfold_kernel_read_bytes_total{rpc=\"ReduceArray\"}"), 800'000);
  EXPECT_EQ(metrics.Value("gridfold_kernel_read_bytes_total{rpc=\"ScanArray\"}"), 0);
  EXPECT_THAT(metrics.Series("gridfold_requests_total"),
              UnorderedElementsAre(
                  Pair(Calls("ReduceArray", "OK", "float64", "reduce/groups/contiguous"), 1)));
}

TEST_F(MetricsTest, ResidentArraysAndTheirCallsShow) {
  ArrayCaller caller(server_);
  ASSERT_TRUE(caller.Create("a", v1::ELEMENT_TYPE_FLOAT32, {65}).ok());
  ASSERT_TRUE(caller.Create("b", v1::ELEMENT_TYPE_FLOAT32, {65}).ok());
  EXPECT_EQ(caller.Create("a", v1::ELEMENT_TYPE_FLOAT32, {65}).error_code(),
            grpc::StatusCode::ALREADY_EXISTS);
  ASSERT_TRUE(caller.Delete("b").ok());
  const MetricsText metrics = Scrape(server_);
  EXPECT_EQ(metrics.Value("gridfold_resident_arrays"), 1);
  EXPECT_EQ(metrics.Value("gridfold_resident_bytes"), 512);  // 260 bytes, in units of 256.
  EXPECT_EQ(server_.GetStatistics().resident_array_count(), 1u);
  EXPECT_EQ(server_.GetStatistics().resident_bytes(), 512u);
  EXPECT_EQ(metrics.Value("gridfold_request_duration_seconds_count{rpc=\"CreateArray\"}"), 3);
  EXPECT_EQ(metrics.Value("gridfold_requests_total" +
                          Calls("CreateArray", "ALREADY_EXISTS", "none", "none")),
            1);
  EXPECT_EQ(metrics.Value("gridfold_requests_total" + Calls("DeleteArray", "OK", "none", "none")),
            1);
}

TEST_F(MetricsTest, StreamsShow) {
  Limits limits;
  limits.stream_count_max = 1;
  TestServer server(*engine_, limits, kAnyPort);
  v1::ReduceStreamResponse response;
  v1::ReduceArrayRequest header = SmallReduction();
  *header.mutable_array() = Streamed(v1::ELEMENT_TYPE_INT32);
  grpc::ClientContext context;
  const auto writer = server.compute().ReduceStream(&context, &response);
  v1::ReduceStreamRequest message = Messages(header, {})[0];
  message.set_data("123");  // Less than an element: it waits.
  ASSERT_TRUE(writer->Write(message));
  ScrapeUntil(server, "gridfold_streams_open", 1);
  EXPECT_EQ(Send(server, Messages(header, {}), response).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  ScrapeUntil(server, "gridfold_streams_refused_total{reason=\"streams\"}", 1);
  context.TryCancel();
  (void)writer->Finish();
  const MetricsText metrics = ScrapeUntil(server, "gridfold_streams_open", 0);
  EXPECT_EQ(metrics.Value("gridfold_stream_bytes"), 0);
  EXPECT_EQ(metrics.Value("gridfold_streams_refused_total{reason=\"stream_bytes\"}"), 0);
}

// Each call of them once, however many jobs it takes; and none that was refused.
TEST_F(MetricsTest, AcceptedStreamsCountAsAdmitted) {
  ArrayCaller caller(server_);
  ASSERT_TRUE(caller.Create("a", v1::ELEMENT_TYPE_UINT8, {100}).ok());
  ASSERT_TRUE(caller.Write("a", {Chunk(0, "ab"), Chunk(2, "cd")}).ok());
  EXPECT_FALSE(caller.Write("unknown", {Chunk(0, "ab")}).ok());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(caller.Read(Resident("a"), 10).ok());
  EXPECT_FALSE(caller.Read(Resident("unknown")).ok());
  v1::ReduceArrayRequest header = SmallReduction();
  *header.mutable_array() = Streamed(v1::ELEMENT_TYPE_INT32);
  v1::ReduceStreamResponse response;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(Send(server_, Messages(header, {"1234", "5678"}), response).ok());
  }
  header.clear_statistics();
  EXPECT_FALSE(Send(server_, Messages(header, {"1234"}), response).ok());
  const MetricsText metrics = Scrape(server_);
  const auto admitted = [&](const std::string& rpc) {
    return metrics.Value("gridfold_request_stage_duration_seconds_count{rpc=\"" + rpc +
                         "\",stage=\"admission\"}");
  };
  EXPECT_EQ(admitted("CreateArray"), 1);
  EXPECT_EQ(admitted("WriteArray"), 1);
  EXPECT_EQ(admitted("ReadArray"), 2);
  EXPECT_EQ(admitted("ReduceStream"), 3);
}

TEST_F(MetricsTest, RegionsShowWhereTheyAreAllowed) {
  EXPECT_TRUE(Scrape(server_).Series("gridfold_regions").empty());
  Limits limits;
  limits.regions_allowed = true;
  TestServer server(*engine_, limits, kAnyPort);
  const SharedObject object(uint64_t{100});
  v1::RegisterRegionRequest request;
  request.set_size_bytes(100);
  request.mutable_posix_shared_memory()->set_object_name(object.name());
  grpc::ClientContext context;
  v1::RegisterRegionResponse response;
  ASSERT_TRUE(server.regions().RegisterRegion(&context, request, &response).ok());
  const MetricsText metrics = Scrape(server);
  EXPECT_EQ(metrics.Value("gridfold_regions"), 1);
  EXPECT_EQ(metrics.Value("gridfold_region_bytes"), 100);
  EXPECT_EQ(
      metrics.Value("gridfold_requests_total" + Calls("RegisterRegion", "OK", "none", "register")),
      1);
}

TEST_F(MetricsTest, TheCpuEngineAllocatesNothingOfADevice) {
  const MetricsText metrics = Scrape(server_);
  EXPECT_THAT(metrics.Series("gridfold_engine_memory_bytes"),
              UnorderedElementsAre(Pair("{kind=\"device\"}", 0), Pair("{kind=\"pinned\"}", 0),
                                   Pair("{kind=\"registered\"}", 0)));
  EXPECT_THAT(
      metrics.Series("gridfold_engine_allocations_total"),
      UnorderedElementsAre(Pair("{kind=\"device\"}", 0), Pair("{kind=\"pinned\"}", 0),
                           Pair("{kind=\"stream\"}", 0), Pair("{kind=\"registration\"}", 0)));
}

TEST_F(MetricsTest, HostileRequestsMakeNoLabels) {
  constexpr int kRequestCount = 3000;
  RequestMutator mutator(20261121);
  std::map<std::string, double> sent;
  for (int i = 0; i < kRequestCount; ++i) {
    const RequestBytes request = mutator.Next();
    (void)CallRaw(server_.channel(), request.method, request.bytes);
    sent[request.method.substr(request.method.rfind('/') + 1)] += 1;
  }
  const MetricsText metrics = Scrape(server_);
  for (const auto& [rpc, count] : sent) {
    EXPECT_EQ(metrics.Value("gridfold_request_duration_seconds_count{rpc=\"" + rpc + "\"}"), count);
  }
  double calls = 0;
  for (const auto& [series, count] : metrics.Series("gridfold_requests_total")) calls += count;
  EXPECT_EQ(calls, kRequestCount);

  const auto values = [&](const std::string& label) {
    const auto found = metrics.label_values.find(label);
    return found == metrics.label_values.end() ? std::set<std::string>() : found->second;
  };
  EXPECT_THAT(values("rpc"), UnorderedElementsAreArray(kRpcNames));
  EXPECT_THAT(values("code"),
              IsSubsetOf({"OK", "INVALID_ARGUMENT", "OUT_OF_RANGE", "RESOURCE_EXHAUSTED",
                          "NOT_FOUND", "ALREADY_EXISTS", "FAILED_PRECONDITION"}));
  EXPECT_THAT(values("element_type"),
              IsSubsetOf({"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                          "float16", "bfloat16", "float32", "float64", "bool", "none"}));
  EXPECT_THAT(values("strategy"), IsSubsetOf({"reduce/groups/contiguous",
                                              "reduce/columns/strips",
                                              "reduce/groups/side-by-side",
                                              "reduce/columns/side-by-side",
                                              "scan/blocks",
                                              "scan/axis-0",
                                              "scan/exact",
                                              "scan/moving",
                                              "histogram/private",
                                              "histogram/shared",
                                              "merge/reduction",
                                              "merge/histogram",
                                              "subtract/reduction",
                                              "subtract/histogram",
                                              "paired/digits",
                                              "by-key/in-order",
                                              "by-key/sort",
                                              "quantiles/partial-sort",
                                              "quantiles/digits",
                                              "quantiles/weighted",
                                              "top/one-pass",
                                              "create",
                                              "batch",
                                              "reduce/batch",
                                              "none"}));
}

}  // namespace
}  // namespace gridfold::server
