// What tests of requests on several devices share: servers with one, two and three devices, whose
// answers must have the same bits.
#ifndef GRIDFOLD_SERVER_TESTING_DEVICES_FIXTURE_H_
#define GRIDFOLD_SERVER_TESTING_DEVICES_FIXTURE_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "server/testing/array_service_fixture.h"

namespace gridfold::server {

// Virtual devices of the CPU engine, or GPUs where those are what is tested; none where there are
// not so many.
inline std::vector<std::unique_ptr<kernels::Engine>> MakeDevices(int count) {
  const char* const engine = std::getenv("GRIDFOLD_TEST_ENGINE");
  if (engine == nullptr || std::string_view(engine) != "cuda") {
    return *kernels::CreateEngines(
        {.kind = kernels::EngineKind::kCpu, .cpu_threads = count, .cpu_devices = count});
  }
  std::vector<int> gpus(static_cast<size_t>(count));
  std::iota(gpus.begin(), gpus.end(), 0);
  auto engines = kernels::CreateEngines({.kind = kernels::EngineKind::kCuda, .cuda_devices = gpus});
  if (!engines.ok()) return {};
  return *std::move(engines);
}

// A server with so many devices.
class Devices {
 public:
  // Everything of 4 KiB is dealt.
  explicit Devices(int count, uint64_t dealt_bytes_min = 4 * kKiB)
      : Devices(count, TestLimits(dealt_bytes_min)) {}
  Devices(int count, const Limits& limits)
      : engines_(MakeDevices(count)), server_(Pointers(), limits) {}

  ArrayCaller& caller() { return caller_; }
  TestServer& server() { return server_; }

 private:
  static Limits TestLimits(uint64_t dealt_bytes_min) {
    Limits limits;
    limits.lane_count = 2;
    limits.message_bytes_max = 8 * kMiB;
    limits.resident_bytes_max = 16 * kMiB;
    limits.regions_allowed = true;
    limits.dealt_bytes_min = dealt_bytes_min;
    return limits;
  }
  std::vector<kernels::Engine*> Pointers() const {
    std::vector<kernels::Engine*> pointers;
    for (const auto& engine : engines_) pointers.push_back(engine.get());
    return pointers;
  }

  std::vector<std::unique_ptr<kernels::Engine>> engines_;
  TestServer server_;
  ArrayCaller caller_{server_};
};

template <class Response>
std::string WithoutTimes(Response response) {
  response.clear_execution();
  return response.SerializeAsString();
}

inline v1::CreateArrayRequest NewSharded(const std::string& name, v1::ElementType type,
                                         const std::vector<uint64_t>& shape) {
  v1::CreateArrayRequest request;
  request.set_name(name);
  request.set_element_type(type);
  request.mutable_shape()->Add(shape.begin(), shape.end());
  request.set_placement(v1::ARRAY_PLACEMENT_SHARDED);
  return request;
}

class DevicesTest : public testing::Test {
 protected:
  // Elements of four units of shards, and a table.
  static constexpr uint64_t kCount = 3 * kShardUnitElements + 1000;
  static constexpr uint64_t kColumns = 13;
  static constexpr uint64_t kRows = 5000;

  void SetUp() override {
    if (MakeDevices(2).empty()) GTEST_SKIP() << "there are no two GPUs";
  }

  std::vector<float> Floats(size_t count) {
    std::vector<float> values(count);
    std::normal_distribution<float> normal(0, 1000);
    for (float& value : values) {
      value = normal(random_);
      if (random_() % 1000 == 0) value = std::numeric_limits<float>::infinity();
      if (random_() % 1000 == 0) value = NAN;
    }
    return values;
  }

  template <class T>
  static void PutSharded(Devices& devices, const std::string& name, v1::ElementType type,
                         const std::vector<uint64_t>& shape, const std::vector<T>& values) {
    const grpc::Status status = devices.caller().Create(NewSharded(name, type, shape));
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_TRUE(devices.caller().Write(name, {Chunk(0, BytesOf(values))}).ok());
  }

  static v1::ReduceArrayRequest Reduction(const v1::ArraySource& source, int grouping) {
    v1::ReduceArrayRequest request;
    *request.mutable_array() = source;
    for (const v1::Statistic statistic :
         {v1::STATISTIC_SUM, v1::STATISTIC_MIN, v1::STATISTIC_ARGMAX, v1::STATISTIC_VARIANCE,
          v1::STATISTIC_NAN_COUNT, v1::STATISTIC_L2_NORM}) {
      request.add_statistics(statistic);
    }
    request.set_nan_policy(v1::NAN_POLICY_IGNORE);
    if (grouping == 0 || grouping == 1) {
      request.mutable_grouping()->set_axis(static_cast<uint32_t>(grouping));
    }
    return request;
  }

  static v1::ComputeHistogramRequest Histogram(const v1::ArraySource& source, int kind) {
    v1::ComputeHistogramRequest request;
    *request.mutable_array() = source;
    auto& even = *request.add_bins()->mutable_even();
    even.set_bin_count(50);
    if (kind != 1) {
      even.set_lower_bound(-2000);
      even.set_upper_bound(2500);
    }
    if (kind == 2) request.set_format(v1::HISTOGRAM_FORMAT_SPARSE);
    if (kind < 2) request.add_quantiles(0.25);
    return request;
  }

  // The answers that `ask` gets from servers of one, two and three devices.
  static void ExpectSameBits(const std::function<std::string(Devices&)>& ask) {
    Devices one(1);
    const std::string expected = ask(one);
    EXPECT_FALSE(expected.empty());
    for (const int count : {2, 3}) {
      if (MakeDevices(count).empty()) continue;
      Devices several(count);
      EXPECT_EQ(ask(several), expected) << count << " devices";
    }
  }

  // The results in the answer; a new array, which is sharded too, has the same.
  static std::string ResultsOf(Devices& devices, v1::ScanArrayRequest request) {
    const auto scan = [&] {
      const grpc::Status status = devices.caller().Compute(request);
      EXPECT_TRUE(status.ok()) << status.error_message();
    };
    scan();
    const std::string results = devices.caller().scanned.inline_array().data();
    request.mutable_destination()->mutable_resident_array()->set_name("results");
    scan();
    EXPECT_EQ(devices.caller().ReadBytes(Resident("results")), results);
    EXPECT_TRUE(devices.caller().Delete("results").ok());
    return results;
  }
  // All of an array of which some was scanned in place.
  static std::string ScannedInPlace(Devices& devices, v1::ScanArrayRequest request,
                                    const std::string& name) {
    request.mutable_destination()->mutable_in_place();
    const grpc::Status status = devices.caller().Compute(request);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return devices.caller().ReadBytes(Resident(name));
  }

  static std::string Answer(Devices& devices, const v1::ReduceArrayRequest& request) {
    const grpc::Status status = devices.caller().Compute(request);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_GT(devices.caller().reduced.execution().device_count(), 0u);
    return WithoutTimes(devices.caller().reduced);
  }
  static std::string Answer(Devices& devices, const v1::ComputeHistogramRequest& request) {
    const grpc::Status status = devices.caller().Compute(request);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_GT(devices.caller().counted.execution().device_count(), 0u);
    return WithoutTimes(devices.caller().counted);
  }

  std::mt19937_64 random_{20261126};
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_DEVICES_FIXTURE_H_
