// A server with two engines, over sockets: where arrays and jobs go, and what is left when an
// engine is lost.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <numeric>

#include "server/base/error_reason.h"
#include "server/testing/array_caller.h"
#include "server/testing/array_service_fixture.h"
#include "server/testing/fake_engine.h"
#include "server/testing/test_server.h"

namespace gridfold::server {
namespace {

v1::CreateArrayRequest NewArray(const std::string& name, uint64_t count, int device = -1) {
  v1::CreateArrayRequest request;
  request.set_name(name);
  request.set_element_type(v1::ELEMENT_TYPE_INT32);
  request.add_shape(count);
  if (device >= 0) request.set_device(static_cast<uint32_t>(device));
  return request;
}

Limits TwoLanesEach() {
  Limits limits;
  limits.lane_count = 2;
  limits.message_bytes_max = 1 * kMiB;
  limits.resident_bytes_max = 1 * kMiB;
  return limits;
}

class SeveralEnginesTest : public testing::Test {
 protected:
  static std::unique_ptr<kernels::Engine> MakeEngine() {
    return *kernels::CreateEngine({.kind = kernels::EngineKind::kCpu, .cpu_threads = 1});
  }

  // An array of 1, 2, 3, ... on this device.
  void Put(const std::string& name, uint64_t count, int device) {
    const grpc::Status status = caller_.Create(NewArray(name, count, device));
    ASSERT_TRUE(status.ok()) << status.error_message();
    std::vector<int32_t> values(count);
    std::iota(values.begin(), values.end(), 1);
    ASSERT_TRUE(caller_.Write(name, {Chunk(0, BytesOf(values))}).ok());
  }

  std::unique_ptr<kernels::Engine> engines_[2] = {MakeEngine(), MakeEngine()};
  TestServer server_{{engines_[0].get(), engines_[1].get()}, TwoLanesEach()};
  ArrayCaller caller_{server_};
};

TEST_F(SeveralEnginesTest, TheServerTellsOfBoth) {
  grpc::ClientContext context;
  v1::GetServerInfoResponse info;
  ASSERT_TRUE(server_.server_service().GetServerInfo(&context, {}, &info).ok());
  EXPECT_EQ(info.devices_size(), 2);
  EXPECT_EQ(info.limits().lane_count(), 4u);
  EXPECT_EQ(info.limits().resident_bytes_max(), 2 * kMiB);
  EXPECT_EQ(info.limits().tenant_resident_bytes_max(), 2 * kMiB);
  EXPECT_EQ(server_.GetStatistics().lane_count(), 4u);
}

TEST_F(SeveralEnginesTest, ArraysGoWhereTheMostRoomIs) {
  const std::pair<uint64_t, uint32_t> sizes_and_devices[] = {
      {100'000, 0}, {50'000, 1}, {20'000, 1}, {40'000, 1}, {30'000, 0}};
  for (const auto& [count, device] : sizes_and_devices) {
    ASSERT_TRUE(caller_.Create(NewArray("", count)).ok());
    EXPECT_EQ(caller_.created.array().device(), device) << count;
  }
  EXPECT_FALSE(caller_.Create(NewArray("", kMiB / 4 + 1, 0)).ok()) << "device 0 is not so large";
}

TEST_F(SeveralEnginesTest, ADeviceThatDoesNotExistIsNamed) {
  ExpectInvalidField(caller_.Create(NewArray("x", 1, 2)), "device");
}

TEST_F(SeveralEnginesTest, OperationsRunWhereTheirArrayIs) {
  for (const int device : {0, 1}) {
    const std::string name = "x" + std::to_string(device);
    Put(name, 1000, device);
    ASSERT_TRUE(caller_.Get(name).ok());
    EXPECT_EQ(caller_.got.array().device(), static_cast<uint32_t>(device));
    v1::ReduceArrayRequest sum;
    *sum.mutable_array() = Resident(name);
    sum.add_statistics(v1::STATISTIC_SUM);
    ASSERT_TRUE(caller_.Compute(sum).ok());
    EXPECT_EQ(caller_.reduced.results(0).values().int64_values().values(0), 500'500);
    v1::ScanArrayRequest scan;
    *scan.mutable_array() = Resident(name);
    scan.set_operation(v1::SCAN_OPERATION_MAX);
    scan.mutable_destination()->mutable_resident_array()->set_name("of " + name);
    ExpectInvalidField(caller_.Compute(scan), "destination.resident_array.name");
    scan.mutable_destination()->mutable_resident_array()->set_name("of-" + name);
    const grpc::Status scanned = caller_.Compute(scan);
    ASSERT_TRUE(scanned.ok()) << scanned.error_message();
    EXPECT_EQ(caller_.scanned.resident_array().device(), static_cast<uint32_t>(device));
    EXPECT_EQ(caller_.ReadBytes(Resident("of-" + name)), caller_.ReadBytes(Resident(name)));
  }
}

class LostEngineTest : public testing::Test {
 protected:
  grpc::Status Reduce(const v1::ArraySource& array) {
    v1::ReduceArrayRequest request;
    *request.mutable_array() = array;
    request.add_statistics(v1::STATISTIC_SUM);
    return caller_.Compute(request);
  }
  v1::ArraySource Inline() { return ArrayOf<int32_t>(v1::ELEMENT_TYPE_INT32, {1, 2, 3}); }

  // As the standard health service has it: a HealthCheckResponse whose status is SERVING.
  bool Serving() {
    return CallRaw(server_.channel(), "/grpc.health.v1.Health/Check", "").message == "\x08\x01";
  }

  FakeEngine engines_[2];
  TestServer server_{{&engines_[0], &engines_[1]}, TwoLanesEach()};
  ArrayCaller caller_{server_};
};

TEST_F(LostEngineTest, TheServerGoesOnWithTheOther) {
  ASSERT_TRUE(caller_.Create(NewArray("lost", 10, 0)).ok());
  ASSERT_TRUE(caller_.Create(NewArray("kept", 100, 1)).ok());
  engines_[0].healthy = false;
  (void)Reduce(Resident("lost"));
  ExpectError(Reduce(Resident("lost")), grpc::StatusCode::UNAVAILABLE, kReasonEngineLost);
  EXPECT_TRUE(Reduce(Resident("kept")).ok());
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(Reduce(Inline()).ok());
  ASSERT_TRUE(caller_.Create(NewArray("new", 1000)).ok());
  EXPECT_EQ(caller_.created.array().device(), 1u);
  EXPECT_TRUE(caller_.Delete("lost").ok());
  EXPECT_TRUE(Serving());
  engines_[1].healthy = false;
  (void)Reduce(Inline());
  ExpectError(Reduce(Inline()), grpc::StatusCode::UNAVAILABLE, kReasonEngineLost);
  EXPECT_FALSE(Serving());
}

// Whatever comes after the operation that needs it, and needs none itself.
TEST_F(LostEngineTest, ABatchRunsWhereItsArrayLies) {
  ASSERT_TRUE(caller_.Create(NewArray("there", 10, 1)).ok());
  engines_[0].on_run = [](std::stop_token) { return absl::InternalError("the wrong engine"); };
  v1::BatchComputeRequest batch;
  v1::ReduceArrayRequest& reduction = *batch.add_operations()->mutable_reduction();
  *reduction.mutable_array() = Resident("there");
  reduction.add_statistics(v1::STATISTIC_SUM);
  v1::ComputeHistogramRequest& histogram = *batch.add_operations()->mutable_histogram();
  *histogram.mutable_array() = Inline();
  v1::EvenBins& bins = *histogram.add_bins()->mutable_even();
  bins.set_bin_count(3);
  bins.set_lower_bound(0);
  bins.set_upper_bound(3);
  grpc::ClientContext context;
  v1::BatchComputeResponse answer;
  const grpc::Status status = server_.compute().BatchCompute(&context, batch, &answer);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(answer.results(0).has_reduction()) << answer.results(0).DebugString();
  EXPECT_TRUE(answer.results(1).has_histogram()) << answer.results(1).DebugString();
}

}  // namespace
}  // namespace gridfold::server
