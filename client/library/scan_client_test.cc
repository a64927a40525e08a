// Scans of a client: every option reaches the wire, and every field of an answer the caller.
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "client/library/client_test_fixture.h"
#include "gmock/gmock.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(ClientTest, ScanOptionsReachTheWireAndTheResultTheCaller) {
  Parse(R"(inline_array { element_type: ELEMENT_TYPE_INT32 shape: 1 shape: 2
                          data: "\001\000\000\000\377\377\377\377" }
           execution { engine: "cpu" })",
        scan_response_);
  const std::vector<int32_t> elements = {1, 2};
  const auto result = client_->ScanArray(ArrayView(elements).WithShape(1, 2),
                                         {.operation = ScanOperation::kProduct,
                                          .mode = ScanMode::kExclusive,
                                          .direction = ScanDirection::kReverse,
                                          .grouping = Axis{1},
                                          .output_type = ElementType::kInt32,
                                          .nan_policy = NanPolicy::kIgnore,
                                          .overflow_policy = OverflowPolicy::kWrap,
                                          .exact = true});
  ASSERT_TRUE(result.ok()) << result.status();
  ExpectMessage(scan_request_, R"(
    array { inline_array { element_type: ELEMENT_TYPE_INT32 shape: 1 shape: 2
                           data: "\001\000\000\000\002\000\000\000" } }
    operation: SCAN_OPERATION_PRODUCT
    mode: SCAN_MODE_EXCLUSIVE
    direction: SCAN_DIRECTION_REVERSE
    grouping { axis: 1 }
    output_type: ELEMENT_TYPE_INT32
    nan_policy: NAN_POLICY_IGNORE
    overflow_policy: OVERFLOW_POLICY_WRAP
    destination { inline_array {} }
    exact: true)");
  EXPECT_EQ(result->element_type, ElementType::kInt32);
  EXPECT_THAT(result->shape, ElementsAre(1, 2));
  EXPECT_THAT(*result->Values<int32_t>(), ElementsAre(1, -1));
  EXPECT_EQ(result->Values<int64_t>().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(result->execution.engine, "cpu");
}

TEST_F(ClientTest, ArraysWithoutDimensionsReachTheWire) {
  const std::vector<int8_t> elements = {'a'};
  Parse("inline_array { element_type: ELEMENT_TYPE_INT8 zero_dimensional: true data: 'a' }",
        scan_response_);
  const auto result = client_->ScanArray(ArrayView(elements).WithShape({}), {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->shape.empty());
  EXPECT_TRUE(scan_request_.array().inline_array().zero_dimensional());
  EXPECT_EQ(scan_request_.array().inline_array().shape_size(), 0);
}

TEST_F(ClientTest, ScanOfNothingIsEmpty) {
  Parse("inline_array { element_type: ELEMENT_TYPE_FLOAT64 }", scan_response_);
  const auto result = client_->ScanArray(std::vector<double>(), {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->shape, ElementsAre(0));
  EXPECT_THAT(*result->Values<double>(), IsEmpty());
  EXPECT_EQ(scan_request_.output_type(), v1::ELEMENT_TYPE_UNSPECIFIED);
}

}  // namespace
}  // namespace gridfold::client
