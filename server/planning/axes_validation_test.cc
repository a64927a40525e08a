// What is refused of shapes and axes, and by which field; and what comes of those that are taken.
#include "server/planning/axes_validation.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/memory/host_resident_pool.h"
#include "server/arrays/array_store.h"
#include "server/planning/array_request_validation.h"
#include "server/planning/request_validation.h"
#include "server/planning/shape_validation.h"

namespace gridfold::server {
namespace {

using kernels::GroupingKind;
using kernels::Shape;
using testing::ElementsAre;

constexpr kernels::ElementType kType = kernels::ElementType::kInt8;

template <class Message>
Message Parsed(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

PlanningContext ContextOf(const Limits& limits) {
  static auto* const kNoArrays =
      new ArrayStore(kernels::CreateHostResidentPool(Limits{}.resident_bytes_max), Limits{});
  return PlanningContext{limits, TenantArrays(*kNoArrays, "")};
}

// A request of 24 int8 elements of this shape.
template <class Request>
Request RequestOf(const std::string& shape, const std::string& rest) {
  return Parsed<Request>("array { inline_array { element_type: ELEMENT_TYPE_INT8 shape: " + shape +
                         " data: \"abcdefghijklmnopqrstuvwx\" } } " + rest);
}

using Faults = std::vector<std::pair<std::string, std::string>>;

// Expects each of the texts, as `plan` takes it, to be refused for its field.
template <class PlanText>
void ExpectRefused(const Faults& faults, PlanText plan) {
  for (const auto& [text, field] : faults) {
    SCOPED_TRACE(text);
    const absl::Status status = plan(text);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_EQ(kernels::FieldOf(status), field) << status;
  }
}

TEST(AxesValidationTest, FaultyAxesOfReductions) {
  const Limits limits;
  ExpectRefused({{"grouping { axis: 3 }", "grouping.axis"},
                 {"grouping { axes { axes: [0, 3] } }", "grouping.axes.axes[1]"},
                 {"grouping { axes { axes: [-4] } }", "grouping.axes.axes[0]"},
                 {"grouping { axes { axes: [0, 2, 0] } }", "grouping.axes.axes[2]"},
                 {"grouping { axes { axes: [2, 1, -1] } }", "grouping.axes.axes[2]"},
                 {"grouping { segments { offsets: [0, 24] } }", "grouping.segments"}},
                [&](const std::string& text) {
                  return PlanRequest(RequestOf<v1::ReduceArrayRequest>(
                                         "[2, 3, 4]", "statistics: STATISTIC_SUM " + text),
                                     ContextOf(limits))
                      .status();
                });
  const auto segments = RequestOf<v1::ReduceArrayRequest>(
      "[24]",
      "statistics: STATISTIC_SUM keep_dimensions: true grouping { segments { offsets: [0, 24] } }");
  EXPECT_EQ(kernels::FieldOf(PlanRequest(segments, ContextOf(limits)).status()), "keep_dimensions");
}

TEST(AxesValidationTest, FaultyAxesOfScans) {
  const Limits limits;
  ExpectRefused({{"grouping { axis: 3 }", "grouping.axis"},
                 {"grouping { axes { axes: [0, 1] } }", "grouping.axes"},
                 {"grouping { axes { } }", "grouping.axes"},
                 {"grouping { axes { axes: [5] } }", "grouping.axes.axes[0]"}},
                [&](const std::string& text) {
                  return PlanRequest(RequestOf<v1::ScanArrayRequest>(
                                         "[2, 3, 4]", "operation: SCAN_OPERATION_SUM " + text),
                                     ContextOf(limits))
                      .status();
                });
}

TEST(AxesValidationTest, FaultyShapes) {
  const Limits limits;
  ExpectRefused({{"shape: [1, 1, 1, 1, 1, 1, 1, 1, 1]", "shape"},
                 {"", "shape"},
                 {"shape: [1] zero_dimensional: true", "zero_dimensional"},
                 {"shape: [4294967296, 4294967296, 4294967296]", "shape"},
                 {"shape: [2147483648, 2147483648, 2]", "shape"}},
                [&](const std::string& text) {
                  return PlanRequest(Parsed<v1::CreateArrayRequest>(
                                         "element_type: ELEMENT_TYPE_INT8 " + text),
                                     ContextOf(limits))
                      .status();
                });
  ExpectRefused(
      {{"shape: [1, 1, 1, 1, 1, 1, 1, 1, 1] data: \"a\"", "array.inline_array.shape"},
       {"shape: [2, 2, 2] data: \"abcdefg\"", "array.inline_array.shape"},
       {"zero_dimensional: true data: \"ab\"", "array.inline_array.zero_dimensional"},
       {"zero_dimensional: true", "array.inline_array.zero_dimensional"},
       {"zero_dimensional: true shape: 1 data: \"a\"", "array.inline_array.zero_dimensional"}},
      [&](const std::string& text) {
        return PlanRequest(Parsed<v1::ReduceArrayRequest>(
                               "statistics: STATISTIC_SUM array { inline_array { element_type: "
                               "ELEMENT_TYPE_INT8 " +
                               text + " } }"),
                           ContextOf(limits))
            .status();
      });
}

TEST(AxesValidationTest, FaultyStreams) {
  const Limits limits;
  ExpectRefused({{"row_shape: [3, 0]", "array.streamed_array.row_shape"},
                 {"row_shape: [3] column_count: 3", "array.streamed_array.row_shape"},
                 {"row_shape: [1, 1, 1, 1, 1, 1, 1, 1]", "array.streamed_array.row_shape"},
                 {"row_shape: [3, 4] } } grouping { axes { axes: 1", "grouping.axes"},
                 {"row_shape: [3, 4] } } grouping { axes { axes: [0, 2]", "grouping.axes"},
                 {"row_shape: [3, 4] } } grouping { axes { axes: 3", "grouping.axes.axes[0]"}},
                [&](const std::string& text) {
                  return PlanStream(
                             Parsed<v1::ReduceArrayRequest>(
                                 "statistics: STATISTIC_SUM array { streamed_array { element_type: "
                                 "ELEMENT_TYPE_INT8 " +
                                 text + " } }"),
                             limits)
                      .status();
                });
  const auto scan = Parsed<v1::ScanArrayRequest>(
      "operation: SCAN_OPERATION_SUM "
      "array { streamed_array { element_type: ELEMENT_TYPE_INT8 row_shape: 3 } }");
  EXPECT_EQ(kernels::FieldOf(PlanStream(scan, limits).status()), "array.streamed_array.row_shape");
}

TEST(AxesValidationTest, MoreGroupsThanAllowedAreRefused) {
  Limits limits;
  limits.group_count_max = 11;
  const auto request = RequestOf<v1::ReduceArrayRequest>(
      "[2, 3, 4]", "statistics: STATISTIC_SUM grouping { axes { axes: 0 } }");
  const absl::Status status = PlanRequest(request, ContextOf(limits)).status();
  EXPECT_TRUE(kernels::IsAboveLimit(status)) << status;
  EXPECT_EQ(kernels::FieldOf(status), "grouping.axes");
}

// Whoever may not have so much on the server may not ask for a copy there.
TEST(AxesValidationTest, CopiesThatNobodyMayHaveAreTooLarge) {
  Limits limits;
  limits.resident_bytes_max = 23;
  const auto plan = [&](const std::string& axes) {
    return PlanRequest(RequestOf<v1::ReduceArrayRequest>(
                           "[2, 3, 4]",
                           "statistics: STATISTIC_SUM grouping { axes { axes: " + axes + "} }"),
                       ContextOf(limits))
        .status();
  };
  EXPECT_TRUE(plan("[0, 1]").ok());
  const absl::Status status = plan("[0, 2]");
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_TRUE(kernels::IsAboveLimit(status)) << status;
}

TEST(AxesValidationTest, AxesCountFromEitherEndInAnyOrder) {
  const Limits limits;
  const auto shape_of = [&](const std::string& axes, bool keeps) {
    const auto request = RequestOf<v1::ReduceArrayRequest>(
        "[2, 3, 4]", "statistics: STATISTIC_SUM " + axes + (keeps ? " keep_dimensions: true" : ""));
    const auto planned = PlanRequest(request, ContextOf(limits));
    EXPECT_TRUE(planned.ok()) << planned.status();
    return planned.ok() ? planned->result_shape : Shape();
  };
  EXPECT_EQ(shape_of("grouping { axes { axes: [-1, 0] } }", false), Shape({3}));
  EXPECT_EQ(shape_of("grouping { axes { axes: [2, 0] } }", true), Shape({1, 3, 1}));
  EXPECT_EQ(shape_of("grouping { axis: 1 }", false), Shape({2, 4}));
  EXPECT_EQ(shape_of("grouping { axes { } }", false), Shape({2, 3, 4}));
  EXPECT_EQ(shape_of("", false), Shape());
  EXPECT_EQ(shape_of("", true), Shape({1, 1, 1}));
}

TEST(AxesValidationTest, StreamsTakeWhatRowsCanSay) {
  const Limits limits;
  const auto plan = [&](const Shape& shape, const std::string& axes) {
    const auto planned = PlanStreamedGroups(Parsed<v1::Grouping>(axes), {kType, shape}, limits);
    EXPECT_TRUE(planned.ok()) << planned.status();
    EXPECT_EQ(planned->array.rows, 0u);
    return std::pair(planned->grouping.kind, planned->array.columns);
  };
  const Shape cube{0, 3, 4};
  EXPECT_EQ(plan(cube, "axes { axes: 0 }"), std::pair(GroupingKind::kAxis0, uint64_t{12}));
  EXPECT_EQ(plan(cube, "axes { axes: [0, 1] }"), std::pair(GroupingKind::kAxis0, uint64_t{4}));
  EXPECT_EQ(plan(cube, "axes { axes: [1, 2] }"), std::pair(GroupingKind::kAxis1, uint64_t{12}));
  EXPECT_EQ(plan(cube, "axis: 2"), std::pair(GroupingKind::kAxis1, uint64_t{4}));
  EXPECT_EQ(plan(cube, "axes { }"), std::pair(GroupingKind::kAxis1, uint64_t{1}));
  EXPECT_EQ(plan(cube, ""), std::pair(GroupingKind::kWhole, uint64_t{12}));
  const Shape column{0, 1, 1};
  EXPECT_EQ(plan(column, "axis: 0"), std::pair(GroupingKind::kAxis0, uint64_t{1}));
  EXPECT_EQ(plan(column, "axes { axes: [0, 2] }"), std::pair(GroupingKind::kAxis0, uint64_t{1}));
  EXPECT_EQ(plan(column, "axis: 1"), std::pair(GroupingKind::kAxis1, uint64_t{1}));
}

}  // namespace
}  // namespace gridfold::server
