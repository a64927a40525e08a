// The main job, end to end: real data through a real socket, on each engine. The numbers are those
// of the data's own README, which come from NumPy and Python's math.fsum.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "server/testing/test_server.h"

namespace gridfold::server {
namespace {

using testing::ElementsAre;

// The elements of a one-dimensional .npy file of version 1, without looking at what they are.
std::string ReadNpy(const std::string& name) {
  std::ifstream file(std::string(GRIDFOLD_SAMPLE_DATA) + "/" + name, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(file), {}};
  if (content.size() < 10 || content.compare(0, 7, std::string("\x93NUMPY\x01", 7)) != 0) {
    ADD_FAILURE() << name << " is not an .npy file";
    return "";
  }
  uint16_t header_bytes = 0;
  std::memcpy(&header_bytes, content.data() + 8, sizeof(header_bytes));
  return content.substr(10 + header_bytes);
}

v1::ArraySource Flights(const std::string& name, v1::ElementType type) {
  v1::ArraySource source;
  source.mutable_inline_array()->set_element_type(type);
  *source.mutable_inline_array()->mutable_data() = ReadNpy(name);
  return source;
}

v1::ArraySource Delays() { return Flights("flight_delay_minutes.npy", v1::ELEMENT_TYPE_INT16); }
v1::ArraySource Distances() { return Flights("flight_distance_miles.npy", v1::ELEMENT_TYPE_INT16); }
v1::ArraySource Hours() { return Flights("flight_departure_hour.npy", v1::ELEMENT_TYPE_FLOAT32); }

class FlightDataTest : public testing::TestWithParam<kernels::EngineKind> {
 protected:
  void SetUp() override {
    if (GetParam() == kernels::EngineKind::kCuda && !kernels::CudaDeviceAvailable()) {
      GTEST_SKIP() << "there is no CUDA device";
    }
    auto engine = kernels::CreateEngine({.kind = GetParam(), .cpu_threads = 0, .cuda_device = 0});
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
    server_ = std::make_unique<TestServer>(*engine_);
  }

  // The values of the i-th statistic, of the kind that `Values` names.
  v1::ReduceArrayResponse Reduce(v1::ArraySource array, std::vector<v1::Statistic> statistics) {
    v1::ReduceArrayRequest request;
    *request.mutable_array() = std::move(array);
    request.mutable_statistics()->Add(statistics.begin(), statistics.end());
    grpc::ClientContext context;
    v1::ReduceArrayResponse response;
    const grpc::Status status = server_->compute().ReduceArray(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.results_size(), static_cast<int>(statistics.size()));
    EXPECT_EQ(response.group_count(), 1u);
    return response;
  }

  std::unique_ptr<kernels::Engine> engine_;
  std::unique_ptr<TestServer> server_;
};

int64_t Int64(const v1::ReduceArrayResponse& response, int i) {
  EXPECT_EQ(response.results(i).values().int64_values().values_size(), 1);
  return response.results(i).values().int64_values().values(0);
}
uint64_t Uint64(const v1::ReduceArrayResponse& response, int i) {
  EXPECT_EQ(response.results(i).values().uint64_values().values_size(), 1);
  return response.results(i).values().uint64_values().values(0);
}
double Double(const v1::ReduceArrayResponse& response, int i) {
  EXPECT_EQ(response.results(i).values().double_values().values_size(), 1);
  return response.results(i).values().double_values().values(0);
}

const std::vector<v1::Statistic> kSumAndExtremes = {v1::STATISTIC_SUM, v1::STATISTIC_MIN,
                                                    v1::STATISTIC_ARGMIN, v1::STATISTIC_MAX,
                                                    v1::STATISTIC_ARGMAX};

TEST_P(FlightDataTest, ReducesDelays) {
  std::vector<v1::Statistic> statistics = kSumAndExtremes;
  statistics.insert(statistics.end(), {v1::STATISTIC_COUNT, v1::STATISTIC_MEAN,
                                       v1::STATISTIC_VARIANCE, v1::STATISTIC_NONZERO_COUNT});
  const v1::ReduceArrayResponse response = Reduce(Delays(), statistics);
  for (size_t i = 0; i < statistics.size(); ++i) {
    EXPECT_EQ(response.results(static_cast<int>(i)).statistic(), statistics[i]);
  }
  EXPECT_EQ(Int64(response, 0), 1'500'159);
  EXPECT_EQ(Int64(response, 1), -86);
  EXPECT_EQ(Uint64(response, 2), 166'523u);
  EXPECT_EQ(Int64(response, 3), 1'444);
  EXPECT_EQ(Uint64(response, 4), 199'991u);
  EXPECT_EQ(Uint64(response, 5), 200'000u);
  EXPECT_EQ(Double(response, 6), 7.500795);
  EXPECT_DOUBLE_EQ(Double(response, 7), 1022.9571493679751);
  EXPECT_EQ(Uint64(response, 8), 192'070u);
}

TEST_P(FlightDataTest, ReducesDistances) {
  const v1::ReduceArrayResponse response = Reduce(Distances(), kSumAndExtremes);
  EXPECT_EQ(Int64(response, 0), 145'847'125);
  EXPECT_EQ(Int64(response, 1), 30);
  EXPECT_EQ(Uint64(response, 2), 141'145u);
  EXPECT_EQ(Int64(response, 3), 4'962);
  EXPECT_EQ(Uint64(response, 4), 33'028u);
}

TEST_P(FlightDataTest, ReducesHours) {
  const v1::ReduceArrayResponse response = Reduce(Hours(), kSumAndExtremes);
  EXPECT_EQ(Double(response, 0), 2755170.1662385147);
  EXPECT_EQ(Double(response, 1), 0.0);
  EXPECT_EQ(Uint64(response, 2), 0u);
  EXPECT_EQ(Double(response, 3), double{23.983334f});
  EXPECT_EQ(Uint64(response, 4), 199'974u);
}

TEST_P(FlightDataTest, TellsHowTheJobRan) {
  const v1::ReduceArrayResponse response = Reduce(Delays(), {v1::STATISTIC_SUM});
  const v1::ExecutionStatistics& execution = response.execution();
  EXPECT_EQ(execution.engine(), GetParam() == kernels::EngineKind::kCuda ? "cuda" : "cpu");
  EXPECT_FALSE(execution.strategy().empty());
  EXPECT_GE(execution.cluster_size(), 1u);
  EXPECT_GE(execution.bytes_read(), 400'000u);
  EXPECT_GT(execution.total_time().nanos(), 0);
  EXPECT_GT(execution.kernel_time().nanos(), 0);
  EXPECT_GE(execution.total_time().seconds() * 1'000'000'000 + execution.total_time().nanos(),
            execution.kernel_time().nanos());
}

TEST_P(FlightDataTest, CountsDelaysByBins) {
  v1::ComputeHistogramRequest request;
  *request.mutable_array() = Delays();
  v1::EvenBins& bins = *request.add_bins()->mutable_even();
  bins.set_bin_count(10);
  bins.set_lower_bound(-60);
  bins.set_upper_bound(140);
  grpc::ClientContext context;
  v1::ComputeHistogramResponse response;
  const grpc::Status status = server_->compute().ComputeHistogram(&context, request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(response.channels_size(), 1);
  const v1::HistogramCounts& counts = response.channels(0);
  EXPECT_THAT(counts.counts(),
              ElementsAre(328, 8724, 88704, 65394, 18184, 7857, 4157, 2410, 1401, 962));
  EXPECT_EQ(counts.underflow_count(), 13u);
  EXPECT_EQ(counts.overflow_count(), 1'866u);
  EXPECT_EQ(counts.nan_count(), 0u);
  EXPECT_EQ(counts.bin_indices_size(), 0);
  ASSERT_EQ(response.bins_size(), 1);
  EXPECT_EQ(response.bins(0).bin_count(), 10u);
  EXPECT_THAT(response.bins(0).edges(),
              ElementsAre(-60, -40, -20, 0, 20, 40, 60, 80, 100, 120, 140));
}

TEST_P(FlightDataTest, ScansDelays) {
  v1::ScanArrayRequest request;
  *request.mutable_array() = Delays();
  request.set_operation(v1::SCAN_OPERATION_SUM);
  grpc::ClientContext context;
  v1::ScanArrayResponse response;
  const grpc::Status status = server_->compute().ScanArray(&context, request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  const v1::InlineArray& array = response.inline_array();
  EXPECT_EQ(array.element_type(), v1::ELEMENT_TYPE_INT64);
  EXPECT_THAT(array.shape(), ElementsAre(200'000u));
  std::vector<int64_t> sums(200'000);
  ASSERT_EQ(array.data().size(), sums.size() * sizeof(int64_t));
  std::memcpy(sums.data(), array.data().data(), array.data().size());
  EXPECT_EQ(sums[0], 0);
  EXPECT_EQ(sums[1], 171);
  EXPECT_EQ(sums[9], 447);
  EXPECT_EQ(sums[999], 36'454);
  EXPECT_EQ(sums.back(), 1'500'159);
}

TEST_P(FlightDataTest, ReducesTheColumnsOfAMatrix) {
  v1::ReduceArrayRequest request;
  *request.mutable_array() = Delays();
  request.mutable_array()->mutable_inline_array()->add_shape(1000);
  request.mutable_array()->mutable_inline_array()->add_shape(200);
  request.mutable_grouping()->set_axis(0);
  request.add_statistics(v1::STATISTIC_SUM);
  grpc::ClientContext context;
  v1::ReduceArrayResponse response;
  const grpc::Status status = server_->compute().ReduceArray(&context, request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.group_count(), 200u);
  std::vector<int64_t> expected(200, 0);
  const std::string data = ReadNpy("flight_delay_minutes.npy");
  for (size_t i = 0; i < 200'000; ++i) {
    int16_t delay = 0;
    std::memcpy(&delay, data.data() + i * sizeof(delay), sizeof(delay));
    expected[i % 200] += delay;
  }
  EXPECT_THAT(response.results(0).values().int64_values().values(),
              testing::ElementsAreArray(expected));
}

INSTANTIATE_TEST_SUITE_P(Engines, FlightDataTest,
                         testing::Values(kernels::EngineKind::kCpu, kernels::EngineKind::kCuda),
                         [](const auto& tested) {
                           return tested.param == kernels::EngineKind::kCpu ? "Cpu" : "Cuda";
                         });

}  // namespace
}  // namespace gridfold::server
