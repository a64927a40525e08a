// What tests of the streams of ComputeService share: a server with little room, and data.
#ifndef GRIDFOLD_SERVER_TESTING_COMPUTE_STREAM_FIXTURE_H_
#define GRIDFOLD_SERVER_TESTING_COMPUTE_STREAM_FIXTURE_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "kernels/contract/engine.h"
#include "server/testing/stream_caller.h"
#include "server/testing/test_server.h"

namespace gridfold::server {

class ComputeStreamFixture : public testing::Test {
 protected:
  static Limits TestLimits() {
    Limits limits;
    limits.message_bytes_max = 1 * kMiB;
    limits.bin_count_max = 100'000;
    limits.group_count_max = 10'000;
    limits.lane_count = 2;
    limits.stream_count_max = 8;
    return limits;
  }

  std::vector<float> RandomFloats(size_t count) {
    std::vector<float> values(count);
    for (float& x : values) {
      x = std::ldexp(static_cast<float>(static_cast<int32_t>(random_())),
                     static_cast<int>(random_() % 60) - 60);
    }
    return values;
  }

  static v1::ReduceArrayRequest SumOf(v1::ElementType type) {
    v1::ReduceArrayRequest request;
    *request.mutable_array() = Streamed(type);
    request.add_statistics(v1::STATISTIC_SUM);
    return request;
  }

  std::mt19937_64 random_{20261121};
  std::unique_ptr<kernels::Engine> engine_ =
      *kernels::CreateEngine({.kind = kernels::EngineKind::kCpu, .cpu_threads = 2});
  TestServer server_{*engine_, TestLimits()};
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_COMPUTE_STREAM_FIXTURE_H_
