// RegionService over a real socket: regions are registered, listed and unregistered; what is
// refused, and by which words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "absl/strings/str_cat.h"
#include "server/testing/child_process.h"
#include "server/testing/region_service_fixture.h"

namespace gridfold::server {
namespace {

using testing::MatchesRegex;

TEST_F(RegionServiceTest, ARegionIsRegisteredListedAndUnregistered) {
  const SharedObject object(std::vector<int32_t>{1, 2, 3});
  ASSERT_TRUE(Register("x", object).ok());
  EXPECT_EQ(registered_.region().name(), "x");
  EXPECT_EQ(registered_.region().size_bytes(), 12u);
  EXPECT_EQ(registered_.region().idle_expiry().seconds(), 3600);
  ASSERT_TRUE(Register("", object).ok());
  EXPECT_THAT(registered_.region().name(), MatchesRegex("region-[0-9a-f]+"));
  ASSERT_TRUE(List(1).ok());
  ASSERT_EQ(listed_.regions_size(), 1);
  ASSERT_TRUE(List(1, listed_.next_page_token()).ok());
  EXPECT_EQ(listed_.regions(0).name(), "x");
  EXPECT_TRUE(listed_.next_page_token().empty());
  EXPECT_EQ(server_.GetStatistics().region_count(), 2u);
  EXPECT_EQ(server_.GetStatistics().region_bytes(), 24u);
  ASSERT_TRUE(Unregister("x").ok());
  ExpectNoRegion(Unregister("x"));
  EXPECT_EQ(server_.GetStatistics().region_count(), 1u);
}

TEST_F(RegionServiceTest, RegionsThatCannotBe) {
  const SharedObject object(100);
  const auto expect_field = [&](auto change, const std::string& field) {
    v1::RegisterRegionRequest request = Registration("x", object);
    change(request);
    ExpectInvalidField(Register(request), field);
  };
  using Request = v1::RegisterRegionRequest;
  expect_field([](Request& r) { r.set_name("two words"); }, "name");
  expect_field([](Request& r) { r.set_size_bytes(0); }, "size_bytes");
  expect_field([](Request& r) { r.set_size_bytes(101); }, "size_bytes");
  expect_field([](Request& r) { r.clear_source(); }, "source");
  for (const char* const name : {"", "/etc", "/gridfold-a/../b", "/gridfold-nobody-made-this"}) {
    expect_field([&](Request& r) { r.mutable_posix_shared_memory()->set_object_name(name); },
                 "posix_shared_memory.object_name");
  }
  expect_field([](Request& r) { r.mutable_idle_expiry()->set_seconds(0); }, "idle_expiry");
  expect_field([](Request& r) { r.mutable_idle_expiry()->set_seconds(1 << 30); }, "idle_expiry");
  expect_field([](Request& r) { r.set_owner_process_id(0xFFFF'FFFF); }, "owner_process_id");
  expect_field([](Request& r) { r.mutable_cuda_ipc()->set_handle("short"); }, "cuda_ipc.handle");
  expect_field(
      [](Request& r) {
        r.mutable_cuda_ipc()->set_handle(std::string(64, 'x'));
        r.mutable_cuda_ipc()->set_device(1);
      },
      "cuda_ipc.device");
  ExpectInvalidField(Unregister(""), "name");
  ExpectInvalidField(List(0, "no token"), "page_token");
  EXPECT_EQ(server_.GetStatistics().region_bytes(), 0u);
}

TEST_F(RegionServiceTest, EachErrorHasItsReason) {
  const SharedObject object(100);
  ASSERT_TRUE(Register("x", object).ok());
  ExpectError(Register("x", object), grpc::StatusCode::ALREADY_EXISTS, kReasonRegionExists);
  v1::RegisterRegionRequest request = Registration("y", object);
  request.set_size_bytes(kMax);
  ExpectError(Register(request), grpc::StatusCode::RESOURCE_EXHAUSTED, kReasonRegionQuota);
  request.mutable_cuda_ipc()->set_handle(std::string(64, 'x'));
  request.set_size_bytes(1);
  ExpectError(Register(request), grpc::StatusCode::FAILED_PRECONDITION, kReasonRegionUnsupported);
}

TEST_F(RegionServiceTest, AnotherTenantsRegionIsUnknown) {
  const SharedObject object(std::vector<int32_t>{1, 2, 3});
  ASSERT_TRUE(Register("x", object).ok());
  ArrayCaller other(server_, "other");
  ExpectNoRegion(other.Compute(Sum(InRegion("x", v1::ELEMENT_TYPE_INT32, 0, {3}))));
  v1::ListRegionsResponse listed;
  ASSERT_TRUE(server_.regions().ListRegions(other.MakeContext().get(), {}, &listed).ok());
  EXPECT_EQ(listed.regions_size(), 0);
  v1::UnregisterRegionRequest request;
  request.set_name("x");
  v1::UnregisterRegionResponse response;
  ExpectNoRegion(server_.regions().UnregisterRegion(other.MakeContext().get(), request, &response));
  EXPECT_TRUE(caller_.Compute(Sum(InRegion("x", v1::ELEMENT_TYPE_INT32, 0, {3}))).ok());
}

TEST_F(RegionServiceTest, AnIdleRegionGoes) {
  const SharedObject object(100);
  v1::RegisterRegionRequest request = Registration("x", object);
  request.mutable_idle_expiry()->set_nanos(20'000'000);
  ASSERT_TRUE(Register(request).ok());
  // Nobody asks for it.
  while (server_.GetStatistics().region_bytes() > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ExpectNoRegion(Unregister("x"));
}

TEST_F(RegionServiceTest, ARegionGoesWithItsOwner) {
  const SharedObject object(100);
  ChildProcess child;
  v1::RegisterRegionRequest request = Registration("x", object);
  request.set_owner_process_id(child.id());
  ASSERT_TRUE(Register(request).ok());
  ASSERT_TRUE(List().ok());
  EXPECT_EQ(listed_.regions(0).owner_process_id(), child.id());
  child.Kill();
  while (server_.GetStatistics().region_bytes() > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ExpectNoRegion(Unregister("x"));
  ExpectInvalidField(Register(request), "owner_process_id");
}

TEST_F(RegionServiceTest, BytesThatAreNoMessage) {
  for (const char* const method : {"RegisterRegion", "UnregisterRegion", "ListRegions"}) {
    const grpc::Status status =
        CallRaw(server_.channel(), absl::StrCat("/gridfold.v1.RegionService/", method),
                "\xFF\xFF\xFF")
            .status;
    ExpectError(status, grpc::StatusCode::INVALID_ARGUMENT, kReasonInvalidRequest);
  }
}

TEST_F(RegionServiceTest, WhereRegionsAreOff) {
  Limits limits = RegionLimits();
  limits.regions_allowed = false;
  TestServer server(*engine_, limits);
  const auto expect_disabled = [](const grpc::Status& status) {
    ExpectError(status, grpc::StatusCode::FAILED_PRECONDITION, kReasonRegionsDisabled);
    EXPECT_THAT(status.error_message(), testing::HasSubstr("--allow-regions"));
  };
  const SharedObject object(100);
  grpc::ClientContext contexts[3];
  v1::RegisterRegionResponse registered;
  expect_disabled(
      server.regions().RegisterRegion(&contexts[0], Registration("x", object), &registered));
  v1::UnregisterRegionResponse unregistered;
  expect_disabled(server.regions().UnregisterRegion(&contexts[1], {}, &unregistered));
  v1::ListRegionsResponse listed;
  expect_disabled(server.regions().ListRegions(&contexts[2], {}, &listed));
  ArrayCaller caller(server);
  expect_disabled(caller.Compute(Sum(InRegion("x", v1::ELEMENT_TYPE_INT8, 0, {1}))));
  v1::ScanArrayRequest scan;
  *scan.mutable_array() = ArrayOf<int8_t>(v1::ELEMENT_TYPE_INT8, {1});
  scan.set_operation(v1::SCAN_OPERATION_SUM);
  scan.mutable_destination()->mutable_region()->set_name("x");
  expect_disabled(caller.Compute(scan));
}

}  // namespace
}  // namespace gridfold::server
