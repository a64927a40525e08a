// Statistics of two arrays over a real socket: inline, resident and in regions, of two arrays and
// of columns, with weights; and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "server/testing/region_service_fixture.h"

namespace gridfold::server {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

const std::vector<float> kX = {1, 2, 3, 6};
const std::vector<float> kY = {2, 1, 4, 5};
const std::vector<float> kWeights = {1, 0, 2, 1};

class PairedCallTest : public RegionServiceTest {
 protected:
  static v1::ArraySource Floats(const std::vector<float>& values) {
    return ArrayOf(v1::ELEMENT_TYPE_FLOAT32, values);
  }
  static v1::RelateArraysRequest Request(std::vector<v1::PairedStatistic> statistics) {
    v1::RelateArraysRequest request;
    *request.mutable_x() = Floats(kX);
    *request.mutable_y() = Floats(kY);
    for (const v1::PairedStatistic statistic : statistics) request.add_statistics(statistic);
    return request;
  }
  static v1::RelateArraysRequest All() {
    return Request({v1::PAIRED_STATISTIC_DOT, v1::PAIRED_STATISTIC_COVARIANCE,
                    v1::PAIRED_STATISTIC_CORRELATION, v1::PAIRED_STATISTIC_MEAN,
                    v1::PAIRED_STATISTIC_VARIANCE});
  }

  grpc::Status Call(const v1::RelateArraysRequest& request) {
    response_.Clear();
    return server_.compute().RelateArrays(caller_.MakeContext().get(), request, &response_);
  }
  const auto& Doubles(int i) { return response_.results(i).values().double_values().values(); }

  v1::RelateArraysResponse response_;
};

TEST_F(PairedCallTest, TwoArrays) {
  const grpc::Status status = Call(All());
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response_.column_count(), 2u);
  EXPECT_EQ(response_.observation_count(), 4u);
  ASSERT_EQ(response_.results_size(), 5);
  EXPECT_EQ(response_.results(1).statistic(), v1::PAIRED_STATISTIC_COVARIANCE);
  EXPECT_THAT(Doubles(0), ElementsAre(46));
  EXPECT_THAT(Doubles(1), ElementsAre(2.5));
  EXPECT_THAT(Doubles(2), ElementsAre(DoubleEq(2.5 / std::sqrt(3.5 * 2.5))));
  EXPECT_THAT(Doubles(3), ElementsAre(3, 3));
  EXPECT_THAT(Doubles(4), ElementsAre(3.5, 2.5));
  EXPECT_FALSE(response_.execution().strategy().empty());
}

TEST_F(PairedCallTest, WeightsOfBothKinds) {
  v1::RelateArraysRequest request =
      Request({v1::PAIRED_STATISTIC_MEAN, v1::PAIRED_STATISTIC_COVARIANCE});
  *request.mutable_weights() = Floats(kWeights);
  request.set_delta_degrees_of_freedom(1);
  ASSERT_TRUE(Call(request).ok());
  // W is 4, the sum of their squares 6; W * sum(wxy) - sum(wx) * sum(wy) = 4 * 56 - 13 * 15.
  EXPECT_THAT(Doubles(0), ElementsAre(3.25, 3.75));
  EXPECT_THAT(Doubles(1), ElementsAre(29.0 / 12));
  request.set_weight_kind(v1::WEIGHT_KIND_RELIABILITY);
  ASSERT_TRUE(Call(request).ok());
  EXPECT_THAT(Doubles(1), ElementsAre(29.0 / 10));
}

TEST_F(PairedCallTest, ColumnsOfAMatrix) {
  v1::RelateArraysRequest request;
  *request.mutable_x() = ArrayOf(v1::ELEMENT_TYPE_INT8, std::vector<int8_t>{1, 2, 3, -4, 5, 6});
  request.mutable_x()->mutable_inline_array()->add_shape(2);
  request.mutable_x()->mutable_inline_array()->add_shape(3);
  request.add_statistics(v1::PAIRED_STATISTIC_DOT);
  ASSERT_TRUE(Call(request).ok());
  EXPECT_EQ(response_.column_count(), 3u);
  EXPECT_THAT(response_.results(0).values().int64_values().values(),
              ElementsAre(17, -18, -21, -18, 29, 36, -21, 36, 45));
  *request.mutable_weights() = ArrayOf(v1::ELEMENT_TYPE_INT8, std::vector<int8_t>{2, 1});
  ASSERT_TRUE(Call(request).ok());
  EXPECT_EQ(response_.results(0).values().int64_values().values(0), 18);
}

TEST_F(PairedCallTest, ResidentArraysAndRegionsHaveTheAnswersOfInlineOnes) {
  v1::RelateArraysRequest request = All();
  *request.mutable_weights() = Floats(kWeights);
  ASSERT_TRUE(Call(request).ok());
  response_.clear_execution();
  const std::string expected = response_.DebugString();
  caller_.Put("x", v1::ELEMENT_TYPE_FLOAT32, {kX.size()}, kX);
  const SharedObject object(kY);
  ASSERT_TRUE(Register("y", object).ok());
  *request.mutable_x() = Resident("x");
  *request.mutable_y() = InRegion("y", v1::ELEMENT_TYPE_FLOAT32, 0, {kY.size()});
  const grpc::Status status = Call(request);
  ASSERT_TRUE(status.ok()) << status.error_message();
  response_.clear_execution();
  EXPECT_EQ(response_.DebugString(), expected);
}

TEST_F(PairedCallTest, WhatIsRefused) {
  const auto expect = [&](v1::RelateArraysRequest request, const char* field) {
    SCOPED_TRACE(field);
    ExpectInvalidField(Call(request), field);
  };
  v1::RelateArraysRequest request = All();
  request.clear_statistics();
  expect(request, "statistics");
  request = All();
  request.set_statistics(1, v1::PAIRED_STATISTIC_UNSPECIFIED);
  expect(request, "statistics[1]");
  request = Request({v1::PAIRED_STATISTIC_DOT, v1::PAIRED_STATISTIC_DOT});
  expect(request, "statistics[1]");
  request = All();
  *request.mutable_y() = ArrayOf(v1::ELEMENT_TYPE_FLOAT64, std::vector<double>(4));
  expect(request, "y.inline_array.element_type");
  *request.mutable_y() = Floats({1, 2, 3});
  expect(request, "y.inline_array.data");
  *request.mutable_y() = Floats(kY);
  request.mutable_y()->mutable_inline_array()->add_shape(2);
  request.mutable_y()->mutable_inline_array()->add_shape(2);
  expect(request, "y.inline_array.shape");
  request = All();
  *request.mutable_weights() = Floats({1});
  expect(request, "weights.inline_array.data");
  *request.mutable_weights() = Floats({1, 2, 3, -1});
  expect(request, "weights");
  *request.mutable_weights() = Floats({0, 0, 0, 0});
  expect(request, "weights");
  request = All();
  request.set_delta_degrees_of_freedom(4);
  expect(request, "delta_degrees_of_freedom");
  request.clear_x();
  expect(request, "x");
  request = All();
  request.clear_y();
  for (const int extent : {2, 2, 1}) {
    request.mutable_x()->mutable_inline_array()->add_shape(static_cast<uint64_t>(extent));
  }
  expect(request, "x.inline_array");
  request = All();
  request.mutable_x()->mutable_inline_array()->set_element_type(v1::ELEMENT_TYPE_BOOL);
  expect(request, "x.inline_array.element_type");
  *request.mutable_x() = Resident("nothing");
  EXPECT_EQ(Call(request).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(PairedCallTest, DotProductsThatOverflow) {
  v1::RelateArraysRequest request;
  const std::vector<int64_t> huge = {int64_t{1} << 62, int64_t{1} << 62};
  *request.mutable_x() = ArrayOf(v1::ELEMENT_TYPE_INT64, huge);
  *request.mutable_y() = ArrayOf(v1::ELEMENT_TYPE_INT64, std::vector<int64_t>{1, 1});
  request.add_statistics(v1::PAIRED_STATISTIC_DOT);
  EXPECT_EQ(Call(request).error_code(), grpc::StatusCode::OUT_OF_RANGE);
  request.set_overflow_policy(v1::OVERFLOW_POLICY_WRAP);
  ASSERT_TRUE(Call(request).ok());
  EXPECT_THAT(response_.results(0).values().int64_values().values(),
              ElementsAre(std::numeric_limits<int64_t>::min()));
}

}  // namespace
}  // namespace gridfold::server
