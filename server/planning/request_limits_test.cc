// Requests at the limits of the server and beyond: bins, groups, and answers larger than a message.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "gridfold/v1/compute_service.pb.h"
#include "kernels/contract/invalid_field.h"
#include "server/base/fixed_limits.h"
#include "server/base/limits.h"
#include "server/planning/answer_size.h"
#include "server/planning/placement.h"
#include "server/testing/planned_requests.h"

namespace gridfold::server {
namespace {

TEST(RequestValidationTest, LimitsOfTheServer) {
  Limits limits;
  limits.message_bytes_max = kMessageBytesFloor;
  limits.bin_count_max = 100'000;
  limits.group_count_max = 4;
  ExpectFields<v1::ReduceArrayRequest>(
      {{Array(kSix) +
            "statistics: STATISTIC_SUM grouping { segments { offsets: [0, 1, 2, 3, 4, 6] } }",
        "grouping.segments.offsets"},
       {"array { inline_array { element_type: ELEMENT_TYPE_INT8 shape: [5, 0] } } "
        "statistics: STATISTIC_SUM grouping { axis: 1 }",
        "grouping.axis"}},
      limits);
  ExpectFields<v1::ComputeHistogramRequest>(
      {{Array(kSix) + "bins { integer { bin_count: 100001 } }", "bins[0].integer.bin_count"},
       {Array(kSix) + "bins { even { bin_count: 50001 } } channel_count: 2",
        "bins[0].even.bin_count"}},
      limits);
}

// As many bins and groups as there may be, and one more.
TEST(RequestValidationTest, LimitsAreTakenToTheirEdge) {
  Limits limits;
  limits.bin_count_max = 12;
  limits.group_count_max = 4;
  const auto field_of = [&]<class Request>(const Request& request) {
    return kernels::FieldOf(Plan(request, limits).status());
  };
  const auto reduction = [&](const std::string& text) {
    return field_of(Parse<v1::ReduceArrayRequest>(text + " statistics: STATISTIC_SUM"));
  };
  const auto scan = [&](const std::string& text) {
    return field_of(Parse<v1::ScanArrayRequest>(text + " operation: SCAN_OPERATION_SUM"));
  };
  const auto histogram = [&](const std::string& text) {
    return field_of(Parse<v1::ComputeHistogramRequest>(Array(kSix) + text));
  };
  for (const auto& [offsets, field] :
       {std::pair("0, 1, 2, 3, 6", ""),
        std::pair("0, 1, 2, 3, 4, 6", "grouping.segments.offsets")}) {
    const std::string text =
        Array(kSix) + "grouping { segments { offsets: [" + std::string(offsets) + "] } }";
    EXPECT_EQ(reduction(text), field) << text;
    EXPECT_EQ(scan(text), field) << text;
  }
  for (const auto& [rows, field] : {std::pair("4", ""), std::pair("5", "grouping.axis")}) {
    const std::string text = "array { inline_array { element_type: ELEMENT_TYPE_INT8 shape: [" +
                             std::string(rows) + ", 1] data: \"" + std::string(rows[0] - '0', 'x') +
                             "\" } } grouping { axis: 1 }";
    EXPECT_EQ(reduction(text), field) << text;
    EXPECT_EQ(scan(text), field) << text;
  }
  EXPECT_EQ(histogram("bins { integer { bin_count: 12 } }"), "");
  EXPECT_EQ(histogram("bins { integer { bin_count: 13 } }"), "bins[0].integer.bin_count");
  EXPECT_EQ(histogram("bins { even { bin_count: 12 } }"), "");
  EXPECT_EQ(histogram("bins { even { bin_count: 13 } }"), "bins[0].even.bin_count");
  EXPECT_EQ(histogram("bins { even { bin_count: 6 } } channel_count: 2"), "");
  EXPECT_EQ(histogram("bins { even { bin_count: 7 } } channel_count: 2"), "bins[0].even.bin_count");
}

TEST(RequestValidationTest, AnswersLargerThanAMessage) {
  Limits limits;
  limits.message_bytes_max = kMessageBytesFloor;
  // 4,000 groups of 20 bytes each fit in one statistic, not in three.
  v1::ReduceArrayRequest reduction;
  v1::InlineArray& rows = *reduction.mutable_array()->mutable_inline_array();
  rows.set_element_type(v1::ELEMENT_TYPE_INT8);
  rows.add_shape(4000);
  rows.add_shape(1);
  rows.mutable_data()->assign(4000, 'x');
  reduction.mutable_grouping()->set_axis(1);
  reduction.add_statistics(v1::STATISTIC_SUM);
  EXPECT_TRUE(Plan(reduction, limits).ok());
  reduction.add_statistics(v1::STATISTIC_MIN);
  EXPECT_EQ(kernels::FieldOf(Plan(reduction, limits).status()), "grouping");

  // int8 in, int64 out.
  v1::ScanArrayRequest scan;
  scan.set_operation(v1::SCAN_OPERATION_SUM);
  scan.mutable_array()->mutable_inline_array()->set_element_type(v1::ELEMENT_TYPE_INT8);
  scan.mutable_array()->mutable_inline_array()->mutable_data()->assign(10'000, 'x');
  EXPECT_EQ(kernels::FieldOf(Plan(scan, limits).status()), "destination");
  scan.set_output_type(v1::ELEMENT_TYPE_INT8);
  EXPECT_TRUE(Plan(scan, limits).ok());

  ExpectFields<v1::ComputeHistogramRequest>(
      {{Array(kSix) + "bins { even { bin_count: 5000 } }", "bins"},
       {Array(kSix) + "bins { integer { bin_count: 10000 } }", "bins"},
       {Array(kSix) + "bins { integer { bin_count: 1 } } channel_count: 3 "
                      "bins { integer { bin_count: 8000 } } bins { integer { bin_count: 1 } }",
        "bins"}},
      limits);
  // Sparse answers are as small as their samples are few.
  EXPECT_TRUE(Plan(Parse<v1::ComputeHistogramRequest>(Array(kSix) +
                                                      "bins { integer { bin_count: 100000 } } "
                                                      "format: HISTOGRAM_FORMAT_SPARSE"),
                   limits)
                  .ok());
  v1::ComputeHistogramRequest quantiles = Parse<v1::ComputeHistogramRequest>(
      Array(kSix) + "bins { even { bin_count: 1 } } channel_count: 3");
  for (int i = 0; i < 3000; ++i) quantiles.add_quantiles(0.5);
  EXPECT_EQ(kernels::FieldOf(Plan(quantiles, limits).status()), "quantiles");
}

// Whose states would not fit in a message either.
TEST(RequestValidationTest, AccumulatorsLargerThanAMessage) {
  Limits limits;
  limits.message_bytes_max = kMessageBytesFloor;
  v1::ReduceArrayRequest reduction;
  v1::InlineArray& rows = *reduction.mutable_array()->mutable_inline_array();
  rows.set_element_type(v1::ELEMENT_TYPE_FLOAT64);
  rows.add_shape(100);
  rows.add_shape(1);
  rows.mutable_data()->assign(800, 'x');
  reduction.mutable_grouping()->set_axis(1);
  reduction.add_statistics(v1::STATISTIC_SUM);
  EXPECT_TRUE(Plan(reduction, limits).ok());
  reduction.set_return_accumulator(true);
  EXPECT_EQ(kernels::FieldOf(Plan(reduction, limits).status()), "return_accumulator");
  ExpectFields<v1::ComputeHistogramRequest>(
      {{Array(kSix) + "bins { even { bin_count: 3000 } } weights { " + kSix +
            " } return_accumulator: true",
        "return_accumulator"}},
      limits);
  // Few samples fill few bins.
  EXPECT_TRUE(Plan(Parse<v1::ComputeHistogramRequest>(
                       Array(kSix) + "bins { even { bin_count: 3000 } } return_accumulator: true"),
                   limits)
                  .ok());
}

// So many rows of an element each.
v1::ReduceArrayRequest RowsOf(int64_t row_count, v1::ElementType output_type) {
  v1::ReduceArrayRequest reduction;
  v1::InlineArray& rows = *reduction.mutable_array()->mutable_inline_array();
  rows.set_element_type(v1::ELEMENT_TYPE_UINT8);
  rows.add_shape(row_count);
  rows.add_shape(1);
  rows.mutable_data()->assign(static_cast<size_t>(row_count), 'x');
  reduction.mutable_grouping()->set_axis(1);
  reduction.set_output_type(output_type);
  return reduction;
}

// What an answer takes follows from the output type; sums of integers are integers in any.
TEST(AnswerSizeTest, ValuesCountInTheirOutputType) {
  for (const auto& [type, bytes] :
       {std::pair(v1::ELEMENT_TYPE_UNSPECIFIED, 24), std::pair(v1::ELEMENT_TYPE_FLOAT64, 24),
        std::pair(v1::ELEMENT_TYPE_FLOAT32, 16), std::pair(v1::ELEMENT_TYPE_BFLOAT16, 12)}) {
    v1::ReduceArrayRequest request = RowsOf(1000, type);
    for (const auto statistic : {v1::STATISTIC_SUM, v1::STATISTIC_MEAN, v1::STATISTIC_L2_NORM}) {
      request.add_statistics(statistic);
    }
    const auto planned = Plan(request, {});
    ASSERT_TRUE(planned.ok()) << planned.status();
    EXPECT_EQ(AnswerBytes(planned->plan), 1000u * static_cast<uint64_t>(bytes));
    EXPECT_EQ(HeldAnswerBytes(planned->plan), 24'000u);
    JobWork work;
    Place(*planned, work);
    EXPECT_EQ(work.answer_bytes, AnswerBytes(planned->plan) + kAnswerOverheadBytes);
  }
}

// Each key has a count beside its values, and one that is found itself.
TEST(AnswerSizeTest, ValuesOfKeysCountInTheirOutputType) {
  const std::string arrays = std::string("keys { ") + kSix + " } values { " + kSix + " } ";
  const std::string statistics =
      "statistics: [STATISTIC_MEAN, STATISTIC_VARIANCE, STATISTIC_COUNT] quantiles: 0.5 ";
  for (const auto& [type, value_bytes] :
       {std::pair("", 8), std::pair("32", 4), std::pair("16", 2)}) {
    const std::string output_type =
        *type == '\0' ? "" : std::string("output_type: ELEMENT_TYPE_FLOAT") + type;
    const auto bytes_of = [&](const std::string& groups) {
      const auto planned =
          Plan(Parse<v1::ReduceByKeyRequest>(arrays + statistics + output_type + groups), {});
      EXPECT_TRUE(planned.ok()) << planned.status();
      return AnswerBytes(planned->plan);
    };
    const uint64_t values = 2 * static_cast<uint64_t>(value_bytes);
    EXPECT_EQ(bytes_of(" found {}"), 6 * (values + 32));
    EXPECT_EQ(bytes_of(" range { key_count: 10 }"), 10 * (values + 24));
  }
}

// Lanes hold 8 bytes a value, whatever the answer takes, and the error says which it is.
TEST(AnswerSizeTest, ValuesAreHeldAsFloat64) {
  Limits limits;
  limits.message_bytes_max = kMessageBytesFloor;
  const auto most = static_cast<int64_t>(kMessageBytesFloor / 8);
  const auto plan = [&](int64_t row_count, v1::ElementType type) {
    v1::ReduceArrayRequest request = RowsOf(row_count, type);
    request.add_statistics(v1::STATISTIC_MEAN);
    return Plan(request, limits).status();
  };
  EXPECT_TRUE(plan(most, v1::ELEMENT_TYPE_FLOAT16).ok());
  const absl::Status status = plan(most + 1, v1::ELEMENT_TYPE_FLOAT16);
  EXPECT_EQ(kernels::FieldOf(status), "grouping");
  EXPECT_THAT(status.message(), testing::HasSubstr("before they are rounded"));
  const absl::Status doubles = plan(most, v1::ELEMENT_TYPE_FLOAT64);
  EXPECT_EQ(kernels::FieldOf(doubles), "grouping");
  EXPECT_THAT(doubles.message(), testing::HasSubstr("the answer would take"));
}

}  // namespace
}  // namespace gridfold::server
