// What tests of ArrayService share: a server with little room, and words for its errors.
#ifndef GRIDFOLD_SERVER_TESTING_ARRAY_SERVICE_FIXTURE_H_
#define GRIDFOLD_SERVER_TESTING_ARRAY_SERVICE_FIXTURE_H_

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "server/base/error_reason.h"
#include "server/testing/array_caller.h"
#include "server/testing/test_server.h"

namespace gridfold::server {

inline constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

inline void ExpectError(const grpc::Status& status, grpc::StatusCode code,
                        const std::string& reason, const std::string& field = "") {
  EXPECT_EQ(status.error_code(), code) << status.error_message();
  const ErrorDetails details = DecodeDetails(status);
  EXPECT_EQ(details.reason(), reason) << status.error_message();
  EXPECT_EQ(details.field(), field) << status.error_message();
}
inline void ExpectInvalidField(const grpc::Status& status, const std::string& field) {
  ExpectError(status, grpc::StatusCode::INVALID_ARGUMENT, kReasonInvalidField, field);
}
inline void ExpectAboveLimit(const grpc::Status& status, const std::string& field) {
  ExpectError(status, grpc::StatusCode::INVALID_ARGUMENT, kReasonJobTooLarge, field);
}
inline void ExpectNotFound(const grpc::Status& status) {
  ExpectError(status, grpc::StatusCode::NOT_FOUND, kReasonArrayNotFound);
}

class ArrayServiceTest : public testing::Test {
 protected:
  static Limits TestLimits() {
    Limits limits;
    limits.message_bytes_max = 1 * kMiB;
    limits.bin_count_max = 1000;
    limits.group_count_max = 1000;
    limits.resident_bytes_max = 4 * kMiB;
    limits.tenant_resident_bytes_max = 3 * kMiB;
    limits.array_count_max = 300;
    limits.lane_count = 2;
    return limits;
  }

  // Room for an array that no connection takes in without being read from.
  static constexpr uint64_t kRoomyBytes = 64 * kMiB;
  static Limits RoomyLimits() {
    Limits limits = TestLimits();
    limits.resident_bytes_max = kRoomyBytes;
    limits.tenant_resident_bytes_max = kRoomyBytes;
    return limits;
  }

  std::vector<int32_t> Ramp(size_t count) {
    std::vector<int32_t> values(count);
    std::iota(values.begin(), values.end(), 1);
    return values;
  }

  std::unique_ptr<kernels::Engine> engine_ =
      *kernels::CreateEngine({.kind = kernels::EngineKind::kCpu, .cpu_threads = 2});
  TestServer server_{*engine_, TestLimits()};
  ArrayCaller caller_{server_};
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_ARRAY_SERVICE_FIXTURE_H_
