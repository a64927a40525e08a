// Requests of a few bytes that ask for much work before anything is computed: it waits its turn in
// the queue like other work, and ends with its caller. Over a real socket.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "server/testing/array_service_fixture.h"
#include "server/testing/waiting.h"

namespace gridfold::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

// Some 100 ms of a processor each: edges are computed one by one.
v1::ComputeHistogramRequest ManyEdges() {
  v1::ComputeHistogramRequest request;
  *request.mutable_array() = ArrayOf<double>(v1::ELEMENT_TYPE_FLOAT64, {1, 2, 3});
  v1::LogarithmicBins& bins = *request.add_bins()->mutable_logarithmic();
  bins.set_bin_count(1 << 21);
  bins.set_lower_bound(1);
  bins.set_upper_bound(2);
  request.set_format(v1::HISTOGRAM_FORMAT_SPARSE);
  return request;
}

class PlanningTest : public testing::Test {
 protected:
  struct Call {
    Call() { context.AddMetadata("gridfold-tenant", "greedy"); }
    ~Call() {
      context.TryCancel();
      done.get_future().wait();
    }

    grpc::ClientContext context;
    v1::ComputeHistogramRequest request = ManyEdges();
    v1::ComputeHistogramResponse response;
    std::promise<void> done;
  };

  void SendMany(int count) {
    for (int i = 0; i < count; ++i) {
      Call& call = calls_.emplace_back();
      server_.compute().async()->ComputeHistogram(
          &call.context, &call.request, &call.response,
          [&call](const grpc::Status&) { call.done.set_value(); });
    }
  }

  // Of one of them that has the server for itself.
  Clock::duration TimeOfOne() {
    const auto begin = Clock::now();
    grpc::ClientContext context;
    v1::ComputeHistogramResponse response;
    const grpc::Status status =
        server_.compute().ComputeHistogram(&context, ManyEdges(), &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return Clock::now() - begin;
  }

  // Of one small call of another tenant.
  Clock::duration Latency() {
    const auto begin = Clock::now();
    grpc::ClientContext context;
    context.AddMetadata("gridfold-tenant", "modest");
    context.set_deadline(std::chrono::system_clock::now() + seconds(30));
    v1::ReduceArrayResponse response;
    const grpc::Status status =
        server_.compute().ReduceArray(&context, SmallReduction(), &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return Clock::now() - begin;
  }

  std::unique_ptr<kernels::Engine> engine_ =
      *kernels::CreateEngine({.kind = kernels::EngineKind::kCpu, .cpu_threads = 2});
  TestServer server_{*engine_, {.lane_count = 2}};
  std::deque<Call> calls_;
};

TEST_F(PlanningTest, ManyEdgesOfOneTenantLeaveAnotherOneAnswered) {
  const Clock::duration one = TimeOfOne();
  SendMany(64);
  WaitFor([&] { return server_.GetStatistics().jobs_queued() > 0; });
  // Never longer than a few of them take, on as many processors as there are.
  for (int i = 0; i < 5; ++i) EXPECT_LT(Latency(), 8 * one);
  EXPECT_GT(server_.GetStatistics().jobs_queued(), 30u) << "the test is too slow to tell";
}

TEST_F(PlanningTest, TheWorkEndsWithItsCaller) {
  const Clock::duration one = TimeOfOne();
  SendMany(64);
  WaitFor([&] { return server_.GetStatistics().jobs_queued() > 0; });
  calls_.clear();
  const auto begin = Clock::now();
  WaitFor([&] {
    const v1::GetStatisticsResponse statistics = server_.GetStatistics();
    return statistics.jobs_queued() == 0 && statistics.lanes_busy() == 0;
  });
  // Two lanes would need the time of 32 for all of them.
  EXPECT_LT(Clock::now() - begin, 16 * one);
}

// A header of a stream is as small, and may ask for as much.
TEST_F(PlanningTest, TheHeaderOfAStreamIsPlannedByItsFirstJob) {
  std::deque<grpc::ClientContext> contexts;
  std::deque<v1::HistogramStreamResponse> responses;
  std::vector<std::unique_ptr<grpc::ClientWriter<v1::HistogramStreamRequest>>> writers;
  v1::HistogramStreamRequest header;
  *header.mutable_request() = ManyEdges();
  header.mutable_request()->mutable_array()->mutable_streamed_array()->set_element_type(
      v1::ELEMENT_TYPE_FLOAT64);
  for (int i = 0; i < 40; ++i) {
    contexts.emplace_back().AddMetadata("gridfold-tenant", "greedy");
    writers.push_back(
        server_.compute().HistogramStream(&contexts.back(), &responses.emplace_back()));
    EXPECT_TRUE(writers.back()->Write(header));
  }
  const v1::GetStatisticsResponse statistics = server_.GetStatistics();
  EXPECT_EQ(statistics.lanes_busy(), 0u) << "nothing has come that could be computed on";
  EXPECT_LT(Latency(), seconds(2));
  for (grpc::ClientContext& context : contexts) context.TryCancel();
  for (auto& writer : writers) (void)writer->Finish();
}

}  // namespace
}  // namespace gridfold::server
