// Small reductions of many callers at once: they share launches, and every caller has the answer to
// its own question. Over real sockets.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "server/testing/array_caller.h"
#include "server/testing/fake_engine.h"
#include "server/testing/test_server.h"

namespace gridfold::server {
namespace {

constexpr int kConnectionCount = 64;
constexpr int kCallsPerConnection = 100;

// Calls over a connection of its own, and knows the exact answers.
class Caller {
 public:
  Caller(int port, uint32_t seed) : random_(seed) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    stub_ = v1::ComputeService::NewStub(grpc::CreateCustomChannel(
        "127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials(), arguments));
  }

  void Call() {
    std::vector<int32_t> values(random_() % 2000 + 1);
    for (int32_t& value : values) value = static_cast<int32_t>(random_() % 2001) - 1000;
    switch (random_() % 4) {
      case 0: return CheckSum(values);
      case 1: return CheckExtremes(values);
      case 2: return CheckOverflow();
      default: return CheckMean(values);
    }
  }

 private:
  bool Reduce(const v1::ArraySource& array, std::initializer_list<v1::Statistic> statistics,
              grpc::StatusCode code = grpc::StatusCode::OK) {
    v1::ReduceArrayRequest request;
    *request.mutable_array() = array;
    for (const v1::Statistic statistic : statistics) request.add_statistics(statistic);
    grpc::ClientContext context;
    // So many connections at once may not all succeed at the first attempt.
    context.set_wait_for_ready(true);
    const grpc::Status status = stub_->ReduceArray(&context, request, &response_);
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    return status.ok();
  }

  int64_t Integer(int index) const {
    return response_.results(index).values().int64_values().values(0);
  }

  void CheckSum(const std::vector<int32_t>& values) {
    int64_t sum = 0;
    for (const int32_t value : values) sum += value;
    if (!Reduce(ArrayOf(v1::ELEMENT_TYPE_INT32, values), {v1::STATISTIC_SUM})) return;
    EXPECT_EQ(response_.results_size(), 1);
    EXPECT_EQ(Integer(0), sum);
  }

  void CheckExtremes(const std::vector<int32_t>& values) {
    const auto [min, max] = std::minmax_element(values.begin(), values.end());
    const auto first_min = std::min_element(values.begin(), values.end()) - values.begin();
    if (!Reduce(ArrayOf(v1::ELEMENT_TYPE_INT32, values),
                {v1::STATISTIC_MAX, v1::STATISTIC_ARGMIN, v1::STATISTIC_MIN})) {
      return;
    }
    EXPECT_EQ(Integer(0), *max);
    EXPECT_EQ(response_.results(1).values().uint64_values().values(0),
              static_cast<uint64_t>(first_min));
    EXPECT_EQ(Integer(2), *min);
  }

  // Integers, so that the sum of so few is exact in float64.
  void CheckMean(const std::vector<int32_t>& values) {
    double sum = 0;
    for (const int32_t value : values) sum += value;
    const std::vector<float> floats(values.begin(), values.end());
    if (!Reduce(ArrayOf(v1::ELEMENT_TYPE_FLOAT32, floats), {v1::STATISTIC_MEAN})) return;
    EXPECT_EQ(response_.results(0).values().double_values().values(0),
              sum / static_cast<double>(values.size()));
  }

  void CheckOverflow() {
    Reduce(ArrayOf<int64_t>(v1::ELEMENT_TYPE_INT64, {std::numeric_limits<int64_t>::max(), 1}),
           {v1::STATISTIC_SUM}, grpc::StatusCode::OUT_OF_RANGE);
  }

  std::mt19937 random_;
  std::unique_ptr<v1::ComputeService::Stub> stub_;
  v1::ReduceArrayResponse response_;
};

TEST(JobBatchTest, EveryCallerHasItsOwnAnswer) {
  const auto engine = *kernels::CreateEngine({.kind = kernels::EngineKind::kCpu, .cpu_threads = 2});
  Limits limits;
  limits.lane_count = 1;
  TestServer server(*engine, limits);
  {
    std::vector<std::jthread> threads;
    for (uint32_t i = 0; i < kConnectionCount; ++i) {
      threads.emplace_back([&, i] {
        Caller caller(server.server().port(), i);
        for (int call = 0; call < kCallsPerConnection; ++call) caller.Call();
      });
    }
  }
  const v1::GetStatisticsResponse statistics = server.GetStatistics();
  EXPECT_EQ(statistics.jobs_accepted(), uint64_t{kConnectionCount} * kCallsPerConnection);
  EXPECT_EQ(statistics.jobs_cancelled(), 0u);
}

// What the answers say of how they came to be.
TEST(JobBatchTest, AnswersTellThatALaunchWasShared) {
  FakeEngine engine;
  Gate gate;
  engine.on_run = [&](std::stop_token stop) { return gate.Pass(std::move(stop)); };
  Limits limits;
  limits.lane_count = 1;
  TestServer server(engine, limits);
  const auto call = [&](v1::ReduceArrayResponse& response) {
    grpc::ClientContext context;
    EXPECT_TRUE(server.compute().ReduceArray(&context, SmallReduction(), &response).ok());
  };
  v1::ReduceArrayResponse first;
  std::vector<v1::ReduceArrayResponse> responses(10);
  {
    std::vector<std::jthread> threads;
    threads.emplace_back([&] { call(first); });
    gate.WaitForArrivals(1);
    for (v1::ReduceArrayResponse& response : responses) {
      threads.emplace_back([&] { call(response); });
    }
    while (server.GetStatistics().jobs_queued() < responses.size()) std::this_thread::yield();
    gate.Open();
  }
  EXPECT_EQ(first.execution().strategy(), "fake");
  for (const v1::ReduceArrayResponse& response : responses) {
    EXPECT_EQ(response.execution().strategy(), "reduce/batch");
    EXPECT_EQ(response.execution().bytes_read(), 3 * sizeof(int32_t));
    EXPECT_TRUE(response.execution().has_queue_time());
    EXPECT_EQ(response.results_size(), 1);
  }
}

}  // namespace
}  // namespace gridfold::server
