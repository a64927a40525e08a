// Groups that are too small for a statistic, over a real socket.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "server/testing/array_caller.h"
#include "server/testing/array_service_fixture.h"
#include "server/testing/test_server.h"

namespace gridfold::server {
namespace {

using testing::ElementsAre;
using testing::IsNan;

class EmptyGroupTest : public ArrayServiceTest {
 protected:
  // Of 4, -1, 7, 8, in segments of 0, 1, 3 and 0 elements.
  static v1::ReduceArrayRequest Request(v1::EmptyGroupPolicy policy) {
    v1::ReduceArrayRequest request;
    *request.mutable_array() = ArrayOf(v1::ELEMENT_TYPE_INT32, std::vector<int32_t>{4, -1, 7, 8});
    for (const uint64_t offset : {0, 0, 1, 4, 4}) {
      request.mutable_grouping()->mutable_segments()->add_offsets(offset);
    }
    request.add_statistics(v1::STATISTIC_MEAN);
    request.add_statistics(v1::STATISTIC_SUM);
    if (policy != v1::EMPTY_GROUP_POLICY_UNSPECIFIED) {
      request.mutable_empty_group()->set_policy(policy);
    }
    return request;
  }
};

TEST_F(EmptyGroupTest, IsAnErrorByDefault) {
  ExpectInvalidField(caller_.Compute(Request(v1::EMPTY_GROUP_POLICY_UNSPECIFIED)), "statistics[0]");
  ExpectInvalidField(caller_.Compute(Request(v1::EMPTY_GROUP_POLICY_ERROR)), "statistics[0]");
}

TEST_F(EmptyGroupTest, IsNan) {
  auto request = Request(v1::EMPTY_GROUP_POLICY_NAN);
  ASSERT_TRUE(caller_.Compute(request).ok());
  EXPECT_THAT(caller_.reduced.results(0).values().double_values().values(),
              ElementsAre(IsNan(), 4.0, 14.0 / 3, IsNan()));
  EXPECT_THAT(caller_.reduced.results(1).values().int64_values().values(),
              ElementsAre(0, 4, 14, 0));
  EXPECT_EQ(caller_.reduced.results(0).validity(), "");
  request.add_statistics(v1::STATISTIC_MIN);
  ExpectInvalidField(caller_.Compute(request), "statistics[2]");
}

TEST_F(EmptyGroupTest, IsNull) {
  auto request = Request(v1::EMPTY_GROUP_POLICY_NULL);
  request.add_statistics(v1::STATISTIC_ARGMAX);
  request.set_first_index(100);
  ASSERT_TRUE(caller_.Compute(request).ok());
  EXPECT_THAT(caller_.reduced.results(2).values().uint64_values().values(),
              ElementsAre(0, 100, 102, 0));
  EXPECT_EQ(caller_.reduced.results(0).validity(), "\x06");
  EXPECT_EQ(caller_.reduced.results(1).validity(), "");
  EXPECT_EQ(caller_.reduced.results(2).validity(), "\x06");
}

TEST_F(EmptyGroupTest, HasAValueOfTheCallers) {
  auto request = Request(v1::EMPTY_GROUP_POLICY_VALUE);
  ExpectInvalidField(caller_.Compute(request), "empty_group.value");
  request.mutable_empty_group()->mutable_value()->set_int64_value(-9);
  request.add_statistics(v1::STATISTIC_MAX);
  ASSERT_TRUE(caller_.Compute(request).ok());
  EXPECT_THAT(caller_.reduced.results(0).values().double_values().values(),
              ElementsAre(-9.0, 4.0, 14.0 / 3, -9.0));
  EXPECT_THAT(caller_.reduced.results(2).values().int64_values().values(),
              ElementsAre(-9, 4, 8, -9));
  request.mutable_empty_group()->mutable_value()->set_double_value(0.5);
  ExpectInvalidField(caller_.Compute(request), "empty_group.value");
  request.mutable_empty_group()->set_policy(v1::EMPTY_GROUP_POLICY_NAN);
  ExpectInvalidField(caller_.Compute(request), "empty_group.value");
}

TEST_F(EmptyGroupTest, NothingButIgnoredNans) {
  v1::ReduceArrayRequest request;
  *request.mutable_array() =
      ArrayOf(v1::ELEMENT_TYPE_FLOAT32, std::vector<float>{NAN, NAN, 5, NAN, NAN, 1});
  request.mutable_array()->mutable_inline_array()->add_shape(3);
  request.mutable_array()->mutable_inline_array()->add_shape(2);
  request.mutable_grouping()->set_axis(1);
  request.set_nan_policy(v1::NAN_POLICY_IGNORE);
  request.add_statistics(v1::STATISTIC_ARGMIN);
  ExpectInvalidField(caller_.Compute(request), "statistics[0]");
  request.mutable_empty_group()->set_policy(v1::EMPTY_GROUP_POLICY_NULL);
  request.add_statistics(v1::STATISTIC_MAX);
  ASSERT_TRUE(caller_.Compute(request).ok());
  EXPECT_THAT(caller_.reduced.results(0).values().uint64_values().values(), ElementsAre(0, 0, 1));
  EXPECT_THAT(caller_.reduced.results(1).values().double_values().values(), ElementsAre(0, 5, 1));
  EXPECT_EQ(caller_.reduced.results(0).validity(), "\x06");
  EXPECT_EQ(caller_.reduced.results(1).validity(), "\x06");
}

TEST_F(EmptyGroupTest, AWholeArrayWithoutElementsNeedsNoLaneToHaveNoMean) {
  v1::ReduceArrayRequest request;
  *request.mutable_array() = ArrayOf(v1::ELEMENT_TYPE_INT32, std::vector<int32_t>{});
  request.add_statistics(v1::STATISTIC_MEAN);
  request.mutable_empty_group()->set_policy(v1::EMPTY_GROUP_POLICY_NAN);
  ASSERT_TRUE(caller_.Compute(request).ok());
  EXPECT_THAT(caller_.reduced.results(0).values().double_values().values(), ElementsAre(IsNan()));
}

TEST_F(EmptyGroupTest, FractionalDegreesOfFreedom) {
  v1::ReduceArrayRequest request;
  *request.mutable_array() = ArrayOf(v1::ELEMENT_TYPE_INT32, std::vector<int32_t>{1, 2, 3, 6});
  request.add_statistics(v1::STATISTIC_VARIANCE);
  const auto variance = [&](double ddof) {
    request.set_fractional_degrees_of_freedom(ddof);
    EXPECT_TRUE(caller_.Compute(request).ok());
    return caller_.reduced.results(0).values().double_values().values(0);
  };
  EXPECT_DOUBLE_EQ(variance(1.5), 14.0 / 2.5);
  EXPECT_DOUBLE_EQ(variance(-1), 14.0 / 5);
  EXPECT_EQ(variance(1), 14.0 / 3);
  request.set_fractional_degrees_of_freedom(4.5);
  ExpectInvalidField(caller_.Compute(request), "fractional_degrees_of_freedom");
  request.set_fractional_degrees_of_freedom(1.5);
  request.set_delta_degrees_of_freedom(1);
  ExpectInvalidField(caller_.Compute(request), "fractional_degrees_of_freedom");
}

TEST_F(EmptyGroupTest, NotOfParts) {
  auto request = Request(v1::EMPTY_GROUP_POLICY_NULL);
  request.set_return_accumulator(true);
  ExpectInvalidField(caller_.Compute(request), "empty_group");
}

TEST_F(EmptyGroupTest, InABatchEachReductionHasItsOwn) {
  v1::BatchComputeRequest batch;
  for (const auto policy :
       {v1::EMPTY_GROUP_POLICY_NAN, v1::EMPTY_GROUP_POLICY_ERROR, v1::EMPTY_GROUP_POLICY_NULL}) {
    *batch.add_operations()->mutable_reduction() = Request(policy);
  }
  v1::BatchComputeResponse response;
  const auto context = caller_.MakeContext();
  ASSERT_TRUE(server_.compute().BatchCompute(context.get(), batch, &response).ok());
  EXPECT_THAT(response.results(0).reduction().results(0).values().double_values().values(),
              ElementsAre(IsNan(), 4.0, 14.0 / 3, IsNan()));
  EXPECT_TRUE(response.results(1).has_error());
  EXPECT_EQ(response.results(2).reduction().results(0).validity(), "\x06");
}

}  // namespace
}  // namespace gridfold::server
