// Metrics as Prometheus gets them: a real server, calls of every outcome over a real socket, and
// the text of a scrape over HTTP, compared with what was done.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/base/version.h"
#include "server/testing/array_caller.h"
#include "server/testing/fake_engine.h"
#include "server/testing/http_exchange.h"
#include "server/testing/metrics_text.h"
#include "server/testing/request_mutator.h"
#include "server/testing/shared_object.h"
#include "server/testing/stream_caller.h"
#include "server/testing/test_server.h"

namespace gridfold::server {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::IsSubsetOf;
using testing::Pair;
using testing::UnorderedElementsAre;
using testing::UnorderedElementsAreArray;

constexpr char kAnyPort[] = "127.0.0.1:0";

MetricsText Scrape(TestServer& server) {
  const HttpAnswer answer = HttpGet(server.server().metrics_port().value(), "/metrics");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.headers, HasSubstr("Content-Type: text/plain"));
  return ParseMetrics(answer.body);
}

// "{rpc="ReduceArray",...}" of gridfold_requests_total.
std::string Calls(const std::string& rpc, const std::string& code, const std::string& element_type,
                  const std::string& strategy) {
  return absl::StrCat("{rpc=\"", rpc, "\",code=\"", code, "\",element_type=\"", element_type,
                      "\",strategy=\"", strategy, "\"}");
}

// Scrapes until a metric has a value that it is about to have.
MetricsText ScrapeUntil(TestServer& server, const std::string& series, double value) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  MetricsText metrics = Scrape(server);
  while (metrics.Value(series) != value) {
    EXPECT_LT(std::chrono::steady_clock::now(), give_up) << series << " is not " << value;
    if (testing::Test::HasFailure()) break;
    metrics = Scrape(server);
  }
  return metrics;
}

// A call that is not waited for.
class PendingCall {
 public:
  explicit PendingCall(TestServer& server, milliseconds timeout = std::chrono::hours(1)) {
    context_.set_deadline(std::chrono::system_clock::now() + timeout);
    thread_ = std::jthread([this, &server] {
      v1::ReduceArrayResponse response;
      status_ = server.compute().ReduceArray(&context_, SmallReduction(), &response);
    });
  }
  ~PendingCall() { context_.TryCancel(); }

  void Cancel() { context_.TryCancel(); }
  grpc::StatusCode Wait() {
    thread_.join();
    return status_.error_code();
  }

 private:
  grpc::ClientContext context_;
  grpc::Status status_;
  std::jthread thread_;
};

grpc::StatusCode Reduce(TestServer& server, const v1::ReduceArrayRequest& request) {
  grpc::ClientContext context;
  v1::ReduceArrayResponse response;
  return server.compute().ReduceArray(&context, request, &response).error_code();
}

v1::ScanArrayRequest SmallScan() {
  v1::ScanArrayRequest request;
  *request.mutable_array() = ArrayOf<float>(v1::ELEMENT_TYPE_FLOAT32, {1, 2, 3});
  request.set_operation(v1::SCAN_OPERATION_SUM);
  return request;
}

// One lane, and a queue for one job.
Limits TightLimits() {
  Limits limits;
  limits.lane_count = 1;
  limits.queued_jobs_max = 1;
  return limits;
}

// Every outcome, on an engine that does as it is told.
class MetricsOutcomeTest : public testing::Test {
 protected:
  void Succeed() {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(Reduce(server_, SmallReduction()), grpc::StatusCode::OK);
    grpc::ClientContext context;
    v1::ScanArrayResponse response;
    EXPECT_TRUE(server_.compute().ScanArray(&context, SmallScan(), &response).ok());
  }

  void SendInvalidRequests() {
    v1::ReduceArrayRequest request = SmallReduction();
    request.mutable_array()->mutable_inline_array()->set_element_type(v1::ElementType(99));
    EXPECT_EQ(Reduce(server_, request), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(CallRaw(server_.channel(), "/gridfold.v1.ComputeService/ReduceArray", "\xFF\xFF")
                  .status.error_code(),
              grpc::StatusCode::INVALID_ARGUMENT);
  }

  void Overflow() {
    engine_.on_run = [](std::stop_token) { return absl::OutOfRangeError("overflow"); };
    EXPECT_EQ(Reduce(server_, SmallReduction()), grpc::StatusCode::OUT_OF_RANGE);
  }

  // One call is refused because another waits behind a third; those two are cancelled.
  void FillTheQueueAndCancel() {
    Gate gate;
    engine_.on_run = [&](std::stop_token stop) { return gate.Pass(std::move(stop)); };
    PendingCall running(server_);
    gate.WaitForArrivals(1);
    PendingCall waiting(server_);
    const MetricsText metrics = ScrapeUntil(server_, "gridfold_queue_jobs", 1);
    EXPECT_EQ(metrics.Value("gridfold_lanes_busy"), 1);
    EXPECT_EQ(metrics.Value("gridfold_queue_bytes"), kSmallBytes);
    EXPECT_EQ(Reduce(server_, SmallReduction()), grpc::StatusCode::RESOURCE_EXHAUSTED);
    waiting.Cancel();
    EXPECT_EQ(waiting.Wait(), grpc::StatusCode::CANCELLED);
    ScrapeUntil(server_, "gridfold_queue_jobs", 0);
    running.Cancel();
    EXPECT_EQ(running.Wait(), grpc::StatusCode::CANCELLED);
    ScrapeUntil(server_, "gridfold_lanes_busy", 0);
  }

  void MissTheDeadline() {
    Gate gate;
    engine_.on_run = [&](std::stop_token stop) {
      absl::Status status = gate.Pass(std::move(stop));
      // The caller's clock may be ahead of the server's, which would then see a cancellation.
      std::this_thread::sleep_for(milliseconds(200));
      return status;
    };
    PendingCall late(server_, milliseconds(200));
    EXPECT_EQ(late.Wait(), grpc::StatusCode::DEADLINE_EXCEEDED);
    ScrapeUntil(
        server_,
        "gridfold_requests_total" + Calls("ReduceArray", "DEADLINE_EXCEEDED", "int32", "fake"), 1);
  }

  const double kSmallBytes = static_cast<double>(SmallReduction().ByteSizeLong());
  FakeEngine engine_;
  TestServer server_{engine_, TightLimits(), kAnyPort};
};

TEST_F(MetricsOutcomeTest, NumbersAreExactlyWhatWasDone) {
  Succeed();
  SendInvalidRequests();
  Overflow();
  FillTheQueueAndCancel();
  MissTheDeadline();
  const MetricsText metrics = Scrape(server_);

  EXPECT_THAT(
      metrics.Series("gridfold_requests_total"),
      UnorderedElementsAre(Pair(Calls("ReduceArray", "OK", "int32", "fake"), 3),
                           Pair(Calls("ScanArray", "OK", "float32", "fake"), 1),
                           Pair(Calls("ReduceArray", "INVALID_ARGUMENT", "none", "none"), 2),
                           Pair(Calls("ReduceArray", "OUT_OF_RANGE", "int32", "fake"), 1),
                           Pair(Calls("ReduceArray", "RESOURCE_EXHAUSTED", "none", "none"), 1),
                           Pair(Calls("ReduceArray", "CANCELLED", "int32", "none"), 1),
                           Pair(Calls("ReduceArray", "CANCELLED", "int32", "fake"), 1),
                           Pair(Calls("ReduceArray", "DEADLINE_EXCEEDED", "int32", "fake"), 1)));

  const std::map<std::string, double> expected = {
      {"gridfold_jobs_accepted_total", 8},
      {"gridfold_jobs_succeeded_total", 4},
      {"gridfold_jobs_failed_total", 1},
      {"gridfold_jobs_cancelled_total{reason=\"caller\"}", 2},
      {"gridfold_jobs_cancelled_total{reason=\"deadline\"}", 1},
      {"gridfold_jobs_cancelled_total{reason=\"shutdown\"}", 0},
      {"gridfold_jobs_refused_total{reason=\"queue_jobs\"}", 1},
      {"gridfold_jobs_refused_total{reason=\"queue_bytes\"}", 0},
      {"gridfold_jobs_refused_total{reason=\"tenant_share\"}", 0},
      {"gridfold_jobs_refused_total{reason=\"deadline_unmeetable\"}", 0},
      {"gridfold_jobs_refused_total{reason=\"draining\"}", 0},
      {"gridfold_jobs_refused_total{reason=\"engine_lost\"}", 0},
      {"gridfold_jobs_refused_total{reason=\"deadline\"}", 0},
      {"gridfold_device_usable{device=\"0\"}", 1},
      {"gridfold_device_lanes_busy{device=\"0\"}", 0},
      {"gridfold_device_resident_bytes{device=\"0\"}", 0},
      {"gridfold_lanes", 1},
      {"gridfold_lanes_busy", 0},
      {"gridfold_lanes_busy_high_water", 1},
      {"gridfold_queue_jobs", 0},
      {"gridfold_queue_high_water_jobs", 1},
      {"gridfold_queue_bytes", 0},
      {"gridfold_queue_high_water_bytes", kSmallBytes},
      {"gridfold_request_duration_seconds_count{rpc=\"ReduceArray\"}", 10},
      {"gridfold_request_duration_seconds_count{rpc=\"ScanArray\"}", 1},
      {"gridfold_request_duration_seconds_count{rpc=\"ComputeHistogram\"}", 0},
      {"gridfold_request_duration_seconds_count{rpc=\"MergeAccumulators\"}", 0},
  };
  for (const auto& [series, value] : expected) EXPECT_EQ(metrics.Value(series), value) << series;

  // Seven reductions were accepted, and a lane ran six of them.
  const auto count = [&](const std::string& stage) {
    return metrics.Value(
        "gridfold_request_stage_duration_seconds_count{rpc=\"ReduceArray\",stage=\"" + stage +
        "\"}");
  };
  EXPECT_EQ(count("admission"), 7);
  for (const char* stage : {"queue", "stage_in", "kernel", "stage_out"}) {
    EXPECT_EQ(count(stage), 6) << stage;
  }
  // The call with a deadline took most of its 200 ms.
  EXPECT_GE(metrics.Value("gridfold_request_duration_seconds_sum{rpc=\"ReduceArray\"}"), 0.1);
}

TEST_F(MetricsOutcomeTest, ADrainShowsWhileItLasts) {
  Gate gate;
  engine_.on_run = [&](std::stop_token stop) { return gate.Pass(std::move(stop)); };
  EXPECT_EQ(Scrape(server_).Value("gridfold_serving"), 1);
  PendingCall running(server_);
  gate.WaitForArrivals(1);
  std::jthread drain([&] { EXPECT_TRUE(server_.server().Drain(std::chrono::hours(1)).ok()); });
  ScrapeUntil(server_, "gridfold_serving", 0);
  server_.server().StopJobs();
  EXPECT_EQ(running.Wait(), grpc::StatusCode::UNAVAILABLE);
  drain.join();
  EXPECT_EQ(Scrape(server_).Value("gridfold_jobs_cancelled_total{reason=\"shutdown\"}"), 1);
}

TEST_F(MetricsOutcomeTest, ALostEngineShows) {
  engine_.on_run = [this](std::stop_token) {
    engine_.healthy = false;
    return absl::InternalError("the device is lost");
  };
  EXPECT_EQ(Reduce(server_, SmallReduction()), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(Reduce(server_, SmallReduction()), grpc::StatusCode::UNAVAILABLE);
  const MetricsText metrics = Scrape(server_);
  EXPECT_EQ(metrics.Value("gridfold_serving"), 0);
  EXPECT_EQ(metrics.Value("gridfold_device_usable{device=\"0\"}"), 0);
  EXPECT_EQ(metrics.Value("gridfold_jobs_failed_total"), 1);
  EXPECT_EQ(metrics.Value("gridfold_jobs_refused_total{reason=\"engine_lost\"}"), 1);
}

TEST_F(MetricsOutcomeTest, SaysWhatIsRunning) {
  const MetricsText metrics = Scrape(server_);
  EXPECT_EQ(metrics.Value(absl::StrCat("gridfold_build_info{version=\"", Version(),
                                       "\",engine=\"fake\",device=\"fake device\","
                                       "compute_capability=\"\"}")),
            1);
  EXPECT_EQ(metrics.Value("gridfold_device_memory_bytes{device=\"0\"}"), 1 << 20);
  EXPECT_GT(metrics.Value("process_resident_memory_bytes"), 1 << 20);
  const double now = static_cast<double>(time(nullptr));
  EXPECT_LE(metrics.Value("process_start_time_seconds"), now + 1);
  EXPECT_GT(metrics.Value("process_start_time_seconds"), now - 3600);
  EXPECT_EQ(metrics.types.at("gridfold_requests_total"), "counter");
  EXPECT_EQ(metrics.types.at("gridfold_request_duration_seconds"), "histogram");
  EXPECT_EQ(metrics.types.at("gridfold_lanes_busy"), "gauge");
}

// On the engine that every machine has.
class MetricsTest : public testing::Test {
 protected:
  std::unique_ptr<kernels::Engine> engine_ =
      *kernels::CreateEngine({.kind = kernels::EngineKind::kCpu, .cpu_threads = 2});
  TestServer server_{*engine_, {}, kAnyPort};
};

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

TEST_F(MetricsTest, WhatIsNotAScrapeIsAnError) {
  const int port = server_.server().metrics_port().value();
  EXPECT_EQ(HttpGet(port, "/").status, 404);
  EXPECT_EQ(HttpGet(port, "/../../etc/passwd").status, 404);
  EXPECT_EQ(HttpGet(port, "//etc/passwd").status, 404);
  EXPECT_EQ(HttpExchange(port, "DELETE /metrics HTTP/1.1\r\n\r\n").status, 405);
  EXPECT_NE(HttpExchange(port, "nonsense\r\n\r\n").status, 200);
  EXPECT_NE(HttpExchange(port, std::string("\0\xFF\x01\r\n\r\n", 7)).status, 200);
  const std::string long_header(size_t{2} * kScrapeRequestBytesMax, 'x');
  EXPECT_NE(HttpExchange(port, "GET /metrics HTTP/1.1\r\nX: " + long_header + "\r\n\r\n").status,
            200);
  EXPECT_EQ(HttpGet(port, "/metrics").status, 200);
  EXPECT_EQ(HttpGet(port, "/metrics?name=x").status, 200);
  const HttpAnswer head = HttpExchange(port, "HEAD /metrics HTTP/1.0\r\n\r\n");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
}

// Connections that never ask, ask slowly, or take nothing of the answer; more than there is room
// for.
class StalledScrapes {
 public:
  explicit StalledScrapes(int port) : port_(port) {
    for (size_t i = 0; i < 6 * kScrapeConnectionsMax; ++i) Add();
  }
  void Add() {
    constexpr const char* kBeginnings[] = {"", "GET /met", "GET /metrics HTTP/1.1\r\n\r\n"};
    sockets_.push_back(std::make_unique<TestSocket>(port_));
    sockets_.back()->Send(kBeginnings[sockets_.size() % 3]);
  }

 private:
  const int port_;
  std::vector<std::unique_ptr<TestSocket>> sockets_;
};

TEST_F(MetricsTest, StalledScrapesDelayNobody) {
  const int port = server_.server().metrics_port().value();
  StalledScrapes stalled(port);
  constexpr int kScrapes = 20;
  int slow = 0;
  for (int i = 0; i < kScrapes; ++i) {
    stalled.Add();
    EXPECT_EQ(Reduce(server_, SmallReduction()), grpc::StatusCode::OK);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(Scrape(server_).Value("gridfold_jobs_succeeded_total"), i + 1);
    if (std::chrono::steady_clock::now() - begin >= kScrapeRequestTimeout / 2) ++slow;
  }
  // Behind stalled ones each would be slow; a busy machine may make a few so.
  EXPECT_LT(slow, kScrapes / 2);
}

TEST_F(MetricsTest, AConnectionHasItsTimeHoweverBusyItIs) {
  const int port = server_.server().metrics_port().value();
  TestSocket slow(port);
  const auto begin = std::chrono::steady_clock::now();
  std::jthread sender([&](const std::stop_token& stop) {
    slow.Send("GET /metrics HTTP/1.1\r\nX: ");
    while (!stop.stop_requested()) {
      slow.Send("x");
      std::this_thread::sleep_for(milliseconds(50));
    }
  });
  EXPECT_EQ(slow.ReceiveAll(), "");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, kScrapeRequestTimeout);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 4 * kScrapeRequestTimeout);
}

TEST(MetricsEndpointTest, AServerStopsBesideStalledScrapes) {
  FakeEngine engine;
  auto server = std::make_unique<TestServer>(engine, Limits{}, kAnyPort);
  const StalledScrapes stalled(server->server().metrics_port().value());
  const auto start = std::chrono::steady_clock::now();
  server.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST(MetricsEndpointTest, APortThatIsTakenIsAnError) {
  FakeEngine engine;
  TestServer first(engine, {}, kAnyPort);
  const std::string taken = absl::StrCat("127.0.0.1:", first.server().metrics_port().value());
  const auto second = Server::Start({&engine}, kAnyPort, Limits{}, taken);
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr("cannot listen on " + taken + " for metrics"));
}

TEST(MetricsEndpointTest, AServerWithoutMetricsHasNoPort) {
  FakeEngine engine;
  TestServer server(engine);
  EXPECT_EQ(server.server().metrics_port(), std::nullopt);
  EXPECT_EQ(Reduce(server, SmallReduction()), grpc::StatusCode::OK);
}

}  // namespace
}  // namespace gridfold::server
