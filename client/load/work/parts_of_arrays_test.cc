// Sets of axes, views and masks: what a scenario says of them, what is sent, and what is known of
// the answers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "client/library/unary_call.h"
#include "client/load/work/answer_reader.h"
#include "client/load/work/array_shape.h"
#include "client/load/work/array_values.h"
#include "client/load/work/generated_operation.h"
#include "client/load/work/group_walk.h"
#include "client/load/work/known_answer.h"
#include "client/load/work/prepared_request.h"
#include "client/load/work/scenario_file.h"
#include "gridfold/v1/compute_service.pb.h"

namespace gridfold::load {
namespace {

using client::ElementType;
using client::Statistic;
using client::StatisticValues;
using ::testing::Each;
using ::testing::ElementsAre;

using Integers = std::vector<int64_t>;
using Indices = std::vector<uint64_t>;

std::vector<int32_t> FromZeroTo(int32_t end) {
  std::vector<int32_t> numbers(static_cast<size_t>(end));
  for (int32_t i = 0; i < end; ++i) numbers[static_cast<size_t>(i)] = i;
  return numbers;
}

TEST(ScenarioFileTest, ReadsAxesViewsAndMasks) {
  const auto file = ParseScenario(R"(
requests:
  - {elements: 240, row_shape: [4, 6], axes: [0, -1], keep_dimensions: true, where: 0.25}
  - elements: 240
    columns: 6
    transport: resident
    view: {first: [7, 5], dimensions: [{axis: 1, count: 2, step: -3}, {axis: 0}]}
    where: {part: 0.5, dimensions: 1}
  - {axes: [], where: {dimensions: 1}}
  - {}
)");
  ASSERT_TRUE(file.ok()) << file.status();
  const auto& requests = file->scenario.requests;
  EXPECT_THAT(requests[0].row_shape, ElementsAre(4, 6));
  EXPECT_THAT(*requests[0].axes, ElementsAre(0, -1));
  EXPECT_TRUE(requests[0].keep_dimensions);
  EXPECT_EQ(requests[0].where->part, 0.25);
  EXPECT_EQ(requests[0].where->dimension_count, std::nullopt);
  const ScenarioView& view = *requests[1].view;
  EXPECT_THAT(view.first, ElementsAre(7, 5));
  ASSERT_EQ(view.dimensions.size(), 2u);
  EXPECT_EQ(view.dimensions[0].axis, 1u);
  EXPECT_EQ(view.dimensions[0].count, 2u);
  EXPECT_EQ(view.dimensions[0].step, -3);
  EXPECT_EQ(view.dimensions[1].axis, 0u);
  EXPECT_EQ(view.dimensions[1].count, std::nullopt);
  EXPECT_EQ(view.dimensions[1].step, 1);
  EXPECT_EQ(requests[1].where->part, 0.5);
  EXPECT_EQ(requests[1].where->dimension_count, 1u);
  EXPECT_THAT(*requests[2].axes, ElementsAre());
  EXPECT_EQ(requests[2].where->part, 1);
  EXPECT_EQ(requests[3].axes, std::nullopt);
  EXPECT_FALSE(requests[3].keep_dimensions);
  EXPECT_FALSE(requests[3].view.has_value());
  EXPECT_FALSE(requests[3].where.has_value());
}

// The sums and the places of the largest of 24 elements from 0 on, of shape [2, 3, 4].
KnownReduction ReduceCube(std::vector<int32_t> axes, bool keep_dimensions = false) {
  const RequestKind kind{.statistics = {Statistic::kSum, Statistic::kArgmax},
                         .element_type = ElementType::kInt32,
                         .row_shape = {3, 4},
                         .axes = std::move(axes),
                         .keep_dimensions = keep_dimensions};
  return std::get<KnownReduction>(
      ComputeKnownAnswer(kind, {.elements = FromZeroTo(24), .shape = {2, 3, 4}}));
}

TEST(KnownAnswerTest, GroupsAlongSetsOfAxes) {
  const KnownReduction outer = ReduceCube({0, -1});
  EXPECT_EQ(outer.group_count, 3u);
  EXPECT_EQ(outer.entries[0].values, StatisticValues(Integers{60, 92, 124}));
  EXPECT_EQ(outer.entries[1].values, StatisticValues(Indices{7, 7, 7}));
  EXPECT_THAT(outer.result_shape, ElementsAre(3));
  const KnownReduction middle = ReduceCube({1}, /*keep_dimensions=*/true);
  EXPECT_EQ(middle.entries[0].values, StatisticValues(Integers{12, 15, 18, 21, 48, 51, 54, 57}));
  EXPECT_EQ(middle.entries[1].values, StatisticValues(Indices(8, 2)));
  EXPECT_THAT(middle.result_shape, ElementsAre(2, 1, 4));
  const KnownReduction all = ReduceCube({2, 0, 1}, /*keep_dimensions=*/true);
  EXPECT_EQ(all.entries[0].values, StatisticValues(Integers{276}));
  EXPECT_THAT(all.result_shape, ElementsAre(1, 1, 1));
  const KnownReduction none = ReduceCube({});
  EXPECT_EQ(none.group_count, 24u);
  EXPECT_EQ(none.entries[1].values, StatisticValues(Indices(24, 0)));
  EXPECT_THAT(none.result_shape, ElementsAre(2, 3, 4));
}

TEST(KnownAnswerTest, ShapesOfOtherGroups) {
  const RequestKind segments{.group_by = GroupBy::kSegments};
  EXPECT_THAT(ResultShape(segments, {.elements = {1, 2, 3}, .segment_offsets = {0, 1, 3}}),
              ElementsAre(2));
  const OperationValues matrix{.elements = FromZeroTo(6), .shape = {2, 3}};
  EXPECT_THAT(ResultShape({.group_by = GroupBy::kRows}, matrix), ElementsAre(2));
  EXPECT_THAT(ResultShape({.group_by = GroupBy::kColumns}, matrix), ElementsAre(3));
  EXPECT_THAT(ResultShape({}, matrix), ElementsAre());
  EXPECT_THAT(ResultShape({.keep_dimensions = true}, matrix), ElementsAre(1, 1));
}

// As NumPy has them: of numpy.arange(24).reshape(2, 3, 4).
TEST(ArrayShapeTest, ViewsTakeElementsAtTheirSteps) {
  const Extents whole = {2, 3, 4};
  const auto taken = [&](const ScenarioView& view) {
    return TakeView(ResolveView(view, whole), whole, FromZeroTo(24));
  };
  EXPECT_EQ(taken({.dimensions = {{.axis = 0}, {.axis = 1}, {.axis = 2}}}), FromZeroTo(24));
  // a[::-1, 0, ::3].T
  EXPECT_THAT(taken({.dimensions = {{.axis = 2, .step = 3}, {.axis = 0, .step = -1}}}),
              ElementsAre(12, 0, 15, 3));
  // a[1, 2:0:-1, 3:0:-2]
  EXPECT_THAT(taken({.first = {1, 2, 3},
                     .dimensions = {{.axis = 1, .count = 2, .step = -1}, {.axis = 2, .step = -2}}}),
              ElementsAre(23, 21, 19, 17));
  // a[:, 1, 2:]
  EXPECT_THAT(taken({.first = {0, 1, 2}, .dimensions = {{.axis = 0}, {.axis = 2}}}),
              ElementsAre(6, 7, 18, 19));
}

TEST(ArrayShapeTest, CountsFollowFromTheArrayWhereTheyAreLeftOut) {
  const auto count = [](uint64_t extent, int64_t step, std::vector<uint64_t> first = {}) {
    return ShapeOf(
        ResolveView({.first = std::move(first), .dimensions = {{.step = step}}}, {extent}))[0];
  };
  EXPECT_EQ(count(9, 4), 3u);
  EXPECT_EQ(count(8, 4), 2u);
  EXPECT_EQ(count(9, -4), 3u);
  EXPECT_EQ(count(8, -4), 2u);
  EXPECT_EQ(count(9, 4, {1}), 2u);
  EXPECT_EQ(count(9, -4, {3}), 1u);
  EXPECT_EQ(count(9, -4, {4}), 2u);
  EXPECT_EQ(count(1, INT64_MIN), 1u);
}

TEST(KnownAnswerTest, WhatDoesNotCountHasAPlace) {
  const RequestKind kind{.statistics = {Statistic::kCount, Statistic::kSum, Statistic::kArgmax},
                         .element_type = ElementType::kInt32,
                         .group_by = GroupBy::kColumns};
  OperationValues values{
      .elements = {9, 9, 1, 7, 5, 8}, .shape = {3, 2}, .mask = {0, 1, 1, 0, 1, 1}};
  const auto known = std::get<KnownReduction>(ComputeKnownAnswer(kind, values));
  EXPECT_EQ(known.entries[0].values, StatisticValues(Indices{2, 2}));
  EXPECT_EQ(known.entries[1].values, StatisticValues(Integers{6, 17}));
  EXPECT_EQ(known.entries[2].values, StatisticValues(Indices{2, 0}));
  // A mask of a row is one of each.
  values.mask = {1, 0};
  const RequestKind whole{.statistics = {Statistic::kSum, Statistic::kArgmin},
                          .element_type = ElementType::kInt32};
  const auto rows = std::get<KnownReduction>(ComputeKnownAnswer(whole, values));
  EXPECT_EQ(rows.entries[0].values, StatisticValues(Integers{15}));
  EXPECT_EQ(rows.entries[1].values, StatisticValues(Indices{2}));
}

TEST(KnownAnswerTest, ScansPassOverWhatDoesNotCount) {
  RequestKind kind{.operation = OperationKind::kScan, .element_type = ElementType::kInt64};
  const auto results = [&](const OperationValues& values) {
    const auto known = std::get<KnownScan>(ComputeKnownAnswer(kind, values));
    Integers numbers(known.data.size() / sizeof(int64_t));
    std::memcpy(numbers.data(), known.data.data(), known.data.size());
    return numbers;
  };
  const OperationValues values{.elements = {5, 2, 7, 3}, .mask = {0, 1, 0, 1}};
  EXPECT_THAT(results(values), ElementsAre(0, 2, 2, 5));
  kind.scan_mode = client::ScanMode::kExclusive;
  EXPECT_THAT(results(values), ElementsAre(0, 0, 2, 2));
  kind.scan_operation = client::ScanOperation::kProduct;
  EXPECT_THAT(results(values), ElementsAre(1, 1, 2, 2));
}

TEST(KnownAnswerTest, ZeroProductsHaveTheSignOfWhatCounts) {
  const RequestKind kind{.operation = OperationKind::kScan,
                         .scan_operation = client::ScanOperation::kProduct};
  const auto known = std::get<KnownScan>(
      ComputeKnownAnswer(kind, {.elements = {0, -1, -1, -1}, .mask = {1, 0, 1, 0}}));
  const float products[] = {0.0F, 0.0F, -0.0F, -0.0F};
  EXPECT_EQ(WholeDifference(known, ElementType::kFloat32,
                            {reinterpret_cast<const char*>(products), sizeof(products)}),
            "");
}

TEST(KnownAnswerTest, HistogramsCountWhatTheMaskSelects) {
  RequestKind kind{
      .operation = OperationKind::kHistogram, .bin_count = 2, .bin_range = std::pair(0.0, 10.0)};
  const OperationValues values{.elements = {-1, -1, 0, 4, 5, 11, 11},
                               .weights = {1, 2, 4, 8, 16, 32, 64},
                               .mask = {1, 0, 0, 1, 1, 0, 1}};
  const auto known = std::get<KnownHistogram>(ComputeKnownAnswer(kind, values));
  EXPECT_THAT(known.counts, ElementsAre(1, 1));
  EXPECT_EQ(known.underflow_count, 1u);
  EXPECT_EQ(known.overflow_count, 1u);
  kind.is_weighted = true;
  EXPECT_THAT(std::get<KnownHistogram>(ComputeKnownAnswer(kind, values)).weight_sums,
              ElementsAre(8, 16));
}

TEST(ArrayValuesTest, MasksSelectAPartAndOneOfEachGroup) {
  std::mt19937_64 random(1);
  RequestKind kind{.where = ScenarioMask{.part = 0.3}};
  const std::vector<int32_t> mask = DrawOperation(kind, 20000, random).mask;
  EXPECT_EQ(mask.size(), 20000u);
  EXPECT_NEAR(static_cast<double>(std::count(mask.begin(), mask.end(), 1)), 6000, 300);
  EXPECT_EQ(std::count(mask.begin(), mask.end(), 0) + std::count(mask.begin(), mask.end(), 1),
            20000);
  kind.where->part = 1;
  EXPECT_THAT(DrawOperation(kind, 500, random).mask, Each(1));
  // As good as none counts by itself: one of each row.
  kind = {.row_shape = {4, 5}, .axes = {{2}}, .where = ScenarioMask{.part = 1e-9}};
  const OperationValues rows = DrawOperation(kind, 2000, random);
  EXPECT_EQ(rows.mask.size(), 2000u);
  for (size_t row = 0; row < 2000; row += 5) {
    const auto begin = rows.mask.begin() + static_cast<ptrdiff_t>(row);
    EXPECT_THAT(std::vector<int32_t>(begin, begin + 5), ElementsAre(1, 0, 0, 0, 0));
  }
  // Of the last dimensions alone, where a row of the mask is one of all matrices.
  kind.where->dimension_count = 2;
  EXPECT_THAT(DrawOperation(kind, 2000, random).mask,
              ElementsAre(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0));
}

RequestKind ViewedKind() {
  return {.operation = OperationKind::kHistogram,
          .is_weighted = true,
          .element_type = ElementType::kInt16,
          .column_count = 10,
          .view = ScenarioView{.dimensions = {{.axis = 1, .step = -4}, {.axis = 0, .step = 2}}},
          .where = ScenarioMask{.part = 0.5, .dimension_count = 1},
          .transport = ArrayTransport::kResident};
}

TEST(ArrayValuesTest, WhatIsBesideAViewIsOfItsSize) {
  std::mt19937_64 random(1);
  const OperationValues values = DrawOperation(ViewedKind(), 50, random);
  EXPECT_EQ(values.viewed_elements.size(), 50u);
  EXPECT_THAT(values.shape, ElementsAre(3, 3));
  std::vector<int32_t> viewed;
  for (const size_t column : {9, 5, 1}) {
    for (const size_t row : {0, 2, 4}) viewed.push_back(values.viewed_elements[row * 10 + column]);
  }
  EXPECT_EQ(values.elements, viewed);
  EXPECT_EQ(values.weights.size(), 9u);
  EXPECT_EQ(values.mask.size(), 3u);
}

TEST(GeneratedOperationTest, ArraysBesideAViewHaveItsShape) {
  std::mt19937_64 random(1);
  const RequestKind kind = ViewedKind();
  const GeneratedOperation operation = Generate(kind, 50, random);
  const std::vector<ArrayBytes> arrays = ArraysOf(kind, operation);
  ASSERT_EQ(arrays.size(), 3u);
  EXPECT_THAT(arrays[0].shape, ElementsAre(5, 10));
  EXPECT_EQ(arrays[0].bytes.size(), 100u);
  EXPECT_THAT(arrays[1].shape, ElementsAre(3, 3));
  EXPECT_EQ(arrays[1].bytes.size(), 18u);
  EXPECT_EQ(arrays[2].element_type, ElementType::kBool);
  EXPECT_THAT(arrays[2].shape, ElementsAre(3));
  EXPECT_EQ(arrays[2].bytes.size(), 3u);
  EXPECT_EQ(operation.size_bytes(), 121u);
  EXPECT_EQ(operation.read_bytes(kind), 39u);  // What is not in the view is not read.
}

TEST(GeneratedOperationTest, IsAskedForWithItsViewAndItsMask) {
  std::mt19937_64 random(1);
  const RequestKind kind = ViewedKind();
  const GeneratedOperation operation = Generate(kind, 50, random);
  const std::vector<client::ArrayInput> arrays = {
      client::ResidentArray{"a"}, client::ResidentArray{"w"}, client::ResidentArray{"m"}};
  auto next = arrays.begin();
  PreparedRequest request{.kind = kind, .method = "", .messages = {}};
  AddUnaryMessage({InputOf(operation, next)}, request);
  EXPECT_TRUE(next == arrays.end());
  v1::ComputeHistogramRequest sent;
  ASSERT_TRUE(client::Parse(request.messages[0], sent).ok());
  const v1::ResidentArray& array = sent.array().resident_array();
  EXPECT_EQ(array.name(), "a");
  EXPECT_THAT(array.view().first(), ElementsAre(0, 9));
  ASSERT_EQ(array.view().dimensions_size(), 2);
  EXPECT_EQ(array.view().dimensions(0).axis(), 1u);
  EXPECT_EQ(array.view().dimensions(0).count(), 3u);
  EXPECT_EQ(array.view().dimensions(0).step(), -4);
  EXPECT_EQ(array.view().dimensions(1).count(), 3u);
  EXPECT_EQ(sent.weights().resident_array().name(), "w");
  EXPECT_FALSE(sent.weights().resident_array().has_view());
  EXPECT_EQ(sent.where().resident_array().name(), "m");
}

TEST(GeneratedOperationTest, SegmentsAreAskedForAsTheyWereDrawn) {
  const RequestKind kind{.group_by = GroupBy::kSegments, .segment_elements = 4};
  std::mt19937_64 drawn(1);
  const std::vector<uint64_t> offsets = DrawOperation(kind, 100, drawn).segment_offsets;
  std::mt19937_64 random(1);
  const GeneratedOperation operation = Generate(kind, 100, random);
  EXPECT_EQ(operation.input.segment_offsets, offsets);
  const std::vector<client::ArrayInput> arrays = {client::ResidentArray{"a"}};
  auto next = arrays.begin();
  EXPECT_EQ(InputOf(operation, next).segment_offsets, offsets);
}

TEST(PreparedRequestTest, AsksForAxesAndKeptDimensions) {
  RequestKind kind{.row_shape = {4, 6}, .axes = {{0, -1}}, .keep_dimensions = true};
  PreparedRequest reduction{.kind = kind, .method = "", .messages = {}};
  AddUnaryMessage({{.elements = client::ResidentArray{"a"}}}, reduction);
  v1::ReduceArrayRequest reduce;
  ASSERT_TRUE(client::Parse(reduction.messages[0], reduce).ok());
  EXPECT_THAT(reduce.grouping().axes().axes(), ElementsAre(0, -1));
  EXPECT_TRUE(reduce.keep_dimensions());
  EXPECT_FALSE(reduce.has_where());
  kind.operation = OperationKind::kQuantiles;
  PreparedRequest medians{.kind = kind, .method = "", .messages = {}};
  AddUnaryMessage({{.elements = client::ResidentArray{"a"}}}, medians);
  v1::ComputeQuantilesRequest quantiles;
  ASSERT_TRUE(client::Parse(medians.messages[0], quantiles).ok());
  EXPECT_TRUE(quantiles.keep_dimensions());
}

// The elements and the mask that the messages of a stream bring, as a byte for each.
template <typename Message>
void ExpectStreamOfMask(OperationKind operation) {
  const RequestKind kind{.operation = operation,
                         .element_type = ElementType::kInt32,
                         .where = ScenarioMask{},
                         .transport = ArrayTransport::kStream};
  PreparedRequest request{.kind = kind, .method = "", .messages = {}};
  const std::string mask = {1, 0, 0, 1, 1, 0, 1};
  AddStreamMessages({.elements = std::string(28, 'x'), .mask = mask}, 12, request);
  ASSERT_EQ(request.messages.size(), 4u);
  std::string sent;
  for (size_t i = 0; i < request.messages.size(); ++i) {
    Message message;
    ASSERT_TRUE(client::Parse(request.messages[i], message).ok());
    EXPECT_EQ(message.data().size(), 4 * message.where().size());
    EXPECT_EQ(message.request().where().streamed_array().element_type(),
              i == 0 ? v1::ELEMENT_TYPE_BOOL : v1::ELEMENT_TYPE_UNSPECIFIED);
    sent += message.where();
  }
  EXPECT_EQ(sent, mask);
}

TEST(PreparedRequestTest, StreamsBringTheirMaskBesideTheElements) {
  ExpectStreamOfMask<v1::ReduceStreamRequest>(OperationKind::kReduce);
  ExpectStreamOfMask<v1::ScanStreamRequest>(OperationKind::kScan);
  ExpectStreamOfMask<v1::HistogramStreamRequest>(OperationKind::kHistogram);
}

TEST(PreparedRequestTest, StreamsSayTheShapeOfTheirRows) {
  const RequestKind kind{
      .row_shape = {4, 6}, .axes = {{1, 2}}, .transport = ArrayTransport::kStream};
  PreparedRequest request{.kind = kind, .method = "", .messages = {}};
  AddStreamMessages({.elements = std::string(240, 'x')}, 1000, request);
  v1::ReduceStreamRequest header;
  ASSERT_TRUE(client::Parse(request.messages[0], header).ok());
  EXPECT_THAT(header.request().array().streamed_array().row_shape(), ElementsAre(4, 6));
  EXPECT_THAT(header.request().grouping().axes().axes(), ElementsAre(1, 2));
  EXPECT_FALSE(header.request().has_where());
}

TEST(AnswerReaderTest, TellsWrongShapes) {
  const RequestKind kind{.row_shape = {3}, .axes = {{0}}, .keep_dimensions = true};
  const OperationValues values{.elements = FromZeroTo(6), .shape = {2, 3}};
  const auto known = std::get<KnownReduction>(ComputeKnownAnswer(kind, values));
  client::ReductionResult result{
      .entries = known.entries, .group_count = 3, .result_shape = {1, 3}, .execution = {}};
  EXPECT_EQ(Difference(known, result), "");
  result.result_shape = {3};
  EXPECT_EQ(Difference(known, result), "the shape is [3], not [1, 3]");
  RequestKind medians = kind;
  medians.operation = OperationKind::kQuantiles;
  medians.quantiles = {0.5};
  const auto quantiles = std::get<KnownQuantiles>(ComputeKnownAnswer(medians, values));
  client::QuantileResult answer{.quantile_values = quantiles.values,
                                .group_count = 3,
                                .result_shape = {1, 3},
                                .execution = {}};
  EXPECT_EQ(Difference(quantiles, answer), "");
  answer.result_shape = {3, 1};
  EXPECT_EQ(Difference(quantiles, answer), "the shape is [3, 1], not [1, 3]");
}

}  // namespace
}  // namespace gridfold::load
