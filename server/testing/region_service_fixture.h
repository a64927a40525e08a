// What tests of regions share: a server on the CPU engine that allows them, and calls to it.
#ifndef GRIDFOLD_SERVER_TESTING_REGION_SERVICE_FIXTURE_H_
#define GRIDFOLD_SERVER_TESTING_REGION_SERVICE_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "server/testing/array_service_fixture.h"
#include "server/testing/shared_object.h"

namespace gridfold::server {

// An array in a region as an operation's input.
inline v1::ArraySource InRegion(const std::string& name, v1::ElementType type,
                                uint64_t offset_bytes, const std::vector<uint64_t>& shape) {
  v1::ArraySource source;
  v1::RegionSlice& slice = *source.mutable_region_slice();
  slice.set_name(name);
  slice.set_element_type(type);
  slice.set_offset_bytes(offset_bytes);
  slice.mutable_shape()->Add(shape.begin(), shape.end());
  return source;
}

inline Limits RegionLimits() {
  Limits limits;
  limits.message_bytes_max = 1 * kMiB;
  limits.bin_count_max = 1000;
  limits.group_count_max = 1000;
  limits.resident_bytes_max = 4 * kMiB;
  limits.lane_count = 2;
  limits.regions_allowed = true;
  limits.region_count_max = 8;
  limits.region_bytes_max = 128 * kMiB;
  return limits;
}

class RegionServiceTest : public testing::Test {
 protected:
  static v1::RegisterRegionRequest Registration(const std::string& name,
                                                const SharedObject& object) {
    v1::RegisterRegionRequest request;
    request.set_name(name);
    request.set_size_bytes(object.size_bytes());
    request.mutable_posix_shared_memory()->set_object_name(object.name());
    return request;
  }

  grpc::Status Register(const v1::RegisterRegionRequest& request) {
    return server_.regions().RegisterRegion(caller_.MakeContext().get(), request, &registered_);
  }
  grpc::Status Register(const std::string& name, const SharedObject& object) {
    return Register(Registration(name, object));
  }
  grpc::Status Unregister(const std::string& name) {
    v1::UnregisterRegionRequest request;
    request.set_name(name);
    v1::UnregisterRegionResponse response;
    return server_.regions().UnregisterRegion(caller_.MakeContext().get(), request, &response);
  }
  grpc::Status List(uint32_t page_size = 0, const std::string& page_token = "") {
    v1::ListRegionsRequest request;
    request.set_page_size(page_size);
    request.set_page_token(page_token);
    return server_.regions().ListRegions(caller_.MakeContext().get(), request, &listed_);
  }

  // A sum of what the source holds.
  static v1::ReduceArrayRequest Sum(const v1::ArraySource& source) {
    v1::ReduceArrayRequest request;
    *request.mutable_array() = source;
    request.add_statistics(v1::STATISTIC_SUM);
    return request;
  }

  static void ExpectNoRegion(const grpc::Status& status) {
    ExpectError(status, grpc::StatusCode::NOT_FOUND, kReasonRegionNotFound);
  }

  std::unique_ptr<kernels::Engine> engine_ =
      *kernels::CreateEngine({.kind = kernels::EngineKind::kCpu, .cpu_threads = 2});
  TestServer server_{*engine_, RegionLimits()};
  ArrayCaller caller_{server_};
  // The last answers.
  v1::RegisterRegionResponse registered_;
  v1::ListRegionsResponse listed_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_REGION_SERVICE_FIXTURE_H_
