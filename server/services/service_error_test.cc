// Every error that callers may meet, over a real socket, row by row of the contract: the code, the
// reason, and what else the trailer grpc-status-details-bin says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "kernels/contract/invalid_field.h"
#include "server/base/error_reason.h"
#include "server/testing/fake_engine.h"
#include "server/testing/test_server.h"
#include "server/testing/waiting.h"

namespace gridfold::server {
namespace {

using std::chrono::milliseconds;

// Errors that requests earn by themselves, from the real engine.
class RequestErrorTest : public testing::Test {
 protected:
  grpc::Status Send(const v1::ReduceArrayRequest& request) {
    grpc::ClientContext context;
    v1::ReduceArrayResponse response;
    return server_.compute().ReduceArray(&context, request, &response);
  }
  grpc::Status Send(const v1::ScanArrayRequest& request) {
    grpc::ClientContext context;
    v1::ScanArrayResponse response;
    return server_.compute().ScanArray(&context, request, &response);
  }
  grpc::Status Send(const v1::ComputeHistogramRequest& request) {
    grpc::ClientContext context;
    v1::ComputeHistogramResponse response;
    return server_.compute().ComputeHistogram(&context, request, &response);
  }

  grpc::Status SendWithPriorities(const std::vector<std::string>& values) {
    grpc::ClientContext context;
    for (const std::string& value : values) context.AddMetadata("gridfold-priority", value);
    v1::ReduceArrayResponse response;
    return server_.compute().ReduceArray(&context, SmallReduction(), &response);
  }

  template <class Request>
  void ExpectInvalidField(const Request& request, const std::string& field) {
    SCOPED_TRACE(field);
    const grpc::Status status = Send(request);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
    const ErrorDetails details = DecodeDetails(status);
    EXPECT_EQ(details.reason(), kReasonInvalidField);
    ASSERT_TRUE(details.error_info.has_value());
    EXPECT_EQ(details.error_info->domain(), "gridfold");
    EXPECT_EQ(details.field(), field);
    EXPECT_FALSE(details.retry_info.has_value());
  }

  std::unique_ptr<kernels::Engine> engine_ =
      *kernels::CreateEngine({.kind = kernels::EngineKind::kCpu, .cpu_threads = 2});
  TestServer server_{*engine_};
};

TEST_F(RequestErrorTest, MalformedReductions) {
  v1::ReduceArrayRequest request = SmallReduction();
  request.mutable_array()->mutable_inline_array()->set_element_type(
      static_cast<v1::ElementType>(99));
  ExpectInvalidField(request, "array.inline_array.element_type");
  request = SmallReduction();
  request.mutable_array()->mutable_inline_array()->mutable_data()->pop_back();
  ExpectInvalidField(request, "array.inline_array.data");
  request = SmallReduction();
  for (const uint64_t offset : {0, 2, 1, 3}) {
    request.mutable_grouping()->mutable_segments()->add_offsets(offset);
  }
  ExpectInvalidField(request, "grouping.segments.offsets[2]");
  // A request without any byte is a message too, of nothing.
  ExpectInvalidField(v1::ReduceArrayRequest(), "array");
}

TEST_F(RequestErrorTest, MinimumOfNothingNamesTheStatistic) {
  v1::ReduceArrayRequest request = SmallReduction();
  request.mutable_array()->mutable_inline_array()->clear_data();
  request.add_statistics(v1::STATISTIC_MIN);
  ExpectInvalidField(request, "statistics[1]");
}

TEST_F(RequestErrorTest, MalformedHistograms) {
  v1::ComputeHistogramRequest request;
  *request.mutable_array() = ArrayOf<int32_t>(v1::ELEMENT_TYPE_INT32, {1, 2, 3});
  request.add_bins()->mutable_even();
  ExpectInvalidField(request, "bins[0].even.bin_count");
  request.mutable_bins(0)->mutable_even()->set_bin_count(3);
  request.mutable_bins(0)->mutable_even()->set_lower_bound(
      std::numeric_limits<double>::quiet_NaN());
  request.mutable_bins(0)->mutable_even()->set_upper_bound(1);
  ExpectInvalidField(request, "bins[0].even.lower_bound");
  for (const double edge : {1, 3, 2}) request.mutable_bins(0)->mutable_edges()->add_edges(edge);
  ExpectInvalidField(request, "bins[0].edges.edges[2]");
}

TEST_F(RequestErrorTest, MalformedScans) {
  v1::ScanArrayRequest request;
  *request.mutable_array() = ArrayOf<int32_t>(v1::ELEMENT_TYPE_INT32, {1, 2, 3});
  ExpectInvalidField(request, "operation");
  request.set_operation(v1::SCAN_OPERATION_MAX);
  request.set_output_type(v1::ELEMENT_TYPE_INT64);
  ExpectInvalidField(request, "output_type");
}

TEST_F(RequestErrorTest, OverflowOfASum) {
  v1::ReduceArrayRequest request = SmallReduction();
  *request.mutable_array() =
      ArrayOf<int64_t>(v1::ELEMENT_TYPE_INT64, {std::numeric_limits<int64_t>::max(), 1});
  const grpc::Status status = Send(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::OUT_OF_RANGE) << status.error_message();
  EXPECT_EQ(DecodeDetails(status).reason(), kReasonIntegerOverflow);
  request.set_overflow_policy(v1::OVERFLOW_POLICY_WRAP);
  EXPECT_TRUE(Send(request).ok());
}

TEST_F(RequestErrorTest, BytesThatAreNoMessage) {
  const grpc::Status status =
      CallRaw(server_.channel(), "/gridfold.v1.ComputeService/ReduceArray", "\xFF\xFF\xFF").status;
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
  EXPECT_EQ(DecodeDetails(status).reason(), kReasonInvalidRequest);
}

TEST_F(RequestErrorTest, APriorityIsOneOfThree) {
  for (const char* value : {"low", "normal", "high"}) {
    EXPECT_TRUE(SendWithPriorities({value}).ok()) << value;
  }
  for (const std::vector<std::string>& values :
       {std::vector<std::string>{"urgent"}, {"HIGH"}, {""}, {"high", "high"}}) {
    const grpc::Status status = SendWithPriorities(values);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << values.front();
    EXPECT_EQ(DecodeDetails(status).field(), "gridfold-priority");
  }
}

// Errors that come from the state of the server, from an engine that does as it is told.
class ServerErrorTest : public testing::Test {
 protected:
  ServerErrorTest() {
    engine_.on_run = [this](std::stop_token stop) { return gate_.Pass(std::move(stop)); };
  }

  // One lane, and a queue for one job.
  static Limits TightLimits() {
    Limits limits;
    limits.lane_count = 1;
    limits.queued_jobs_max = 1;
    return limits;
  }

  // A call that is not waited for.
  struct PendingCall {
    grpc::ClientContext context;
    v1::ReduceArrayResponse response;
    grpc::Status status;
    std::thread thread;

    ~PendingCall() {
      if (thread.joinable()) thread.join();
    }
    const grpc::Status& Wait() {
      thread.join();
      return status;
    }
  };

  std::unique_ptr<PendingCall> Start(TestServer& server,
                                     std::optional<milliseconds> timeout = std::nullopt) {
    auto call = std::make_unique<PendingCall>();
    if (timeout) call->context.set_deadline(std::chrono::system_clock::now() + *timeout);
    call->thread = std::thread([&server, call = call.get()] {
      call->status =
          server.compute().ReduceArray(&call->context, SmallReduction(), &call->response);
    });
    return call;
  }

  FakeEngine engine_;
  Gate gate_;
};

TEST_F(ServerErrorTest, AFullQueueRefusesAndSaysWhenToComeBack) {
  TestServer server(engine_, TightLimits());
  auto running = Start(server);
  gate_.WaitForArrivals(1);
  auto waiting = Start(server);
  WaitFor([&] { return server.GetStatistics().jobs_queued() == 1; });
  const grpc::Status refused = Start(server)->Wait();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  const ErrorDetails details = DecodeDetails(refused);
  EXPECT_EQ(details.reason(), kReasonQueueFull);
  ASSERT_TRUE(details.retry_info.has_value());
  EXPECT_EQ(details.retry_info->retry_delay().nanos(), 100'000'000);
  EXPECT_EQ(server.GetStatistics().jobs_refused(), 1u);
  gate_.Open();
  EXPECT_TRUE(running->Wait().ok());
  EXPECT_TRUE(waiting->Wait().ok());
  const v1::GetStatisticsResponse statistics = server.GetStatistics();
  EXPECT_EQ(statistics.jobs_succeeded(), 2u);
  EXPECT_GT(statistics.bytes_processed(), 24u);
  EXPECT_EQ(statistics.lanes_busy(), 0u);
  EXPECT_EQ(statistics.lane_count(), 1u);
  EXPECT_EQ(statistics.bytes_queued(), 0u);
}

TEST_F(ServerErrorTest, ACancelledCallFreesItsLane) {
  TestServer server(engine_, TightLimits());
  auto running = Start(server);
  gate_.WaitForArrivals(1);
  running->context.TryCancel();
  EXPECT_EQ(running->Wait().error_code(), grpc::StatusCode::CANCELLED);
  WaitFor([&] { return server.GetStatistics().jobs_cancelled() == 1; });
  EXPECT_EQ(server.GetStatistics().lanes_busy(), 0u);
}

TEST_F(ServerErrorTest, ACancelledCallLeavesTheQueue) {
  TestServer server(engine_, TightLimits());
  auto running = Start(server);
  gate_.WaitForArrivals(1);
  auto waiting = Start(server);
  WaitFor([&] { return server.GetStatistics().jobs_queued() == 1; });
  waiting->context.TryCancel();
  EXPECT_EQ(waiting->Wait().error_code(), grpc::StatusCode::CANCELLED);
  WaitFor([&] { return server.GetStatistics().jobs_queued() == 0; });
  EXPECT_EQ(server.GetStatistics().lanes_busy(), 1u);
  gate_.Open();
  EXPECT_TRUE(running->Wait().ok());
}

TEST_F(ServerErrorTest, ADeadlineStopsARunningJobAndDropsAWaitingOne) {
  TestServer server(engine_, TightLimits());
  auto running = Start(server, milliseconds(300));
  gate_.WaitForArrivals(1);
  auto waiting = Start(server, milliseconds(300));
  EXPECT_EQ(running->Wait().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(waiting->Wait().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  WaitFor([&] { return server.GetStatistics().jobs_cancelled() == 2; });
  EXPECT_EQ(server.GetStatistics().lanes_busy(), 0u);
  EXPECT_EQ(server.GetStatistics().jobs_queued(), 0u);
}

TEST_F(ServerErrorTest, ADeadlineThatCannotBeMetIsRefusedOnArrival) {
  engine_.on_run = [](std::stop_token) {
    std::this_thread::sleep_for(milliseconds(400));
    return absl::OkStatus();
  };
  Limits limits;
  limits.lane_count = kCostJobsMin;
  TestServer server(engine_, limits);
  std::vector<std::unique_ptr<PendingCall>> calls;
  for (uint64_t i = 0; i < kCostJobsMin; ++i) calls.push_back(Start(server));
  for (const auto& call : calls) EXPECT_TRUE(call->Wait().ok());
  const grpc::Status refused = Start(server, milliseconds(150))->Wait();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(DecodeDetails(refused).reason(), kReasonDeadlineUnmeetable);
  EXPECT_EQ(server.GetStatistics().jobs_accepted(), kCostJobsMin);
}

TEST_F(ServerErrorTest, AVeryDistantDeadlineIsNone) {
  gate_.Open();
  TestServer server(engine_);
  auto call = std::make_unique<PendingCall>();
  call->context.set_deadline(
      gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_hours(24 * 365 * 290, GPR_TIMESPAN)));
  EXPECT_TRUE(server.compute().ReduceArray(&call->context, SmallReduction(), &call->response).ok());
}

TEST_F(ServerErrorTest, ADrainingServerRefuses) {
  TestServer server(engine_, TightLimits());
  auto running = Start(server);
  gate_.WaitForArrivals(1);
  std::thread drain([&] { EXPECT_TRUE(server.server().Drain(std::chrono::hours(1)).ok()); });
  const grpc::Status refused = WaitUntilDraining(server);
  EXPECT_EQ(DecodeDetails(refused).reason(), kReasonDraining);
  gate_.Open();
  EXPECT_TRUE(running->Wait().ok());
  drain.join();
}

TEST_F(ServerErrorTest, JobsThatOutlastTheGracePeriodAreToldSo) {
  TestServer server(engine_, TightLimits());
  auto running = Start(server);
  gate_.WaitForArrivals(1);
  EXPECT_TRUE(server.server().Drain(milliseconds(1)).ok());
  const grpc::Status status = running->Wait();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
  EXPECT_EQ(DecodeDetails(status).reason(), kReasonDraining);
}

TEST_F(ServerErrorTest, StopJobsEndsAnyGrace) {
  TestServer server(engine_, TightLimits());
  auto running = Start(server);
  gate_.WaitForArrivals(1);
  std::thread drain([&] { EXPECT_TRUE(server.server().Drain(std::chrono::hours(1)).ok()); });
  server.server().StopJobs();
  EXPECT_EQ(running->Wait().error_code(), grpc::StatusCode::UNAVAILABLE);
  drain.join();
}

TEST_F(ServerErrorTest, ADeviceErrorIsInternalAndALostDeviceStopsAdmission) {
  engine_.on_run = [](std::stop_token) { return absl::InternalError("device error"); };
  TestServer server(engine_);
  const grpc::Status internal = Start(server)->Wait();
  EXPECT_EQ(internal.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(internal.error_message(), "device error");
  EXPECT_EQ(DecodeDetails(internal).reason(), kReasonInternal);
  engine_.healthy = false;
  EXPECT_EQ(Start(server)->Wait().error_code(), grpc::StatusCode::INTERNAL);
  const grpc::Status refused = Start(server)->Wait();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(DecodeDetails(refused).reason(), kReasonEngineLost);
}

// However an engine says that there is no memory; a job that no lane can hold is no such job.
TEST_F(ServerErrorTest, AJobWithoutMemoryIsWorthARetry) {
  const auto status_of = [this](std::function<absl::Status(std::stop_token)> run) {
    engine_.on_run = std::move(run);
    TestServer server(engine_);
    return Start(server)->Wait();
  };
  for (const grpc::Status& status :
       {status_of([](std::stop_token) -> absl::Status { throw std::bad_alloc(); }),
        status_of([](std::stop_token) { return absl::ResourceExhaustedError("no memory"); })}) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    const ErrorDetails details = DecodeDetails(status);
    EXPECT_EQ(details.reason(), kReasonOutOfMemory);
    ASSERT_TRUE(details.retry_info.has_value());
    EXPECT_EQ(details.retry_info->retry_delay().nanos(), 100'000'000);
  }
  const grpc::Status too_large =
      status_of([](std::stop_token) { return kernels::LargerThanALane("more than a lane holds"); });
  EXPECT_EQ(DecodeDetails(too_large).reason(), kReasonJobTooLarge);
  EXPECT_FALSE(DecodeDetails(too_large).retry_info.has_value());
}

TEST_F(ServerErrorTest, ARequestLargerThanAMessageIsRefused) {
  Limits limits;
  limits.message_bytes_max = kMessageBytesFloor;
  TestServer server(engine_, limits);
  v1::ReduceArrayRequest request = SmallReduction();
  request.mutable_array()->mutable_inline_array()->mutable_data()->assign(kMessageBytesFloor, 'x');
  grpc::ClientContext context;
  v1::ReduceArrayResponse response;
  const grpc::Status status = server.compute().ReduceArray(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

}  // namespace
}  // namespace gridfold::server
