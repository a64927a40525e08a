// Metrics of every outcome, as Prometheus gets them: calls over a real socket to an engine that
// does as it is told, and the numbers of a scrape over HTTP, compared with what was done.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <map>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gridfold/v1/compute_service.pb.h"
#include "server/base/limits.h"
#include "server/base/version.h"
#include "server/testing/fake_engine.h"
#include "server/testing/metrics_fixture.h"
#include "server/testing/metrics_text.h"
#include "server/testing/test_server.h"

namespace gridfold::server {
namespace {

using std::chrono::milliseconds;
using testing::Pair;
using testing::UnorderedElementsAre;

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
    const v1::GetStatisticsResponse statistics = server_.GetStatistics();
    EXPECT_EQ(statistics.jobs_queued(), 1u);
    EXPECT_EQ(static_cast<double>(statistics.bytes_queued()), kSmallBytes);
    EXPECT_EQ(statistics.lanes_busy(), 1u);
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

  // And as a caller is told.
  const v1::GetStatisticsResponse told = server_.GetStatistics();
  EXPECT_EQ(told.jobs_accepted(), 8u);
  EXPECT_EQ(told.jobs_refused(), 1u);
  EXPECT_EQ(told.jobs_succeeded(), 4u);
  EXPECT_EQ(told.jobs_failed(), 1u);
  EXPECT_EQ(told.jobs_cancelled(), 3u);
  EXPECT_EQ(told.jobs_queued(), 0u);
  EXPECT_EQ(told.bytes_queued(), 0u);
  EXPECT_EQ(told.bytes_processed(),
            3 * SmallReduction().ByteSizeLong() + SmallScan().ByteSizeLong());

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

}  // namespace
}  // namespace gridfold::server
