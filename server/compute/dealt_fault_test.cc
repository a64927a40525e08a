// Requests on several devices when something goes wrong: a device that fails under load, callers
// that give up, tenants without room.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/base/error_reason.h"
#include "server/testing/array_caller.h"
#include "server/testing/array_service_fixture.h"
#include "server/testing/fake_engine.h"
#include "server/testing/test_server.h"
#include "server/testing/waiting.h"

namespace gridfold::server {
namespace {

constexpr uint64_t kElements = 3 * kShardUnitElements;
constexpr uint64_t kBytes = kElements * sizeof(int32_t);

class DealtFaultTest : public testing::Test {
 protected:
  static Limits TestLimits() {
    Limits limits;
    limits.lane_count = 1;
    limits.message_bytes_max = 1 * kMiB;
    limits.resident_bytes_max = 4 * kMiB;
    limits.tenant_resident_bytes_max = 2 * kBytes;
    limits.dealt_bytes_min = 1 * kKiB;
    return limits;
  }

  grpc::Status CreateSharded(ArrayCaller& caller, const std::string& name) {
    v1::CreateArrayRequest request;
    request.set_name(name);
    request.set_element_type(v1::ELEMENT_TYPE_INT32);
    request.add_shape(kElements);
    request.set_placement(v1::ARRAY_PLACEMENT_SHARDED);
    return caller.Create(request);
  }

  static v1::ReduceArrayRequest Sum(const v1::ArraySource& array) {
    v1::ReduceArrayRequest request;
    *request.mutable_array() = array;
    request.add_statistics(v1::STATISTIC_SUM);
    return request;
  }

  grpc::Status Compute(const v1::ReduceArrayRequest& request) {
    ArrayCaller caller(server_);
    return caller.Compute(request);
  }

  FakeEngine engines_[3];
  TestServer server_{{&engines_[0], &engines_[1], &engines_[2]}, TestLimits()};
  ArrayCaller caller_{server_};
};

TEST_F(DealtFaultTest, ADeviceThatFailsUnderLoadTakesOnlyWhatNeedsIt) {
  ASSERT_TRUE(CreateSharded(caller_, "sharded").ok());
  for (uint32_t device = 0; device < 3; ++device) {
    v1::CreateArrayRequest request;
    request.set_name("on-" + std::to_string(device));
    request.set_element_type(v1::ELEMENT_TYPE_INT32);
    request.add_shape(100);
    request.set_device(device);
    ASSERT_TRUE(caller_.Create(request).ok());
  }
  std::atomic<bool> has_failed = false;
  std::atomic<bool> ends = false;
  std::atomic<int> other_failures = 0;
  std::atomic<int> unnamed_failures = 0;
  std::atomic<int> answers_after_failure = 0;
  std::vector<std::jthread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&] {
      while (!ends) {
        const grpc::Status status = Compute(Sum(Resident("sharded")));
        if (status.ok()) continue;
        const std::string reason = DecodeDetails(status).reason();
        if (reason != kReasonEngineLost && reason != kReasonInternal) ++unnamed_failures;
      }
    });
    callers.emplace_back([&, i] {
      const std::string name = i == 1 ? "on-0" : "on-" + std::to_string(i);
      while (!ends) {
        const bool after_failure = has_failed;
        if (!Compute(Sum(Resident(name))).ok()) ++other_failures;
        if (after_failure) ++answers_after_failure;
      }
    });
  }
  engines_[1].on_run = [&](const std::stop_token&) {
    engines_[1].healthy = false;
    has_failed = true;
    return absl::InternalError("device error");
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (answers_after_failure < 100 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ends = true;
  callers.clear();
  EXPECT_GE(answers_after_failure, 100);
  EXPECT_EQ(other_failures, 0);
  EXPECT_EQ(unnamed_failures, 0);
  ExpectError(Compute(Sum(Resident("sharded"))), grpc::StatusCode::UNAVAILABLE, kReasonEngineLost);
  ExpectError(Compute(Sum(Resident("on-1"))), grpc::StatusCode::UNAVAILABLE, kReasonEngineLost);
  v1::ComputeHistogramRequest weighted;
  *weighted.mutable_array() = Resident("on-0");
  *weighted.mutable_weights() = Resident("on-1");
  weighted.add_bins()->mutable_integer()->set_bin_count(2);
  ExpectError(caller_.Compute(weighted), grpc::StatusCode::UNAVAILABLE, kReasonEngineLost);
  const auto sent = ArrayOf(v1::ELEMENT_TYPE_INT32, std::vector<int32_t>(10'000));
  EXPECT_TRUE(Compute(Sum(sent)).ok()) << "the other devices take its part";
  ASSERT_TRUE(caller_.Delete("sharded").ok());
  ASSERT_TRUE(CreateSharded(caller_, "next").ok());
  for (const v1::ArrayShard& shard : caller_.created.array().shards()) {
    EXPECT_NE(shard.device(), 1u);
  }
  EXPECT_TRUE(Compute(Sum(Resident("next"))).ok());
}

TEST_F(DealtFaultTest, ACallerThatGivesUpStopsAllParts) {
  Gate gate;
  for (FakeEngine& engine : engines_) {
    engine.on_run = [&gate](const std::stop_token& stop) { return gate.Pass(stop); };
  }
  ASSERT_TRUE(CreateSharded(caller_, "x").ok());
  const auto context = caller_.MakeContext();
  std::jthread caller([&] {
    v1::ReduceArrayResponse response;
    EXPECT_EQ(
        server_.compute().ReduceArray(context.get(), Sum(Resident("x")), &response).error_code(),
        grpc::StatusCode::CANCELLED);
  });
  gate.WaitForArrivals(3);
  context->TryCancel();
  caller.join();
  WaitFor([&] { return server_.GetStatistics().lanes_busy() == 0; });
  EXPECT_EQ(server_.GetStatistics().jobs_cancelled(), 3u);
}

TEST_F(DealtFaultTest, RoomIsTakenOnAllDevicesOrOnNone) {
  ASSERT_TRUE(CreateSharded(caller_, "a").ok());
  ASSERT_TRUE(CreateSharded(caller_, "b").ok());
  EXPECT_EQ(server_.GetStatistics().resident_bytes(), 2 * kBytes);
  ExpectError(CreateSharded(caller_, "c"), grpc::StatusCode::RESOURCE_EXHAUSTED, kReasonArrayQuota);
  EXPECT_EQ(server_.GetStatistics().resident_bytes(), 2 * kBytes);
  ArrayCaller other(server_, "other");
  EXPECT_TRUE(CreateSharded(other, "a").ok()) << "the quota is a tenant's";
  ExpectNotFound(Compute(Sum(Resident("c"))));
  ASSERT_TRUE(caller_.Delete("a").ok());
  EXPECT_TRUE(CreateSharded(caller_, "c").ok());
}

}  // namespace
}  // namespace gridfold::server
