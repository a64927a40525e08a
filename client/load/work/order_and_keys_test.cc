// Quantiles, the largest elements, reductions by key and relations: what is known of their answers,
// and that anything else is told from it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "client/library/unary_call.h"
#include "client/load/work/answer_reader.h"
#include "client/load/work/array_values.h"
#include "client/load/work/known_answer.h"
#include "client/load/work/known_values.h"
#include "client/load/work/prepared_request.h"
#include "gridfold/v1/compute_service.pb.h"

namespace gridfold::load {
namespace {

using client::ElementType;
using client::PairedStatistic;
using client::QuantileMethod;
using client::Statistic;
using client::StatisticValues;
using ::testing::ElementsAre;
using Doubles = std::vector<double>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(KnownValuesTest, NanIsAsItMustBeWhereNanIsExpected) {
  EXPECT_TRUE(AreSame(Doubles{1, kNan}, Doubles{1, kNan}));
  EXPECT_FALSE(AreSame(Doubles{1, kNan}, Doubles{kNan, 1}));
  EXPECT_FALSE(AreSame(Doubles{1}, Doubles{1, 1}));
  EXPECT_FALSE(AreSame(Doubles{1}, std::vector<int64_t>{1}));
  EXPECT_TRUE(AreSame(std::vector<bool>{true}, std::vector<bool>{true}));
}

Doubles Quantiles(QuantileMethod method, const std::vector<double>& quantiles,
                  const std::vector<int32_t>& elements) {
  const RequestKind kind{
      .operation = OperationKind::kQuantiles, .quantiles = quantiles, .quantile_method = method};
  const auto known = std::get<KnownQuantiles>(ComputeKnownAnswer(kind, {.elements = elements}));
  Doubles values;
  for (const StatisticValues& entry : known.values) {
    values.push_back(std::get<Doubles>(entry).at(0));
  }
  return values;
}

// As numpy.quantile has them.
TEST(KnownAnswerTest, QuantilesOfEveryMethod) {
  const std::vector<int32_t> elements = {7, -2, 4, 1};  // Sorted: -2, 1, 4, 7.
  const std::vector<double> quantiles = {0, 0.25, 0.5, 0.9, 1};
  using enum QuantileMethod;
  EXPECT_THAT(Quantiles(kLinear, quantiles, elements),
              ElementsAre(-2, 0.25, 2.5, 7 - 3 * (1 - (3 * 0.9 - 2)), 7));
  EXPECT_THAT(Quantiles(kLower, quantiles, elements), ElementsAre(-2, -2, 1, 4, 7));
  EXPECT_THAT(Quantiles(kHigher, quantiles, elements), ElementsAre(-2, 1, 4, 7, 7));
  // Halfway, the one whose place is even.
  EXPECT_THAT(Quantiles(kNearest, quantiles, elements), ElementsAre(-2, 1, 4, 7, 7));
  EXPECT_THAT(Quantiles(kMidpoint, quantiles, elements), ElementsAre(-2, -0.5, 2.5, 5.5, 7));
  EXPECT_THAT(Quantiles(kMean, quantiles, elements), ElementsAre(-2, -0.5, 2.5, 5.5, 7));
}

TEST(KnownAnswerTest, QuantilesOfGroupsAreElementsWhereNothingIsInterpolated) {
  RequestKind kind{.operation = OperationKind::kQuantiles,
                   .quantiles = {0.5, 1},
                   .quantile_method = QuantileMethod::kLower,
                   .element_type = ElementType::kUint8,
                   .column_count = 3,
                   .group_by = GroupBy::kRows};
  const OperationValues values{.elements = {5, 9, 1, 6, 0, 2}, .shape = {2, 3}};
  const auto rows = std::get<KnownQuantiles>(ComputeKnownAnswer(kind, values));
  EXPECT_EQ(rows.group_count, 2u);
  EXPECT_THAT(rows.values, ElementsAre(StatisticValues(std::vector<uint64_t>{5, 2}),
                                       StatisticValues(std::vector<uint64_t>{9, 6})));
  kind.quantile_method = QuantileMethod::kLinear;
  kind.group_by = GroupBy::kColumns;
  const auto columns = std::get<KnownQuantiles>(ComputeKnownAnswer(kind, values));
  EXPECT_EQ(columns.values[0], StatisticValues(Doubles{5.5, 4.5, 1.5}));
}

TEST(KnownAnswerTest, EqualElementsOfTheTopComeInTheOrderOfTheirIndices) {
  RequestKind kind{
      .operation = OperationKind::kTop, .top_count = 3, .element_type = ElementType::kInt16};
  OperationValues values{.elements = {4, 8, -1, 8, 4, 0}};
  const auto largest = std::get<KnownTop>(ComputeKnownAnswer(kind, values));
  EXPECT_EQ(largest.values, StatisticValues(std::vector<int64_t>{8, 8, 4}));
  EXPECT_THAT(largest.indices, ElementsAre(1, 3, 0));
  kind.top_smallest = true;
  kind.column_count = 2;
  kind.group_by = GroupBy::kColumns;
  values.shape = {3, 2};
  const auto smallest = std::get<KnownTop>(ComputeKnownAnswer(kind, values));
  EXPECT_EQ(smallest.values, StatisticValues(std::vector<int64_t>{-1, 4, 4, 0, 8, 8}));
  EXPECT_THAT(smallest.indices, ElementsAre(1, 0, 2, 2, 0, 1));
}

RequestKind KeyedKind() {
  return {.operation = OperationKind::kKeyedReduction,
          .statistics = {Statistic::kSum, Statistic::kArgmax, Statistic::kMean},
          .quantiles = {0.5},
          .key_type = ElementType::kUint16,
          .key_count = 2,
          .element_type = ElementType::kInt8};
}

const OperationValues kKeyedValues{.elements = {3, -1, 5, 1, 5}, .keys = {1, 0, 1, 0, 1}};

// Indices are those of the values, not of the group.
TEST(KnownAnswerTest, ReductionsByKey) {
  RequestKind kind = KeyedKind();
  const auto found = std::get<KnownKeyedReduction>(ComputeKnownAnswer(kind, kKeyedValues));
  EXPECT_EQ(found.keys, StatisticValues(std::vector<uint64_t>{0, 1}));
  EXPECT_THAT(found.counts, ElementsAre(2, 3));
  EXPECT_EQ(found.entries[0].values, StatisticValues(std::vector<int64_t>{0, 13}));
  EXPECT_EQ(found.entries[1].values, StatisticValues(std::vector<uint64_t>{3, 2}));
  EXPECT_EQ(found.entries[2].values, StatisticValues(Doubles{0, 13.0 / 3}));
  EXPECT_THAT(found.quantiles, ElementsAre(StatisticValues(Doubles{0, 5})));
  kind.key_groups = KeyGroups::kRange;
  const auto range = std::get<KnownKeyedReduction>(ComputeKnownAnswer(kind, kKeyedValues));
  EXPECT_EQ(range.keys, StatisticValues());
}

TEST(ArrayValuesTest, EveryKeyOccursAsOftenAsTheOthersOrOnceMore) {
  RequestKind kind = KeyedKind();
  kind.key_count = 7;
  std::mt19937_64 random(1);
  std::vector<int32_t> keys = DrawOperation(kind, 72, random).keys;
  EXPECT_FALSE(std::is_sorted(keys.begin(), keys.end()));
  for (int32_t key = 0; key < 7; ++key) {
    EXPECT_EQ(std::count(keys.begin(), keys.end(), key), key < 2 ? 11 : 10);
  }
  kind.are_keys_sorted = true;
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(DrawOperation(kind, 72, random).keys, keys);
}

RequestKind RelationKind() {
  return {.operation = OperationKind::kRelation,
          .relations = {PairedStatistic::kDot, PairedStatistic::kCovariance,
                        PairedStatistic::kCorrelation, PairedStatistic::kMean,
                        PairedStatistic::kVariance},
          .element_type = ElementType::kInt32};
}

TEST(KnownAnswerTest, RelationsOfTwoArrays) {
  const auto known = std::get<KnownRelation>(
      ComputeKnownAnswer(RelationKind(), {.elements = {1, 2, 4}, .y_elements = {-3, 0, 5}}));
  EXPECT_EQ(known.column_count, 2u);
  EXPECT_EQ(known.observation_count, 3u);
  EXPECT_EQ(known.entries[0].values, StatisticValues(std::vector<int64_t>{17}));
  EXPECT_EQ(known.entries[1].values, StatisticValues(Doubles{37.0 / 9}));
  EXPECT_EQ(known.entries[2].values, StatisticValues(Doubles{37 / std::sqrt(14.0 * 98.0)}));
  EXPECT_EQ(known.entries[3].values, StatisticValues(Doubles{7.0 / 3, 2.0 / 3}));
  EXPECT_EQ(known.entries[4].values, StatisticValues(Doubles{14.0 / 9, 98.0 / 9}));
}

TEST(KnownAnswerTest, RelationsOfColumnsAreSquareMatrices) {
  RequestKind kind = RelationKind();
  kind.column_count = 3;
  // The second column is on a line with the first, the third constant.
  const auto known = std::get<KnownRelation>(
      ComputeKnownAnswer(kind, {.elements = {1, -2, 7, 2, -4, 7, 4, -8, 7}}));
  EXPECT_EQ(known.column_count, 3u);
  EXPECT_EQ(known.observation_count, 3u);
  EXPECT_EQ(known.entries[0].values,
            StatisticValues(std::vector<int64_t>{21, -42, 49, -42, 84, -98, 49, -98, 147}));
  EXPECT_TRUE(
      AreSame(known.entries[2].values, Doubles{1, -1, kNan, -1, 1, kNan, kNan, kNan, kNan}));
  EXPECT_EQ(known.entries[4].values, StatisticValues(Doubles{14.0 / 9, 56.0 / 9, 0}));
}

// A request of the kind, whose answer is known.
PreparedRequest Prepared(const RequestKind& kind, const OperationValues& values) {
  PreparedRequest request{.kind = kind, .method = "", .messages = {}};
  request.known.push_back(std::make_shared<const KnownAnswer>(ComputeKnownAnswer(kind, values)));
  return request;
}

grpc::ByteBuffer BytesOf(const google::protobuf::MessageLite& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

// What is wrong with the answer; why it cannot be read, where it makes no sense.
std::string WhatIsWrong(const PreparedRequest& request,
                        const google::protobuf::MessageLite& response) {
  AnswerReader reader(request, /*verify=*/true, nullptr);
  grpc::ByteBuffer message = BytesOf(response);
  reader.Add(message);
  const absl::StatusOr<Answer> answer = reader.Finish();
  return answer.ok() ? answer->difference : std::string(answer.status().message());
}

TEST(AnswerReaderTest, TellsWrongQuantiles) {
  const PreparedRequest request = Prepared(
      {.operation = OperationKind::kQuantiles, .quantiles = {0, 0.5}}, {.elements = {1, 2, 4}});
  v1::ComputeQuantilesResponse response;
  response.set_group_count(1);
  response.add_quantile_values()->mutable_double_values()->add_values(1);
  response.add_quantile_values()->mutable_double_values()->add_values(2);
  EXPECT_EQ(WhatIsWrong(request, response), "");
  response.mutable_quantile_values(1)->mutable_double_values()->set_values(0, 2.5);
  EXPECT_EQ(WhatIsWrong(request, response), "quantile 1 is wrong");
  response.mutable_quantile_values()->RemoveLast();
  EXPECT_NE(WhatIsWrong(request, response), "");
}

TEST(AnswerReaderTest, TellsWrongTops) {
  const PreparedRequest request =
      Prepared({.operation = OperationKind::kTop, .top_count = 2}, {.elements = {1, 4, 4}});
  v1::SelectTopResponse response;
  response.set_group_count(1);
  for (const double value : {4, 4})
    response.mutable_values()->mutable_double_values()->add_values(value);
  for (const uint64_t index : {1, 2}) response.add_indices(index);
  EXPECT_EQ(WhatIsWrong(request, response), "");
  response.set_indices(1, 0);
  EXPECT_EQ(WhatIsWrong(request, response), "the indices are wrong");
  response.mutable_values()->mutable_double_values()->set_values(1, 1);
  EXPECT_EQ(WhatIsWrong(request, response), "the elements are wrong");
}

// The right answer to KeyedKind about kKeyedValues.
v1::ReduceByKeyResponse KeyedResponse() {
  v1::ReduceByKeyResponse response;
  response.set_group_count(2);
  for (const uint64_t key : {0, 1})
    response.mutable_keys()->mutable_uint64_values()->add_values(key);
  for (const uint64_t count : {2, 3}) response.add_counts(count);
  const auto add = [&](v1::Statistic statistic) -> v1::ValueList& {
    v1::StatisticValues& entry = *response.add_results();
    entry.set_statistic(statistic);
    return *entry.mutable_values();
  };
  v1::ValueList& sums = add(v1::STATISTIC_SUM);
  for (const int64_t sum : {0, 13}) sums.mutable_int64_values()->add_values(sum);
  v1::ValueList& places = add(v1::STATISTIC_ARGMAX);
  for (const uint64_t place : {3, 2}) places.mutable_uint64_values()->add_values(place);
  v1::ValueList& means = add(v1::STATISTIC_MEAN);
  for (const double mean : {0.0, 13.0 / 3}) means.mutable_double_values()->add_values(mean);
  for (const double median : {0, 5}) {
    if (response.quantile_values().empty()) response.add_quantile_values();
    response.mutable_quantile_values(0)->mutable_double_values()->add_values(median);
  }
  return response;
}

TEST(AnswerReaderTest, TellsWrongReductionsByKey) {
  const PreparedRequest request = Prepared(KeyedKind(), kKeyedValues);
  EXPECT_EQ(WhatIsWrong(request, KeyedResponse()), "");
  v1::ReduceByKeyResponse response = KeyedResponse();
  response.mutable_keys()->mutable_uint64_values()->set_values(1, 2);
  EXPECT_EQ(WhatIsWrong(request, response), "the keys are wrong");
  response = KeyedResponse();
  response.set_counts(0, 3);
  EXPECT_EQ(WhatIsWrong(request, response), "the counts are wrong");
  response = KeyedResponse();
  response.mutable_results(0)->mutable_values()->mutable_int64_values()->set_values(1, 12);
  EXPECT_EQ(WhatIsWrong(request, response), "sum is wrong");
  response = KeyedResponse();
  response.mutable_quantile_values(0)->mutable_double_values()->set_values(0, 1);
  EXPECT_EQ(WhatIsWrong(request, response), "quantile 0 is wrong");
}

TEST(AnswerReaderTest, ReadsStreamsAndBatchesOfReductionsByKey) {
  RequestKind kind = KeyedKind();
  kind.transport = ArrayTransport::kStream;
  v1::ReduceByKeyStreamResponse streamed;
  *streamed.mutable_result() = KeyedResponse();
  EXPECT_EQ(WhatIsWrong(Prepared(kind, kKeyedValues), streamed), "");
  kind = KeyedKind();
  kind.batch_size = 1;
  v1::BatchComputeResponse batch;
  *batch.add_results()->mutable_keyed_reduction() = KeyedResponse();
  EXPECT_EQ(WhatIsWrong(Prepared(kind, kKeyedValues), batch), "");
  batch.mutable_results(0)->mutable_keyed_reduction()->set_counts(0, 1);
  EXPECT_EQ(WhatIsWrong(Prepared(kind, kKeyedValues), batch), "the counts are wrong");
}

TEST(AnswerReaderTest, TellsWrongRelations) {
  RequestKind kind = RelationKind();
  kind.relations = {PairedStatistic::kDot};
  const PreparedRequest request = Prepared(kind, {.elements = {1, 2, 4}, .y_elements = {-3, 0, 5}});
  v1::RelateArraysResponse response;
  response.set_column_count(2);
  response.set_observation_count(3);
  v1::PairedStatisticValues& dot = *response.add_results();
  dot.set_statistic(v1::PAIRED_STATISTIC_DOT);
  dot.mutable_values()->mutable_int64_values()->add_values(17);
  EXPECT_EQ(WhatIsWrong(request, response), "");
  dot.mutable_values()->mutable_int64_values()->set_values(0, 18);
  EXPECT_EQ(WhatIsWrong(request, response), "dot is wrong");
  response.set_observation_count(2);
  EXPECT_EQ(WhatIsWrong(request, response), "2 observations of 2 columns, not 3 of 2");
}

// Keys and values come in step, whichever is wider.
TEST(PreparedRequestTest, StreamsOfKeysBringAsManyValues) {
  RequestKind kind = KeyedKind();
  kind.quantiles = {};
  kind.transport = ArrayTransport::kStream;
  for (const auto& [key_type, element_type] :
       {std::pair(ElementType::kInt64, ElementType::kInt8),
        std::pair(ElementType::kUint8, ElementType::kFloat64)}) {
    kind.key_type = key_type;
    kind.element_type = element_type;
    PreparedRequest request{.kind = kind, .method = "", .messages = {}};
    const uint64_t key_bytes = client::ElementSizeBytes(key_type);
    const uint64_t value_bytes = client::ElementSizeBytes(element_type);
    AddStreamMessages(
        {.elements = std::string(50 * value_bytes, 'v'), .keys = std::string(50 * key_bytes, 'k')},
        160, request);
    EXPECT_EQ(request.method, "/gridfold.v1.ComputeService/ReduceByKeyStream");
    ASSERT_EQ(request.messages.size(), 4u);
    std::vector<uint64_t> counts;
    for (grpc::ByteBuffer message : request.messages) {
      v1::ReduceByKeyStreamRequest fields;
      ASSERT_TRUE(client::Parse(message, fields).ok());
      EXPECT_EQ(fields.keys(), std::string(fields.keys().size(), 'k'));
      EXPECT_EQ(fields.keys().size() / key_bytes, fields.values().size() / value_bytes);
      counts.push_back(fields.has_element_count() ? fields.element_count()
                                                  : fields.keys().size() / key_bytes);
    }
    EXPECT_THAT(counts, ElementsAre(50, 20, 20, 10));
  }
}

TEST(PreparedRequestTest, AsksForWhatTheKindSays) {
  RequestKind kind{.operation = OperationKind::kTop, .top_count = 7, .top_smallest = true};
  PreparedRequest top{.kind = kind, .method = "", .messages = {}};
  AddUnaryMessage({{.elements = client::ResidentArray{"a"}}}, top);
  EXPECT_EQ(top.method, "/gridfold.v1.ComputeService/SelectTop");
  v1::SelectTopRequest top_request;
  ASSERT_TRUE(client::Parse(top.messages[0], top_request).ok());
  EXPECT_EQ(top_request.count(), 7u);
  EXPECT_TRUE(top_request.smallest());

  kind = {.operation = OperationKind::kQuantiles,
          .quantiles = {0.25, 0.75},
          .quantile_method = QuantileMethod::kHigher};
  PreparedRequest quantiles{.kind = kind, .method = "", .messages = {}};
  AddUnaryMessage({{.elements = client::ResidentArray{"a"}}}, quantiles);
  EXPECT_EQ(quantiles.method, "/gridfold.v1.ComputeService/ComputeQuantiles");
  v1::ComputeQuantilesRequest quantile_request;
  ASSERT_TRUE(client::Parse(quantiles.messages[0], quantile_request).ok());
  EXPECT_THAT(quantile_request.quantiles(), ElementsAre(0.25, 0.75));
  EXPECT_EQ(quantile_request.method(), v1::QUANTILE_METHOD_HIGHER);

  kind = KeyedKind();
  kind.key_groups = KeyGroups::kRange;
  kind.output_type = client::ElementType::kFloat16;
  PreparedRequest keyed{.kind = kind, .method = "", .messages = {}};
  AddUnaryMessage({{.elements = client::ResidentArray{"a"}, .keys = client::ResidentArray{"b"}}},
                  keyed);
  EXPECT_EQ(keyed.method, "/gridfold.v1.ComputeService/ReduceByKey");
  v1::ReduceByKeyRequest keyed_request;
  ASSERT_TRUE(client::Parse(keyed.messages[0], keyed_request).ok());
  EXPECT_EQ(keyed_request.keys().resident_array().name(), "b");
  EXPECT_EQ(keyed_request.values().resident_array().name(), "a");
  EXPECT_EQ(keyed_request.range().key_count(), 2u);
  EXPECT_EQ(keyed_request.statistics_size(), 3);
  EXPECT_EQ(keyed_request.output_type(), v1::ELEMENT_TYPE_FLOAT16);

  kind = {.output_type = client::ElementType::kFloat32};
  PreparedRequest reduction{.kind = kind, .method = "", .messages = {}};
  AddUnaryMessage({{.elements = client::ResidentArray{"a"}}}, reduction);
  v1::ReduceArrayRequest reduce_request;
  ASSERT_TRUE(client::Parse(reduction.messages[0], reduce_request).ok());
  EXPECT_EQ(reduce_request.output_type(), v1::ELEMENT_TYPE_FLOAT32);

  PreparedRequest relation{.kind = RelationKind(), .method = "", .messages = {}};
  AddUnaryMessage(
      {{.elements = client::ResidentArray{"a"}, .y_elements = client::ResidentArray{"b"}}},
      relation);
  EXPECT_EQ(relation.method, "/gridfold.v1.ComputeService/RelateArrays");
  v1::RelateArraysRequest relate_request;
  ASSERT_TRUE(client::Parse(relation.messages[0], relate_request).ok());
  EXPECT_EQ(relate_request.y().resident_array().name(), "b");
  EXPECT_EQ(relate_request.statistics_size(), 5);
}

}  // namespace
}  // namespace gridfold::load
