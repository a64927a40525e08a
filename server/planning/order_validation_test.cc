// What is refused of requests for quantiles and for the largest elements, and by which field; and
// what comes of those that are taken.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/memory/host_resident_pool.h"
#include "server/arrays/array_store.h"
#include "server/planning/request_validation.h"

namespace gridfold::server {
namespace {

template <class Request>
auto PlanOrder(const std::string& text, const Limits& limits = {}) {
  static auto* const kNoArrays =
      new ArrayStore(kernels::CreateHostResidentPool(Limits{}.resident_bytes_max), Limits{});
  auto* const request = new Request;  // Plans point into it.
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, request)) << text;
  static auto* const kRequests = new std::vector<std::unique_ptr<Request>>;
  kRequests->emplace_back(request);
  return PlanRequest(*request, PlanningContext{limits, TenantArrays(*kNoArrays, "")});
}

template <class Request>
void ExpectFaults(const std::vector<std::pair<std::string, std::string>>& faults) {
  for (const auto& [text, field] : faults) {
    SCOPED_TRACE(text);
    const auto planned = PlanOrder<Request>(text);
    ASSERT_FALSE(planned.ok());
    EXPECT_TRUE(absl::IsInvalidArgument(planned.status())) << planned.status();
    EXPECT_EQ(kernels::FieldOf(planned.status()), field) << planned.status();
  }
}

std::string Bytes(const std::string& shape) {
  return "array { inline_array { element_type: ELEMENT_TYPE_INT8 shape: " + shape +
         " data: \"abcdefghijklmnopqrstuvwx\" } } ";
}

std::string Repeated(const std::string& field, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += field + ": 0 ";
  return text;
}

TEST(OrderValidationTest, FaultyQuantiles) {
  const std::string array = Bytes("[24]");
  ExpectFaults<v1::ComputeQuantilesRequest>({
      {"quantiles: 0.5", "array"},
      {array, "quantiles"},
      {array + "quantiles: [0.5, 1.01]", "quantiles[1]"},
      {array + "quantiles: nan", "quantiles[0]"},
      {array + "ranks: [23, 24]", "ranks[1]"},
      {array + Repeated("quantiles", 257), "quantiles"},
      {array + Repeated("ranks", 257), "ranks"},
      {array + "quantiles: 0.5 method: 7", "method"},
      {array + "quantiles: 0.5 nan_policy: 3", "nan_policy"},
      {array + "quantiles: 0.5 grouping { axis: 1 }", "grouping.axis"},
      {array + "quantiles: 0.5 grouping { segments { offsets: [0, 25] } }",
       "grouping.segments.offsets[1]"},
      {array + "quantiles: 0.5 grouping { segments { offsets: [0, 3, 3, 24] } }", "array"},
      {array + "quantiles: 0.5 keep_dimensions: true grouping { segments { offsets: [0, 24] } }",
       "keep_dimensions"},
      {"array { inline_array { element_type: ELEMENT_TYPE_INT8 } } quantiles: 0.5", "array"},
  });
}

TEST(OrderValidationTest, FaultyTops) {
  const std::string array = Bytes("[4, 6]");
  ExpectFaults<v1::SelectTopRequest>({
      {"count: 1", "array"},
      {array, "count"},
      {array + "count: 25", "count"},
      {array + "count: 5 grouping { axis: 0 }", "count"},
      {array + "count: 7 grouping { axis: 1 }", "count"},
      {array + "count: 1 nan_policy: -1", "nan_policy"},
      {array + "count: 1 grouping { axes { axes: [0, 0] } }", "grouping.axes.axes[1]"},
  });
}

TEST(OrderValidationTest, AnswersMustFitAMessage) {
  Limits limits;
  limits.message_bytes_max = kAnswerOverheadBytes + 24 * 16;
  const std::string array = Bytes("[24, 1]");
  EXPECT_TRUE(PlanOrder<v1::SelectTopRequest>(array + "count: 24", limits).ok());
  limits.message_bytes_max -= 1;
  EXPECT_EQ(kernels::FieldOf(PlanOrder<v1::SelectTopRequest>(array + "count: 24", limits).status()),
            "count");
  const std::string rows = array + "grouping { axis: 1 } " + Repeated("quantiles", 2);
  EXPECT_EQ(kernels::FieldOf(PlanOrder<v1::ComputeQuantilesRequest>(rows, limits).status()),
            "quantiles");
}

TEST(OrderValidationTest, ColumnsAreRearranged) {
  const auto columns =
      PlanOrder<v1::ComputeQuantilesRequest>(Bytes("[2, 3, 4]") +
                                             "quantiles: 0.5 grouping { axes { axes: [0, 1] } } "
                                             "keep_dimensions: true");
  ASSERT_TRUE(columns.ok()) << columns.status();
  EXPECT_TRUE(columns->rearrangement.has_value());
  EXPECT_EQ(columns->plan.grouping.group_count, 4u);
  EXPECT_EQ(columns->plan.grouping.group_size, 6u);
  EXPECT_THAT(columns->result_shape.extents(), testing::ElementsAre(1, 1, 4));
  const auto rows = PlanOrder<v1::SelectTopRequest>(Bytes("[2, 3, 4]") +
                                                    "count: 2 grouping { axes { axes: -1 } }");
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_FALSE(rows->rearrangement.has_value());
  EXPECT_THAT(rows->group_shape.extents(), testing::ElementsAre(2, 3));
}

}  // namespace
}  // namespace gridfold::server
