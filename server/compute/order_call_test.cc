// Quantiles and the largest elements over a real socket: of inline and resident arrays, whole,
// along every set of axes, and of segments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "server/testing/array_caller.h"
#include "server/testing/array_service_fixture.h"
#include "server/testing/test_server.h"

namespace gridfold::server {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

class OrderCallTest : public ArrayServiceTest {
 protected:
  static constexpr uint64_t kExtents[] = {4, 2, 3, 5};

  // 120 numbers in no order, some of them several times.
  static std::vector<int32_t> Unordered() {
    std::vector<int32_t> numbers(120);
    for (size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<int32_t>(i * 7919 % 61) - 30;
    }
    return numbers;
  }
  static v1::ArraySource InlineArray() {
    v1::ArraySource source = ArrayOf(v1::ELEMENT_TYPE_INT32, Unordered());
    source.mutable_inline_array()->mutable_shape()->Add(std::begin(kExtents), std::end(kExtents));
    return source;
  }

  // The elements of each group with their places in it, found by walking through the array.
  static std::vector<std::vector<int32_t>> Groups(uint32_t axes) {
    const std::vector<int32_t> numbers = Unordered();
    std::vector<std::vector<int32_t>> groups(numbers.size());
    size_t group_count = 0;
    for (size_t i = 0; i < numbers.size(); ++i) {
      size_t inner = numbers.size();
      size_t group = 0;
      for (size_t d = 0; d < std::size(kExtents); ++d) {
        inner /= kExtents[d];
        if ((axes >> d & 1) == 0) group = group * kExtents[d] + i / inner % kExtents[d];
      }
      groups[group].push_back(numbers[i]);
      group_count = std::max(group_count, group + 1);
    }
    groups.resize(group_count);
    return groups;
  }

  static void SetAxes(uint32_t axes, v1::Grouping& grouping) {
    grouping.mutable_axes();
    for (int axis = 0; axis < 4; ++axis) {
      if ((axes >> axis & 1) != 0) grouping.mutable_axes()->add_axes(axis);
    }
  }

  grpc::Status Ask(const v1::ComputeQuantilesRequest& request) {
    return server_.compute().ComputeQuantiles(caller_.MakeContext().get(), request, &quantiles_);
  }
  grpc::Status Ask(const v1::SelectTopRequest& request) {
    return server_.compute().SelectTop(caller_.MakeContext().get(), request, &top_);
  }

  v1::ComputeQuantilesResponse quantiles_;
  v1::SelectTopResponse top_;
};

TEST_F(OrderCallTest, QuantilesAlongEverySetOfAxes) {
  caller_.Put("x", v1::ELEMENT_TYPE_INT32, {4, 2, 3, 5}, Unordered());
  for (uint32_t axes = 0; axes < 16; ++axes) {
    SCOPED_TRACE(axes);
    std::vector<double> medians;
    std::vector<int64_t> smallest;
    for (std::vector<int32_t> group : Groups(axes)) {
      std::sort(group.begin(), group.end());
      const size_t n = group.size();
      medians.push_back((group[(n - 1) / 2] + group[n / 2]) / 2.0);
      smallest.push_back(group[0]);
    }
    v1::ComputeQuantilesRequest request;
    request.add_quantiles(0.5);
    request.add_ranks(0);
    SetAxes(axes, *request.mutable_grouping());
    for (const v1::ArraySource& source : {InlineArray(), Resident("x")}) {
      *request.mutable_array() = source;
      const grpc::Status status = Ask(request);
      ASSERT_TRUE(status.ok()) << status.error_message();
      EXPECT_EQ(quantiles_.group_count(), medians.size());
      ASSERT_EQ(quantiles_.quantile_values_size(), 1);
      EXPECT_THAT(quantiles_.quantile_values(0).double_values().values(),
                  ElementsAreArray(medians));
      ASSERT_EQ(quantiles_.rank_values_size(), 1);
      EXPECT_THAT(quantiles_.rank_values(0).int64_values().values(), ElementsAreArray(smallest));
      EXPECT_FALSE(quantiles_.execution().strategy().empty());
    }
  }
}

TEST_F(OrderCallTest, TopsAlongEverySetOfAxes) {
  caller_.Put("x", v1::ELEMENT_TYPE_INT32, {4, 2, 3, 5}, Unordered());
  for (uint32_t axes = 1; axes < 16; ++axes) {
    SCOPED_TRACE(axes);
    std::vector<int64_t> values;
    std::vector<uint64_t> indices;
    for (const std::vector<int32_t>& group : Groups(axes)) {
      std::vector<std::pair<int32_t, uint64_t>> sorted;
      for (uint64_t i = 0; i < group.size(); ++i) sorted.emplace_back(-group[i], i);
      std::sort(sorted.begin(), sorted.end());
      for (size_t i = 0; i < 2; ++i) {
        values.push_back(-sorted[i].first);
        indices.push_back(sorted[i].second);
      }
    }
    v1::SelectTopRequest request;
    request.set_count(2);
    SetAxes(axes, *request.mutable_grouping());
    for (const v1::ArraySource& source : {InlineArray(), Resident("x")}) {
      *request.mutable_array() = source;
      const grpc::Status status = Ask(request);
      ASSERT_TRUE(status.ok()) << status.error_message();
      EXPECT_THAT(top_.values().int64_values().values(), ElementsAreArray(values));
      EXPECT_THAT(top_.indices(), ElementsAreArray(indices));
      EXPECT_EQ(*top_.result_shape().rbegin(), 2u);
    }
  }
}

TEST_F(OrderCallTest, SegmentsAndMethods) {
  v1::ComputeQuantilesRequest request;
  *request.mutable_array() = ArrayOf<double>(v1::ELEMENT_TYPE_FLOAT64, {4, 1, 3, 8, 5});
  for (const uint64_t offset : {0, 3, 5}) {
    request.mutable_grouping()->mutable_segments()->add_offsets(offset);
  }
  request.add_quantiles(0.25);
  request.add_quantiles(1);
  ASSERT_TRUE(Ask(request).ok());
  EXPECT_THAT(quantiles_.quantile_values(0).double_values().values(), ElementsAre(2, 5.75));
  EXPECT_THAT(quantiles_.quantile_values(1).double_values().values(), ElementsAre(4, 8));
  EXPECT_THAT(quantiles_.result_shape(), ElementsAre(2));
  request.set_method(v1::QUANTILE_METHOD_HIGHER);
  ASSERT_TRUE(Ask(request).ok());
  EXPECT_THAT(quantiles_.quantile_values(0).double_values().values(), ElementsAre(3, 8));
}

TEST_F(OrderCallTest, NansByPolicy) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  v1::SelectTopRequest request;
  *request.mutable_array() = ArrayOf<double>(v1::ELEMENT_TYPE_FLOAT64, {4, kNan, 3, 8});
  request.set_count(2);
  request.set_smallest(true);
  ASSERT_TRUE(Ask(request).ok());
  EXPECT_THAT(top_.indices(), ElementsAre(1, 2));
  request.set_nan_policy(v1::NAN_POLICY_IGNORE);
  ASSERT_TRUE(Ask(request).ok());
  EXPECT_THAT(top_.values().double_values().values(), ElementsAre(3, 4));
  request.set_count(4);
  ExpectInvalidField(Ask(request), "count");

  v1::ComputeQuantilesRequest quantiles;
  *quantiles.mutable_array() = request.array();
  quantiles.add_quantiles(0.5);
  ASSERT_TRUE(Ask(quantiles).ok());
  EXPECT_TRUE(std::isnan(quantiles_.quantile_values(0).double_values().values(0)));
  quantiles.set_nan_policy(v1::NAN_POLICY_IGNORE);
  ASSERT_TRUE(Ask(quantiles).ok());
  EXPECT_EQ(quantiles_.quantile_values(0).double_values().values(0), 4);
}

TEST_F(OrderCallTest, WeightsAlongEverySetOfAxes) {
  // Weights that all are equal: what is known of elements tells the quantile.
  for (uint32_t axes = 1; axes < 16; ++axes) {
    SCOPED_TRACE(axes);
    v1::ComputeQuantilesRequest request;
    *request.mutable_array() = InlineArray();
    *request.mutable_weights() = ArrayOf(v1::ELEMENT_TYPE_UINT8, std::vector<uint8_t>(120, 3));
    request.add_quantiles(0.5);
    SetAxes(axes, *request.mutable_grouping());
    std::vector<int64_t> medians;
    for (std::vector<int32_t> group : Groups(axes)) {
      std::sort(group.begin(), group.end());
      medians.push_back(group[(group.size() + 1) / 2 - 1]);
    }
    ASSERT_TRUE(Ask(request).ok());
    EXPECT_THAT(quantiles_.quantile_values(0).int64_values().values(), ElementsAreArray(medians));
    EXPECT_EQ(quantiles_.execution().strategy(), "quantiles/weighted");
  }
}

TEST_F(OrderCallTest, WeightsOfResidentArraysAndFaultyOnes) {
  v1::ComputeQuantilesRequest request;
  *request.mutable_array() = ArrayOf(v1::ELEMENT_TYPE_FLOAT32, std::vector<float>{5, 1, 3, 2});
  const std::vector<double> weights = {1, 2, 4, 0};
  caller_.Put("w", v1::ELEMENT_TYPE_FLOAT64, {4}, weights);
  *request.mutable_weights() = Resident("w");
  request.add_quantiles(0.25);
  request.add_quantiles(0.5);
  request.add_quantiles(1);
  request.set_method(v1::QUANTILE_METHOD_INVERTED_CDF);
  ASSERT_TRUE(Ask(request).ok());
  ASSERT_EQ(quantiles_.quantile_values_size(), 3);
  for (const auto& [i, value] : {std::pair{0, 1.0}, {1, 3.0}, {2, 5.0}}) {
    EXPECT_THAT(quantiles_.quantile_values(i).double_values().values(), ElementsAre(value));
  }
  request.set_method(v1::QUANTILE_METHOD_LINEAR);
  ExpectInvalidField(Ask(request), "method");
  request.clear_method();
  request.add_ranks(0);
  ExpectInvalidField(Ask(request), "ranks");
  request.clear_ranks();
  *request.mutable_weights() = ArrayOf(v1::ELEMENT_TYPE_INT8, std::vector<int8_t>{1, 2, -3, 4});
  ExpectInvalidField(Ask(request), "weights");
  *request.mutable_weights() = ArrayOf(v1::ELEMENT_TYPE_INT8, std::vector<int8_t>{1, 2, 3});
  ExpectInvalidField(Ask(request), "weights.inline_array.data");
  *request.mutable_weights() = ArrayOf(v1::ELEMENT_TYPE_BOOL, std::vector<uint8_t>{1, 1, 0, 1});
  ExpectInvalidField(Ask(request), "weights.inline_array.element_type");
  request.clear_weights();
  request.set_method(v1::QUANTILE_METHOD_INVERTED_CDF);
  ExpectInvalidField(Ask(request), "method");
}

TEST_F(OrderCallTest, UnknownArraysAndFaultyQuantiles) {
  v1::ComputeQuantilesRequest request;
  *request.mutable_array() = Resident("nothing");
  request.add_quantiles(0.5);
  EXPECT_EQ(Ask(request).error_code(), grpc::StatusCode::NOT_FOUND);
  *request.mutable_array() = InlineArray();
  request.add_quantiles(2);
  ExpectInvalidField(Ask(request), "quantiles[1]");
}

}  // namespace
}  // namespace gridfold::server
