// What tests of streams on one device and on several share.
#ifndef GRIDFOLD_SERVER_TESTING_DEVICE_STREAMS_FIXTURE_H_
#define GRIDFOLD_SERVER_TESTING_DEVICE_STREAMS_FIXTURE_H_

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "server/testing/devices_fixture.h"
#include "server/testing/stream_caller.h"

namespace gridfold::server {

// The parameter is the number of devices of `server_`.
class DeviceStreamsTest : public testing::TestWithParam<int> {
 protected:
  explicit DeviceStreamsTest(uint64_t seed) : random_(seed) {}

  static Limits StreamLimits() {
    Limits limits;
    limits.message_bytes_max = 1 * kMiB;
    limits.lane_count = 2;
    return limits;
  }

  // Expects that the stream of these messages ends with INVALID_ARGUMENT, which names the field and
  // has the text in its message.
  template <class Response, class Request>
  void ExpectStreamError(const std::vector<Request>& messages, const std::string& field,
                         const std::string& text) {
    Response response;
    const grpc::Status status = Send(server_, messages, response);
    ExpectInvalidField(status, field);
    EXPECT_NE(status.error_message().find(text), std::string::npos) << status.error_message();
  }

  std::mt19937_64 random_;

 private:
  Devices devices_{GetParam(), StreamLimits()};

 protected:
  TestServer& server_ = devices_.server();
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_DEVICE_STREAMS_FIXTURE_H_
