// Operations on resident arrays over a real socket: the answers of inline requests, bit for bit;
// and scans whose results stay on the server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "server/base/error_reason.h"
#include "server/testing/array_caller.h"
#include "server/testing/test_server.h"

namespace gridfold::server {
namespace {

using testing::ElementsAre;

class ResidentComputeTest : public testing::Test {
 protected:
  static Limits TestLimits() {
    Limits limits;
    limits.message_bytes_max = 1 * kMiB;
    limits.bin_count_max = 10'000;
    limits.group_count_max = 10'000;
    limits.resident_bytes_max = 8 * kMiB;
    limits.lane_count = 2;
    return limits;
  }

  // So that floating-point sums round, and their order would show.
  std::vector<float> Floats(size_t count) {
    std::vector<float> values(count);
    std::normal_distribution<float> normal(0, 1000);
    for (float& value : values) value = normal(random_);
    return values;
  }

  template <class T>
  static std::vector<T> Part(const std::vector<T>& values, uint64_t first, uint64_t count) {
    const auto begin = values.begin() + static_cast<ptrdiff_t>(first);
    return {begin, begin + static_cast<ptrdiff_t>(count)};
  }

  template <class Response>
  static std::string WithoutTimes(Response response) {
    response.clear_execution();
    return response.DebugString();
  }

  void ExpectInvalidField(const grpc::Status& status, const std::string& field) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
    EXPECT_EQ(DecodeDetails(status).field(), field) << status.error_message();
  }

  v1::ScanArrayRequest Scan(const v1::ArraySource& source) {
    v1::ScanArrayRequest request;
    *request.mutable_array() = source;
    request.set_operation(v1::SCAN_OPERATION_SUM);
    return request;
  }

  std::mt19937 random_{20261121};
  std::unique_ptr<kernels::Engine> engine_ =
      *kernels::CreateEngine({.kind = kernels::EngineKind::kCpu, .cpu_threads = 2});
  TestServer server_{*engine_, TestLimits()};
  ArrayCaller caller_{server_};
};

TEST_F(ResidentComputeTest, SlicesHaveTheAnswersOfInlineArrays) {
  const std::vector<float> values = Floats(50'000);
  const std::vector<float> weights = Floats(50'000);
  caller_.Put("x", v1::ELEMENT_TYPE_FLOAT32, {values.size()}, values);
  caller_.Put("w", v1::ELEMENT_TYPE_FLOAT32, {weights.size()}, weights);
  for (int round = 0; round < 20; ++round) {
    const uint64_t count = random_() % 20'000 + 1;
    const uint64_t first = random_() % (values.size() - count);
    const uint64_t first_weight = random_() % (values.size() - count);
    const v1::ArraySource slice = Resident("x", first, count);
    const v1::ArraySource inlined = ArrayOf(v1::ELEMENT_TYPE_FLOAT32, Part(values, first, count));

    v1::ReduceArrayRequest reduce;
    for (int s = v1::STATISTIC_COUNT; s <= v1::STATISTIC_ANY; ++s) {
      if (s != v1::STATISTIC_PRODUCT) reduce.add_statistics(static_cast<v1::Statistic>(s));
    }
    reduce.set_return_accumulator(round % 2 == 0);
    *reduce.mutable_array() = slice;
    ASSERT_TRUE(caller_.Compute(reduce).ok());
    const std::string reduced = WithoutTimes(caller_.reduced);
    *reduce.mutable_array() = inlined;
    ASSERT_TRUE(caller_.Compute(reduce).ok());
    EXPECT_EQ(reduced, WithoutTimes(caller_.reduced));

    v1::ScanArrayRequest scan = Scan(slice);
    scan.set_exact(round % 2 == 0);
    ASSERT_TRUE(caller_.Compute(scan).ok());
    const std::string scanned = caller_.scanned.inline_array().data();
    *scan.mutable_array() = inlined;
    ASSERT_TRUE(caller_.Compute(scan).ok());
    EXPECT_TRUE(scanned == caller_.scanned.inline_array().data());

    v1::ComputeHistogramRequest histogram;
    histogram.add_bins()->mutable_even()->set_bin_count(50);
    *histogram.mutable_array() = slice;
    *histogram.mutable_weights() = Resident("w", first_weight, count);
    ASSERT_TRUE(caller_.Compute(histogram).ok());
    const std::string counted = WithoutTimes(caller_.counted);
    *histogram.mutable_array() = inlined;
    ASSERT_TRUE(caller_.Compute(histogram).ok()) << "one of them inline";
    EXPECT_EQ(counted, WithoutTimes(caller_.counted));
    *histogram.mutable_weights() =
        ArrayOf(v1::ELEMENT_TYPE_FLOAT32, Part(weights, first_weight, count));
    ASSERT_TRUE(caller_.Compute(histogram).ok());
    EXPECT_EQ(counted, WithoutTimes(caller_.counted));
  }
}

TEST_F(ResidentComputeTest, ASliceOfAMatrixIsARangeOfRows) {
  std::vector<int32_t> values(60);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int32_t>(i);
  caller_.Put("m", v1::ELEMENT_TYPE_INT32, {20, 3}, values);
  v1::ReduceArrayRequest request;
  request.add_statistics(v1::STATISTIC_SUM);
  request.mutable_grouping()->set_axis(0);
  *request.mutable_array() = Resident("m", 4, 2);
  ASSERT_TRUE(caller_.Compute(request).ok());
  EXPECT_THAT(caller_.reduced.results(0).values().int64_values().values(),
              ElementsAre(12 + 15, 13 + 16, 14 + 17));
  ASSERT_TRUE(caller_.Compute(Scan(Resident("m", 19, 1))).ok());
  EXPECT_THAT(caller_.scanned.inline_array().shape(), ElementsAre(1, 3));
  *request.mutable_array() = Resident("m", 20, 1);
  ExpectInvalidField(caller_.Compute(request), "array.resident_array.slice.count");
}

TEST_F(ResidentComputeTest, InputsThatDoNotExistOrDoNotMatch) {
  caller_.Put("x", v1::ELEMENT_TYPE_INT32, {3}, std::vector<int32_t>{1, 2, 3});
  caller_.Put("f", v1::ELEMENT_TYPE_FLOAT32, {3}, std::vector<float>{1, 2, 3});
  v1::ComputeHistogramRequest request;
  request.add_bins()->mutable_even()->set_bin_count(5);
  *request.mutable_array() = Resident("x");
  *request.mutable_weights() = Resident("y");
  EXPECT_EQ(caller_.Compute(request).error_code(), grpc::StatusCode::NOT_FOUND);
  *request.mutable_weights() = Resident("x", 0, 2);
  ExpectInvalidField(caller_.Compute(request), "weights.resident_array");
  *request.mutable_weights() = Resident("f");
  EXPECT_TRUE(caller_.Compute(request).ok());
  request.clear_weights();
  *request.mutable_y_array() = Resident("f");
  ExpectInvalidField(caller_.Compute(request), "y_array.resident_array");
  *request.mutable_array() = Resident("");
  ExpectInvalidField(caller_.Compute(request), "array.resident_array.name");
}

// Only what a request holds in host memory is admitted by bytes; resident input may be larger than
// a message.
TEST_F(ResidentComputeTest, ArraysLargerThanAMessage) {
  constexpr uint64_t kElements = 1'500'000;
  ASSERT_TRUE(caller_.Create("x", v1::ELEMENT_TYPE_INT16, {kElements}).ok());
  const std::vector<int16_t> ones(kElements / 10, 1);
  std::vector<v1::WriteArrayRequest> chunks;
  for (int i = 0; i < 10; ++i) chunks.push_back(Chunk(i * ones.size(), BytesOf(ones)));
  ASSERT_TRUE(caller_.Write("x", chunks).ok());
  v1::ReduceArrayRequest sum;
  sum.add_statistics(v1::STATISTIC_SUM);
  *sum.mutable_array() = Resident("x");
  ASSERT_TRUE(caller_.Compute(sum).ok());
  EXPECT_EQ(caller_.reduced.results(0).values().int64_values().values(0),
            static_cast<int64_t>(kElements));
  v1::ScanArrayRequest scan = Scan(Resident("x"));
  ExpectInvalidField(caller_.Compute(scan), "destination");
  scan.set_output_type(v1::ELEMENT_TYPE_INT16);
  scan.set_overflow_policy(v1::OVERFLOW_POLICY_WRAP);
  scan.mutable_destination()->mutable_resident_array()->set_name("y");
  ASSERT_TRUE(caller_.Compute(scan).ok());
  const std::string last = caller_.ReadBytes(Resident("y", kElements - 1, 1));
  EXPECT_EQ(last, BytesOf(std::vector<int16_t>{static_cast<int16_t>(kElements % 65536)}));
}

TEST_F(ResidentComputeTest, AScanMakesANewArray) {
  const std::vector<float> values = Floats(3000);
  caller_.Put("x", v1::ELEMENT_TYPE_FLOAT32, {100, 30}, values);
  for (const v1::ArraySource& source : {Resident("x"), ArrayOf(v1::ELEMENT_TYPE_FLOAT32, values)}) {
    v1::ScanArrayRequest scan = Scan(source);
    if (source.has_inline_array()) {
      scan.mutable_array()->mutable_inline_array()->add_shape(100);
      scan.mutable_array()->mutable_inline_array()->add_shape(30);
    }
    scan.mutable_grouping()->set_axis(0);
    ASSERT_TRUE(caller_.Compute(scan).ok());
    const std::string expected = caller_.scanned.inline_array().data();
    scan.mutable_destination()->mutable_resident_array()->set_name("sums");
    scan.mutable_destination()->mutable_resident_array()->mutable_idle_expiry()->set_seconds(60);
    ASSERT_TRUE(caller_.Compute(scan).ok());
    const v1::ArrayDescription& made = caller_.scanned.resident_array();
    EXPECT_EQ(made.name(), "sums");
    EXPECT_EQ(made.element_type(), v1::ELEMENT_TYPE_FLOAT32);
    EXPECT_THAT(made.shape(), ElementsAre(100, 30));
    EXPECT_EQ(made.idle_expiry().seconds(), 60);
    EXPECT_TRUE(caller_.scanned.has_execution());
    EXPECT_TRUE(caller_.ReadBytes(Resident("sums")) == expected);
    EXPECT_EQ(caller_.Compute(scan).error_code(), grpc::StatusCode::ALREADY_EXISTS);
    ASSERT_TRUE(caller_.Delete("sums").ok());
  }
}

TEST_F(ResidentComputeTest, TheServerNamesTheResultWhereTheCallerDoesNot) {
  caller_.Put("x", v1::ELEMENT_TYPE_INT32, {3}, std::vector<int32_t>{1, 2, 3});
  v1::ScanArrayRequest scan = Scan(Resident("x"));
  scan.mutable_destination()->mutable_resident_array();
  ASSERT_TRUE(caller_.Compute(scan).ok());
  EXPECT_EQ(caller_.ReadBytes(Resident(caller_.scanned.resident_array().name())),
            BytesOf(std::vector<int64_t>{1, 3, 6}));
}

TEST_F(ResidentComputeTest, AScanInPlaceReplacesItsInput) {
  caller_.Put("x", v1::ELEMENT_TYPE_INT32, {6}, std::vector<int32_t>{1, 2, 3, 4, 5, 6});
  v1::ScanArrayRequest scan = Scan(Resident("x", 1, 4));
  scan.set_output_type(v1::ELEMENT_TYPE_INT32);
  scan.mutable_destination()->mutable_in_place();
  ASSERT_TRUE(caller_.Compute(scan).ok());
  EXPECT_EQ(caller_.scanned.resident_array().name(), "x");
  EXPECT_THAT(caller_.scanned.resident_array().shape(), ElementsAre(6));
  EXPECT_EQ(caller_.ReadBytes(Resident("x")), BytesOf(std::vector<int32_t>{1, 2, 5, 9, 14, 6}));
}

TEST_F(ResidentComputeTest, DestinationsThatMakeNoSense) {
  caller_.Put("x", v1::ELEMENT_TYPE_INT32, {3}, std::vector<int32_t>{1, 2, 3});
  v1::ScanArrayRequest in_place = Scan(Resident("x"));
  in_place.mutable_destination()->mutable_in_place();
  ExpectInvalidField(caller_.Compute(in_place), "output_type");
  *in_place.mutable_array() = ArrayOf<float>(v1::ELEMENT_TYPE_FLOAT32, {1, 2});
  ExpectInvalidField(caller_.Compute(in_place), "destination.in_place");
  v1::ScanArrayRequest to_array = Scan(Resident("x"));
  v1::ResidentDestination& destination = *to_array.mutable_destination()->mutable_resident_array();
  destination.set_name("no name");
  ExpectInvalidField(caller_.Compute(to_array), "destination.resident_array.name");
  destination.set_name("y");
  destination.mutable_idle_expiry()->set_seconds(-1);
  ExpectInvalidField(caller_.Compute(to_array), "destination.resident_array.idle_expiry");
  to_array.mutable_destination()->clear_destination();
  ExpectInvalidField(caller_.Compute(to_array), "destination");
}

TEST_F(ResidentComputeTest, AScanThatFailsLeavesEverythingAsItWas) {
  const std::vector<int8_t> values = {100, 100, 100};
  caller_.Put("x", v1::ELEMENT_TYPE_INT8, {3}, values);
  v1::ScanArrayRequest scan = Scan(Resident("x"));
  scan.set_output_type(v1::ELEMENT_TYPE_INT8);
  scan.mutable_destination()->mutable_in_place();
  EXPECT_EQ(caller_.Compute(scan).error_code(), grpc::StatusCode::OUT_OF_RANGE);
  EXPECT_EQ(caller_.ReadBytes(Resident("x")), BytesOf(values));
  scan.mutable_destination()->mutable_resident_array()->set_name("y");
  EXPECT_EQ(caller_.Compute(scan).error_code(), grpc::StatusCode::OUT_OF_RANGE);
  EXPECT_EQ(caller_.Get("y").error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(ResidentComputeTest, AResultThatThereIsNoRoomFor) {
  ASSERT_TRUE(caller_.Create("x", v1::ELEMENT_TYPE_UINT8, {5 * kMiB}).ok());
  v1::ScanArrayRequest scan = Scan(Resident("x"));
  scan.set_output_type(v1::ELEMENT_TYPE_UINT8);
  for (const bool in_place : {false, true}) {
    if (in_place) {
      scan.mutable_destination()->mutable_in_place();
    } else {
      scan.mutable_destination()->mutable_resident_array();
    }
    const grpc::Status status = caller_.Compute(scan);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(DecodeDetails(status).reason(), kReasonArrayQuota);
  }
  ASSERT_TRUE(caller_.Delete("x").ok());
  EXPECT_TRUE(caller_.Create("x", v1::ELEMENT_TYPE_UINT8, {8 * kMiB}).ok());
}

}  // namespace
}  // namespace gridfold::server
