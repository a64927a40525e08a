// Plans that are made of requests: everything that was asked for is in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>

#include "gridfold/v1/compute_service.pb.h"
#include "kernels/contract/engine.h"
#include "server/base/limits.h"
#include "server/testing/planned_requests.h"

namespace gridfold::server {
namespace {

using testing::ElementsAre;

TEST(RequestValidationTest, AReductionIsPlannedAsItIsAsked) {
  const auto request = Parse<v1::ReduceArrayRequest>(
      Array(kMatrix) +
      "statistics: [STATISTIC_MEAN, STATISTIC_BITWISE_XOR] grouping { axis: 0 } nan_policy: "
      "NAN_POLICY_IGNORE overflow_policy: OVERFLOW_POLICY_WRAP delta_degrees_of_freedom: 1");
  const auto planned = Plan(request, Limits{});
  ASSERT_TRUE(planned.ok()) << planned.status();
  EXPECT_THAT(planned->plan.statistics,
              ElementsAre(kernels::Statistic::kMean, kernels::Statistic::kBitwiseXor));
  EXPECT_EQ(planned->plan.grouping.kind, kernels::GroupingKind::kAxis0);
  EXPECT_EQ(planned->plan.grouping.group_count, 3u);
  EXPECT_EQ(planned->plan.nan_policy, kernels::NanPolicy::kIgnore);
  EXPECT_EQ(planned->plan.overflow_policy, kernels::OverflowPolicy::kWrap);
  EXPECT_EQ(planned->plan.delta_degrees_of_freedom, 1u);
  // The view points into the request.
  const auto& input = std::get<kernels::HostSpan>(planned->input.data);
  EXPECT_EQ(static_cast<const void*>(input.data), request.array().inline_array().data().data());
  EXPECT_EQ(input.size_bytes, 12u);
}

TEST(RequestValidationTest, AScanIsPlannedAsItIsAsked) {
  const auto defaults =
      Plan(Parse<v1::ScanArrayRequest>(Array(kSix) + "operation: SCAN_OPERATION_SUM"), Limits{});
  ASSERT_TRUE(defaults.ok()) << defaults.status();
  EXPECT_EQ(defaults->plan.mode, kernels::ScanMode::kInclusive);
  EXPECT_EQ(defaults->plan.direction, kernels::ScanDirection::kForward);
  EXPECT_EQ(defaults->plan.output_type, kernels::ElementType::kInt64);
  const auto planned = Plan(
      Parse<v1::ScanArrayRequest>(
          Array(kSix) +
          "operation: SCAN_OPERATION_PRODUCT mode: SCAN_MODE_EXCLUSIVE direction: "
          "SCAN_DIRECTION_REVERSE output_type: ELEMENT_TYPE_INT16 grouping { segments { offsets: "
          "[0, 2, 6] } } destination { inline_array { } }"),
      Limits{});
  ASSERT_TRUE(planned.ok()) << planned.status();
  EXPECT_EQ(planned->plan.operation, kernels::ScanOperation::kProduct);
  EXPECT_EQ(planned->plan.mode, kernels::ScanMode::kExclusive);
  EXPECT_EQ(planned->plan.direction, kernels::ScanDirection::kReverse);
  EXPECT_EQ(planned->plan.output_type, kernels::ElementType::kInt16);
  EXPECT_THAT(planned->plan.grouping.offsets, ElementsAre(0, 2, 6));
}

TEST(RequestValidationTest, AHistogramIsPlannedAsItIsAsked) {
  const auto planned =
      Plan(Parse<v1::ComputeHistogramRequest>(
               Array(kSix) +
               "bins { even { bin_count: 4 } } bins { integer { first_value: -1 "
               "bin_count: 5 } } y_array { " +
               kSix +
               " } weights { inline_array { element_type: ELEMENT_TYPE_UINT8 data: \"abcdef\" } "
               "} out_of_range_policy: OUT_OF_RANGE_POLICY_CLAMP format: HISTOGRAM_FORMAT_SPARSE"),
           Limits{});
  ASSERT_TRUE(planned.ok()) << planned.status();
  EXPECT_TRUE(planned->plan.two_dimensional);
  EXPECT_TRUE(planned->plan.sparse);
  EXPECT_EQ(planned->plan.channel_count, 1u);
  EXPECT_EQ(planned->plan.weight_type, kernels::ElementType::kUint8);
  EXPECT_EQ(planned->plan.out_of_range_policy, kernels::OutOfRangePolicy::kClamp);
  EXPECT_TRUE(planned->plan.bins[0].automatic_range);
  EXPECT_EQ(planned->plan.bins[1].first_value, -1);
  EXPECT_EQ(planned->plan.total_bin_count(), 20u);
  EXPECT_EQ(kernels::SizeBytes(planned->input.y_array), 12u);
  EXPECT_EQ(kernels::SizeBytes(planned->input.weights), 6u);
}

}  // namespace
}  // namespace gridfold::server
