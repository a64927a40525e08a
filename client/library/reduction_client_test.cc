// Reductions of a client: every option reaches the wire, and every field of an answer the caller.
#include <cmath>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/library/client_test_fixture.h"
#include "gmock/gmock.h"
#include "gridfold/client.h"
#include "gridfold/element_view.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;

TEST_F(ClientTest, ReductionOptionsReachTheWire) {
  const std::vector<int8_t> elements = {'a', 'b', 'c', 'd', 'e', 'f'};
  ASSERT_TRUE(client_
                  ->ReduceArray(ArrayView(elements).WithShape(2, 3),
                                {.statistics = {Statistic::kSum, Statistic::kBitwiseXor},
                                 .grouping = Axis{0},
                                 .nan_policy = NanPolicy::kIgnore,
                                 .overflow_policy = OverflowPolicy::kWrap,
                                 .delta_degrees_of_freedom = 1,
                                 .return_accumulator = true,
                                 .first_index = 77})
                  .ok());
  ExpectMessage(reduce_request_, R"(
    array { inline_array { element_type: ELEMENT_TYPE_INT8 shape: 2 shape: 3 data: "abcdef" } }
    statistics: STATISTIC_SUM statistics: STATISTIC_BITWISE_XOR
    grouping { axis: 0 }
    nan_policy: NAN_POLICY_IGNORE
    overflow_policy: OVERFLOW_POLICY_WRAP
    delta_degrees_of_freedom: 1
    return_accumulator: true
    first_index: 77)");
}

TEST_F(ClientTest, AxesAndShapesReachTheWire) {
  const std::vector<int8_t> elements = {'a', 'b', 'c', 'd', 'e', 'f'};
  Parse("group_count: 2 result_shape: [1, 2, 1]", reduce_response_);
  const auto result = client_->ReduceArray(
      ArrayView(elements).WithShape({3, 2, 1}),
      {.statistics = {Statistic::kSum}, .grouping = Axes{{0, -1}}, .keep_dimensions = true});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->result_shape, testing::ElementsAre(1, 2, 1));
  ExpectMessage(reduce_request_, R"(
    array { inline_array { element_type: ELEMENT_TYPE_INT8 shape: [3, 2, 1] data: "abcdef" } }
    statistics: STATISTIC_SUM
    grouping { axes { axes: 0 axes: -1 } }
    nan_policy: NAN_POLICY_PROPAGATE
    overflow_policy: OVERFLOW_POLICY_ERROR
    keep_dimensions: true)");
}

TEST_F(ClientTest, SegmentsReachTheWire) {
  const std::vector<uint8_t> elements = {'a', 'b'};
  ASSERT_TRUE(client_
                  ->ReduceArray(elements, {.statistics = {Statistic::kMean},
                                           .grouping = Segments{{0, 1, 1, 2}}})
                  .ok());
  ExpectMessage(reduce_request_, R"(
    array { inline_array { element_type: ELEMENT_TYPE_UINT8 data: "ab" } }
    statistics: STATISTIC_MEAN
    grouping { segments { offsets: 0 offsets: 1 offsets: 1 offsets: 2 } }
    nan_policy: NAN_POLICY_PROPAGATE
    overflow_policy: OVERFLOW_POLICY_ERROR)");
}

TEST_F(ClientTest, OutputTypesReachTheWire) {
  const std::vector<float> elements = {1};
  ASSERT_TRUE(client_
                  ->ReduceArray(elements, {.statistics = {Statistic::kMean},
                                           .output_type = ElementType::kFloat16})
                  .ok());
  EXPECT_EQ(reduce_request_.output_type(), v1::ELEMENT_TYPE_FLOAT16);
  ASSERT_TRUE(client_->ReduceArray(elements, {.statistics = {Statistic::kMean}}).ok());
  EXPECT_EQ(reduce_request_.output_type(), v1::ELEMENT_TYPE_UNSPECIFIED);
}

// As doubles, which are exact, and as the elements that they are.
TEST_F(ClientTest, ValuesOfEveryOutputTypeReachTheCaller) {
  Parse(R"(
    results { statistic: STATISTIC_SUM values { typed_values {
      element_type: ELEMENT_TYPE_FLOAT16 data: "\x01\x00\x00\xC0" } } }
    results { statistic: STATISTIC_MEAN values { typed_values {
      element_type: ELEMENT_TYPE_BFLOAT16 data: "\x80\x3F\x80\xFF" } } }
    results { statistic: STATISTIC_MAX values { typed_values {
      element_type: ELEMENT_TYPE_FLOAT32 data: "\xCD\xCC\xCC\x3D\x00\x00\x00\x80" } } }
    results { statistic: STATISTIC_MIN values { double_values { values: 0.5 values: 2 } } }
    group_count: 2)",
        reduce_response_);
  const auto result = client_->ReduceArray(std::vector<float>{1}, {});
  ASSERT_TRUE(result.ok()) << result.status();
  const auto values = [&](Statistic statistic) {
    return std::get<std::vector<double>>(*result->Find(statistic));
  };
  EXPECT_THAT(values(Statistic::kSum), ElementsAre(0x1p-24, -2.0));
  EXPECT_THAT(values(Statistic::kMean), ElementsAre(1.0, -HUGE_VAL));
  EXPECT_THAT(values(Statistic::kMax), ElementsAre(static_cast<double>(0.1F), 0.0));
  EXPECT_TRUE(std::signbit(values(Statistic::kMax)[1]));
  EXPECT_EQ(result->entries[0].output_type, ElementType::kFloat16);
  EXPECT_EQ(result->entries[1].output_type, ElementType::kBfloat16);
  const ReductionResult::Entry& floats = result->entries[2];
  EXPECT_EQ((*ViewElements<float>(floats.output_type, floats.data))[0], 0.1F);
  EXPECT_EQ(result->entries[3].output_type, ElementType::kFloat64);
  EXPECT_EQ(result->entries[3].data, "");
}

TEST_F(ClientTest, TypedValuesThatAreNoneAreTheServersFault) {
  for (const char* const values :
       {"element_type: ELEMENT_TYPE_INT16 data: '1234'", "element_type: ELEMENT_TYPE_FLOAT16",
        "element_type: ELEMENT_TYPE_FLOAT32 data: '12345678'"}) {
    const std::string response =
        absl::StrCat("results { statistic: STATISTIC_SUM values { typed_values {", values,
                     "} } } group_count: 1");
    Parse(response.c_str(), reduce_response_);
    EXPECT_EQ(client_->ReduceArray(std::vector<float>{1}, {}).status().code(),
              absl::StatusCode::kInternal);
  }
}

TEST_F(ClientTest, EveryKindOfStatisticReachesTheCaller) {
  Parse(R"(
    results { statistic: STATISTIC_SUM values { int64_values { values: -1 values: 2 } } }
    results { statistic: STATISTIC_COUNT values { uint64_values { values: 3 values: 4 } } }
    results { statistic: STATISTIC_MEAN values { double_values { values: 0.5 values: inf } } }
    results { statistic: STATISTIC_ANY values { bool_values { values: true values: false } } }
    group_count: 2
    execution { engine: "cuda" strategy: "reduce/long/blocks" cluster_size: 8 bytes_read: 77
                queue_time { nanos: 1000 } stage_in_time { nanos: 2000 } kernel_time { nanos: 3000 }
                stage_out_time { nanos: 4000 } total_time { seconds: 1 } })",
        reduce_response_);
  const auto result = client_->ReduceArray(std::vector<int8_t>{1}, {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->group_count, 2u);
  ASSERT_EQ(result->entries.size(), 4u);
  EXPECT_THAT(std::get<std::vector<int64_t>>(*result->Find(Statistic::kSum)), ElementsAre(-1, 2));
  EXPECT_THAT(std::get<std::vector<uint64_t>>(*result->Find(Statistic::kCount)), ElementsAre(3, 4));
  EXPECT_THAT(std::get<std::vector<double>>(*result->Find(Statistic::kMean)),
              ElementsAre(0.5, HUGE_VAL));
  EXPECT_THAT(std::get<std::vector<bool>>(*result->Find(Statistic::kAny)),
              ElementsAre(true, false));
  EXPECT_EQ(result->Find(Statistic::kMax), nullptr);
  EXPECT_EQ(result->execution.engine, "cuda");
  EXPECT_EQ(result->execution.strategy, "reduce/long/blocks");
  EXPECT_EQ(result->execution.cluster_size, 8u);
  EXPECT_EQ(result->execution.bytes_read, 77u);
  EXPECT_EQ(result->execution.queue_time, absl::Microseconds(1));
  EXPECT_EQ(result->execution.stage_in_time, absl::Microseconds(2));
  EXPECT_EQ(result->execution.kernel_time, absl::Microseconds(3));
  EXPECT_EQ(result->execution.stage_out_time, absl::Microseconds(4));
  EXPECT_EQ(result->execution.total_time, absl::Seconds(1));
}

TEST_F(ClientTest, APartHasAnAccumulatorAndLeavesOutWhatHasNoValue) {
  Parse(R"(results { statistic: STATISTIC_COUNT values { uint64_values { values: 0 } } }
           results { statistic: STATISTIC_MIN }
           group_count: 1 accumulator: "abc")",
        reduce_response_);
  const auto result = client_->ReduceArray(std::vector<float>(), {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->accumulator, "abc");
  EXPECT_NE(result->Find(Statistic::kCount), nullptr);
  EXPECT_EQ(result->Find(Statistic::kMin), nullptr);
}

}  // namespace
}  // namespace gridfold::client
