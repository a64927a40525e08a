// Arrays that stay in the transport's buffers, over a real socket: frames cut them inside of
// elements, and the answers are those of resident arrays, which lie in one piece, bit for bit.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "server/testing/array_caller.h"
#include "server/testing/test_server.h"

namespace gridfold::server {
namespace {

constexpr uint64_t kRows = 311;
constexpr uint64_t kColumns = 257;
constexpr uint64_t kCount = kRows * kColumns;  // 600 KB of float64: some forty frames.

class DetachedArrayTest : public testing::Test {
 protected:
  static Limits TestLimits() {
    Limits limits;
    limits.message_bytes_max = 8 * kMiB;
    limits.bin_count_max = 10'000;
    limits.group_count_max = 10'000;
    limits.resident_bytes_max = 8 * kMiB;
    limits.lane_count = 2;
    return limits;
  }

  void SetUp() override {
    for (const char* const name : {"x", "y", "w"}) {
      std::vector<double> values(kCount);
      std::normal_distribution<double> normal(0, 1000);
      for (double& value : values) value = normal(random_);
      caller_.Put(name, v1::ELEMENT_TYPE_FLOAT64, {kRows, kColumns}, values);
      v1::ArraySource& source = inline_arrays_.emplace_back();
      source = ArrayOf(v1::ELEMENT_TYPE_FLOAT64, values);
      source.mutable_inline_array()->add_shape(kRows);
      source.mutable_inline_array()->add_shape(kColumns);
    }
  }

  // What the same request answers with resident arrays and with inline ones, without times.
  template <class Request, class Response>
  void ExpectSameAnswers(Request request, Response& answer) {
    *request.mutable_array() = Resident("x");
    ASSERT_TRUE(caller_.Compute(request).ok());
    answer.clear_execution();
    const Response resident = answer;
    *request.mutable_array() = inline_arrays_[0];
    ASSERT_TRUE(caller_.Compute(request).ok());
    answer.clear_execution();
    EXPECT_TRUE(resident.SerializeAsString() == answer.SerializeAsString());
  }

  std::mt19937_64 random_{20261122};
  std::vector<v1::ArraySource> inline_arrays_;
  std::unique_ptr<kernels::Engine> engine_ =
      *kernels::CreateEngine({.kind = kernels::EngineKind::kCpu, .cpu_threads = 2});
  TestServer server_{*engine_, TestLimits()};
  ArrayCaller caller_{server_};
};

TEST_F(DetachedArrayTest, Reductions) {
  v1::ReduceArrayRequest request;
  for (const v1::Statistic statistic :
       {v1::STATISTIC_SUM, v1::STATISTIC_ARGMAX, v1::STATISTIC_VARIANCE, v1::STATISTIC_PRODUCT}) {
    request.add_statistics(statistic);
  }
  ExpectSameAnswers(request, caller_.reduced);
  for (const uint32_t axis : {0, 1}) {
    request.mutable_grouping()->set_axis(axis);
    ExpectSameAnswers(request, caller_.reduced);
  }
  request.mutable_statistics()->RemoveLast();
  request.set_return_accumulator(true);
  ExpectSameAnswers(request, caller_.reduced);
}

TEST_F(DetachedArrayTest, Scans) {
  v1::ScanArrayRequest request;
  request.set_operation(v1::SCAN_OPERATION_SUM);
  for (const bool exact : {false, true}) {
    request.set_exact(exact);
    ExpectSameAnswers(request, caller_.scanned);
    EXPECT_EQ(caller_.scanned.inline_array().data().size(), kCount * sizeof(double));
  }
  request.mutable_grouping()->set_axis(0);
  request.set_direction(v1::SCAN_DIRECTION_REVERSE);
  ExpectSameAnswers(request, caller_.scanned);
}

TEST_F(DetachedArrayTest, HistogramsOfThreeArrays) {
  v1::ComputeHistogramRequest request;
  for (int dimension = 0; dimension < 2; ++dimension) {
    request.add_bins()->mutable_even()->set_bin_count(20);
  }
  *request.mutable_array() = Resident("x");
  *request.mutable_y_array() = Resident("y");
  *request.mutable_weights() = Resident("w");
  ASSERT_TRUE(caller_.Compute(request).ok());
  caller_.counted.clear_execution();
  const v1::ComputeHistogramResponse resident = caller_.counted;
  *request.mutable_array() = inline_arrays_[0];
  *request.mutable_y_array() = inline_arrays_[1];
  *request.mutable_weights() = inline_arrays_[2];
  ASSERT_TRUE(caller_.Compute(request).ok());
  caller_.counted.clear_execution();
  EXPECT_TRUE(resident.SerializeAsString() == caller_.counted.SerializeAsString());
}

TEST_F(DetachedArrayTest, BatchesOfLargeAndSmallArrays) {
  v1::BatchComputeRequest request;
  v1::ScanArrayRequest& scan = *request.add_operations()->mutable_scan();
  scan.set_operation(v1::SCAN_OPERATION_SUM);
  *scan.mutable_array() = inline_arrays_[0];
  // As large as what stands for detached data.
  v1::ReduceArrayRequest& small = *request.add_operations()->mutable_reduction();
  *small.mutable_array() = ArrayOf(v1::ELEMENT_TYPE_UINT8, std::vector<uint8_t>{0, 0, 0, 0, 7});
  small.add_statistics(v1::STATISTIC_SUM);
  v1::ReduceArrayRequest& large = *request.add_operations()->mutable_reduction();
  *large.mutable_array() = inline_arrays_[1];
  large.add_statistics(v1::STATISTIC_SUM);
  grpc::ClientContext context;
  v1::BatchComputeResponse response;
  ASSERT_TRUE(server_.compute().BatchCompute(&context, request, &response).ok());
  ASSERT_TRUE(caller_.Compute(scan).ok());
  EXPECT_TRUE(response.results(0).scan().inline_array().data() ==
              caller_.scanned.inline_array().data());
  EXPECT_EQ(response.results(1).reduction().results(0).values().uint64_values().values(0), 7u);
  ASSERT_TRUE(caller_.Compute(large).ok());
  EXPECT_EQ(response.results(2).reduction().results(0).values().double_values().values(0),
            caller_.reduced.results(0).values().double_values().values(0));
}

// What bytes there are is said of those that were detached, too.
TEST_F(DetachedArrayTest, DataThatIsNotWholeElements) {
  v1::ReduceArrayRequest request;
  *request.mutable_array() = inline_arrays_[0];
  request.mutable_array()->mutable_inline_array()->mutable_data()->pop_back();
  request.add_statistics(v1::STATISTIC_SUM);
  const grpc::Status status = caller_.Compute(request);
  EXPECT_EQ(DecodeDetails(status).field(), "array.inline_array.data");
  EXPECT_NE(status.error_message().find("639415 bytes are not a multiple of the 8 bytes"),
            std::string::npos)
      << status.error_message();
}

// Of data that comes twice the last counts, be it large or small.
TEST_F(DetachedArrayTest, DataThatComesTwice) {
  v1::ReduceArrayRequest request;
  request.add_statistics(v1::STATISTIC_SUM);
  *request.mutable_array() = ArrayOf(v1::ELEMENT_TYPE_INT32, std::vector<int32_t>(100'000, 3));
  const std::string large = request.SerializeAsString();
  *request.mutable_array() = ArrayOf(v1::ELEMENT_TYPE_INT32, std::vector<int32_t>{5});
  request.clear_statistics();
  const std::string small = request.SerializeAsString();
  for (const auto& [bytes, sum] :
       {std::pair{large + small, 5}, std::pair{small + large, 300'000}}) {
    const RawAnswer answer =
        CallRaw(server_.channel(), "/gridfold.v1.ComputeService/ReduceArray", bytes);
    ASSERT_TRUE(answer.status.ok()) << answer.status.error_message();
    v1::ReduceArrayResponse response;
    ASSERT_TRUE(response.ParseFromString(answer.message));
    EXPECT_EQ(response.results(0).values().int64_values().values(0), sum);
  }
}

}  // namespace
}  // namespace gridfold::server
