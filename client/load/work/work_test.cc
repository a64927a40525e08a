// Scenario files, generated arrays, and the answers that are known of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "client/library/unary_call.h"
#include "client/load/work/array_shape.h"
#include "client/load/work/array_values.h"
#include "client/load/work/element_encoding.h"
#include "client/load/work/known_answer.h"
#include "client/load/work/scenario_file.h"
#include "client/load/work/workload.h"
#include "gridfold/v1/compute_service.pb.h"

namespace gridfold::load {
namespace {

using client::ScanMode;
using client::Statistic;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ScenarioFileTest, ReadsEveryField) {
  const auto file = ParseScenario(R"({
    "name": "n", "description": "d", "load": {"rate": 300, "duration": "5s"},
    "requests": [
      {"name": "a", "weight": 2.5, "operation": "histogram", "bins": 7, "range": [-1.5, 9],
       "element_type": "int16", "elements": [10, 20], "distribution": "normal",
       "values": [-5, 5], "transport": "shared", "tenant": "t", "priority": "high",
       "timeout": "50ms", "cancel": 0.25, "cancel_within": "1s"},
      {"operation": "scan", "scan": "sum", "mode": "exclusive", "columns": 8, "group_by": "rows",
       "elements": {"log_uniform": [8, 800]}},
      {"statistics": ["min", "argmax"], "output_type": "bfloat16"}]})");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(file->load, ElementsAre(std::pair("duration", "5s"), std::pair("rate", "300")));
  const RequestKind& kind = file->scenario.requests[0];
  EXPECT_EQ(kind.weight, 2.5);
  EXPECT_EQ(kind.bin_count, 7u);
  EXPECT_EQ(kind.bin_range->first, -1.5);
  EXPECT_EQ(kind.element_type, client::ElementType::kInt16);
  EXPECT_THAT(kind.elements.choices, ElementsAre(10, 20));
  EXPECT_EQ(kind.value_min, -5);
  EXPECT_EQ(kind.transport, ArrayTransport::kShared);
  EXPECT_EQ(kind.priority, client::Priority::kHigh);
  EXPECT_EQ(kind.timeout, absl::Milliseconds(50));
  EXPECT_EQ(kind.cancelled_part, 0.25);
  EXPECT_EQ(kind.cancel_within, absl::Seconds(1));
  EXPECT_EQ(file->scenario.requests[1].scan_mode, client::ScanMode::kExclusive);
  EXPECT_EQ(file->scenario.requests[1].group_by, GroupBy::kRows);
  EXPECT_EQ(file->scenario.requests[1].elements.log_uniform->second, 800u);
  EXPECT_THAT(file->scenario.requests[2].statistics,
              ElementsAre(Statistic::kMin, Statistic::kArgmax));
  EXPECT_EQ(file->scenario.requests[2].output_type, client::ElementType::kBfloat16);
  EXPECT_EQ(file->scenario.requests[0].output_type, std::nullopt);
}

TEST(ScenarioFileTest, ReadsWhatOrderKeysAndRelationsNeed) {
  const auto file = ParseScenario(R"({"requests": [
      {"operation": "quantile"},
      {"operation": "quantile", "quantiles": [0.9, 0], "method": "nearest"},
      {"operation": "topk"},
      {"operation": "topk", "k": 3, "smallest": true},
      {"operation": "group"},
      {"operation": "group", "key_type": "uint8", "key_count": 9, "keys": "range",
       "sorted_keys": true, "statistics": ["mean"], "quantiles": [0.5], "method": "lower"},
      {"operation": "relate"},
      {"operation": "relate", "statistics": ["dot", "mean"]}]})");
  ASSERT_TRUE(file.ok()) << file.status();
  const auto& requests = file->scenario.requests;
  EXPECT_EQ(requests[0].name, "quantile inline");
  EXPECT_THAT(requests[0].quantiles, ElementsAre(0.5));
  EXPECT_EQ(requests[0].quantile_method, client::QuantileMethod::kLinear);
  EXPECT_THAT(requests[1].quantiles, ElementsAre(0.9, 0));
  EXPECT_EQ(requests[1].quantile_method, client::QuantileMethod::kNearest);
  EXPECT_EQ(requests[2].name, "topk inline");
  EXPECT_EQ(requests[2].top_count, 10u);
  EXPECT_FALSE(requests[2].top_smallest);
  EXPECT_EQ(requests[3].top_count, 3u);
  EXPECT_TRUE(requests[3].top_smallest);
  EXPECT_EQ(requests[4].name, "group inline");
  EXPECT_EQ(requests[4].key_type, client::ElementType::kInt32);
  EXPECT_EQ(requests[4].key_count, 64u);
  EXPECT_EQ(requests[4].key_groups, KeyGroups::kFound);
  EXPECT_FALSE(requests[4].are_keys_sorted);
  EXPECT_THAT(requests[4].quantiles, ElementsAre());
  EXPECT_EQ(requests[5].key_type, client::ElementType::kUint8);
  EXPECT_EQ(requests[5].key_count, 9u);
  EXPECT_EQ(requests[5].key_groups, KeyGroups::kRange);
  EXPECT_TRUE(requests[5].are_keys_sorted);
  EXPECT_THAT(requests[5].statistics, ElementsAre(Statistic::kMean));
  EXPECT_THAT(requests[5].quantiles, ElementsAre(0.5));
  EXPECT_EQ(requests[5].quantile_method, client::QuantileMethod::kLower);
  EXPECT_EQ(requests[6].name, "relate inline");
  EXPECT_THAT(requests[6].relations, ElementsAre(client::PairedStatistic::kCorrelation));
  EXPECT_THAT(requests[7].relations,
              ElementsAre(client::PairedStatistic::kDot, client::PairedStatistic::kMean));
}

TEST(ScenarioFileTest, ErrorsNameTheField) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {R"({)", "line 1"},
      {R"([])", "must be an object"},
      {R"({})", "requests"},
      {R"({"requests": 1})", "requests"},
      {R"({"requests": [1]})", "requests[0]"},
      {R"({"requests": [], "speed": 1})", "speed"},
      {R"({"requests": [{}], "load": {"rate": []}})", "load.rate"},
      {R"({"requests": [{"weight": 0}]})", "requests[0].weight"},
      {R"({"requests": [{}, {"weight": "1"}]})", "requests[1].weight"},
      {R"({"requests": [{"operation": "median"}]})", "requests[0].operation"},
      {R"({"requests": [{"statistics": ["product"]}]})", "requests[0].values"},
      {R"({"requests": [{"statistics": ["product"], "values": [-2, 1]}]})", "requests[0].values"},
      {R"({"requests": [{"statistics": ["product"], "values": [1, 1], "transport": "stream"}]})",
       "requests[0].statistics"},
      {R"({"requests": [{"destination": "resident"}]})", "requests[0].destination"},
      {R"({"requests": [{"operation": "scan", "destination": "elsewhere"}]})",
       "requests[0].destination"},
      {R"({"requests": [{"operation": "scan", "destination": "shared", "transport": "stream"}]})",
       "requests[0].destination"},
      {R"({"requests": [{"operation": "scan", "destination": "resident", "batch": 2}]})",
       "requests[0].destination"},
      {R"({"requests": [{"operation": "scan", "scan": "product", "element_type": "int8"}]})",
       "requests[0].values"},
      {R"({"requests": [{"group_by": "segments", "columns": 8}]})", "requests[0].columns"},
      {R"({"requests": [{"group_by": "segments", "segment_elements": 0}]})",
       "requests[0].segment_elements"},
      {R"({"requests": [{"operation": "histogram", "layout": "integer"}]})", "requests[0].layout"},
      {R"({"requests": [{"operation": "histogram", "bins": 4096, "y_bins": 4097}]})",
       "requests[0].bins"},
      {R"({"requests": [{"weighted": 1}]})", "requests[0].weighted"},
      {R"({"requests": [{"batch": 2, "transport": "stream"}]})", "requests[0].batch"},
      {R"({"requests": [{"batch": 65537}]})", "requests[0].batch"},
      {R"({"requests": [{}], "requests": [{}]})", "two of requests"},
      {"requests: &a [*a]", "deep"},
      {R"({"requests": [{"statistics": []}]})", "requests[0].statistics"},
      {R"({"requests": [{"statistics": ["bitwise_and"]}]})", "requests[0].statistics"},
      {R"({"requests": [{"element_type": "float31"}]})", "requests[0].element_type"},
      {R"({"requests": [{"elements": 0}]})", "requests[0].elements"},
      {R"({"requests": [{"elements": -1}]})", "requests[0].elements"},
      {R"({"requests": [{"elements": []}]})", "requests[0].elements"},
      {R"({"requests": [{"elements": {"log_uniform": [9, 1]}}]})", "requests[0].elements"},
      {R"({"requests": [{"elements": {"even": [1, 9]}}]})", "requests[0].elements"},
      {R"({"requests": [{"elements": 10, "columns": 3}]})", "requests[0].elements"},
      {R"({"requests": [{"group_by": "rows"}]})", "requests[0].group_by"},
      {R"({"requests": [{"values": [5, 1]}]})", "requests[0].values"},
      {R"({"requests": [{"element_type": "int8", "values": [0, 128]}]})", "requests[0].values"},
      {R"({"requests": [{"values": [1]}]})", "requests[0].values"},
      {R"({"requests": [{"operation": "scan", "scan": "min", "mode": "exclusive"}]})",
       "requests[0].mode"},
      {R"({"requests": [{"operation": "scan", "elements": 4294967296, "values": [0, 16777216]}]})",
       "requests[0].values"},
      {R"({"requests": [{"operation": "histogram", "bins": 0}]})", "requests[0].bins"},
      {R"({"requests": [{"operation": "histogram", "range": [1, 1]}]})", "requests[0].range"},
      {R"({"requests": [{"tenant": "müller"}]})", "requests[0].tenant"},
      {R"({"requests": [{"timeout": "soon"}]})", "requests[0].timeout"},
      {R"({"requests": [{"cancel": 1.5}]})", "requests[0].cancel"},
      {R"({"requests": [{"cancel_within": "0s"}]})", "requests[0].cancel_within"},
      {R"({"requests": [{"cancel_within": "inf"}]})", "requests[0].cancel_within"},
      {R"({"requests": [{"colour": "red"}]})", "requests[0].colour"}};
  for (const auto& [text, message] : wrong) {
    const auto file = ParseScenario(text);
    ASSERT_FALSE(file.ok()) << text;
    EXPECT_THAT(std::string(file.status().message()), HasSubstr(message)) << text;
  }
}

TEST(ElementEncodingTest, HalvesRoundToTheNearest) {
  for (int value = -2048; value <= 2048; ++value) {
    EXPECT_EQ(client::ToFloat(client::Float16{ToFloat16Bits(value)}), static_cast<float>(value));
  }
  for (int value = -256; value <= 256; ++value) {
    EXPECT_EQ(client::ToFloat(client::Bfloat16{ToBfloat16Bits(value)}), static_cast<float>(value));
  }
  const auto float16 = [](double value) {
    return client::ToFloat(client::Float16{ToFloat16Bits(value)});
  };
  EXPECT_EQ(float16(2049), 2048);  // Ties to even.
  EXPECT_EQ(float16(2051), 2052);
  EXPECT_EQ(float16(-4099), -4100);
  EXPECT_EQ(float16(65519), 65504);
  EXPECT_EQ(float16(65520), std::numeric_limits<float>::infinity());
  const auto bfloat16 = [](double value) {
    return client::ToFloat(client::Bfloat16{ToBfloat16Bits(value)});
  };
  EXPECT_EQ(bfloat16(257), 256);
  EXPECT_EQ(bfloat16(259), 260);
  // Above a tie by less than a float tells: rounding by way of a float would lose it.
  EXPECT_EQ(bfloat16(257.0 + std::ldexp(1, -30)), 258);
}

TEST(ElementEncodingTest, AnyNumberRoundsToAType) {
  using client::ElementType;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  // All of float16, and what lies between two of them.
  for (uint16_t bits = 0; bits < 0x7BFF; ++bits) {
    const double low = client::ToFloat(client::Float16{bits});
    const double high = client::ToFloat(client::Float16{static_cast<uint16_t>(bits + 1)});
    const double middle = (low + high) / 2;
    EXPECT_EQ(RoundedToType(ElementType::kFloat16, low), low);
    EXPECT_EQ(RoundedToType(ElementType::kFloat16, middle), bits % 2 == 0 ? low : high);
    EXPECT_EQ(RoundedToType(ElementType::kFloat16, -std::nextafter(middle, kInfinity)), -high);
  }
  EXPECT_EQ(RoundedToType(ElementType::kFloat16, -65520), -kInfinity);
  EXPECT_EQ(RoundedToType(ElementType::kBfloat16, 1 + 0x1p-8), 1);
  EXPECT_EQ(RoundedToType(ElementType::kBfloat16, 1 + 3 * 0x1p-8), 1 + 0x1p-6);
  EXPECT_EQ(RoundedToType(ElementType::kBfloat16, 0x1.8p-134), 0x1p-133);
  EXPECT_EQ(RoundedToType(ElementType::kBfloat16, 0x1.FFp127), kInfinity);
  EXPECT_EQ(RoundedToType(ElementType::kFloat32, 0.1), 0.1F);
  EXPECT_EQ(RoundedToType(ElementType::kFloat64, 0.1), 0.1);
}

TEST(ScenarioFileTest, YamlSaysTheSameAsJson) {
  const auto file = ParseScenario(R"(
# Comments are welcome.
name: mixed
load: {rate: 300, duration: 5s}
requests:
  - &dashboard
    name: "12"
    statistics: [sum, product]
    element_type: int32
    elements: {log_uniform: [8, 800]}
    values: [-1, 1]
  - operation: histogram
    layout: integer
    element_type: uint8
    weighted: true
    y_bins: 3
    cancel: 0.5
  - {batch: 16, group_by: segments, segment_elements: 5}
)");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->scenario.name, "mixed");
  EXPECT_THAT(file->load, ElementsAre(std::pair("duration", "5s"), std::pair("rate", "300")));
  const auto& requests = file->scenario.requests;
  EXPECT_EQ(requests[0].name, "12");
  EXPECT_THAT(requests[0].statistics, ElementsAre(Statistic::kSum, Statistic::kProduct));
  EXPECT_EQ(requests[0].elements.log_uniform->first, 8u);
  EXPECT_EQ(requests[0].value_min, -1);
  EXPECT_EQ(requests[1].bin_layout, BinLayout::kInteger);
  EXPECT_TRUE(requests[1].is_weighted);
  EXPECT_EQ(requests[1].y_bin_count, 3u);
  EXPECT_EQ(requests[1].cancelled_part, 0.5);
  EXPECT_EQ(requests[2].batch_size, 16u);
  EXPECT_EQ(requests[2].group_by, GroupBy::kSegments);
  EXPECT_EQ(requests[2].segment_elements, 5u);
}

KnownReduction Reduce(RequestKind kind, const std::vector<int32_t>& values) {
  return std::get<KnownReduction>(
      ComputeKnownAnswer(kind, {.elements = values, .shape = ShapeOf(kind, values.size())}));
}

TEST(KnownAnswerTest, ReductionsOfRowsAndColumns) {
  RequestKind kind{.statistics = {Statistic::kSum, Statistic::kArgmax, Statistic::kMean,
                                  Statistic::kStandardDeviation, Statistic::kAll},
                   .column_count = 3,
                   .group_by = GroupBy::kRows};
  const std::vector<int32_t> values = {1, 5, 5, -2, 0, 2};
  const KnownReduction rows = Reduce(kind, values);
  EXPECT_EQ(rows.group_count, 2u);
  EXPECT_EQ(rows.entries[0].values, client::StatisticValues(std::vector<double>{11, 0}));
  EXPECT_EQ(rows.entries[1].values, client::StatisticValues(std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(rows.entries[2].values, client::StatisticValues(std::vector<double>{11.0 / 3, 0}));
  EXPECT_EQ(rows.entries[3].values,
            client::StatisticValues(std::vector<double>{std::sqrt(32.0 / 9), std::sqrt(8.0 / 3)}));
  EXPECT_EQ(rows.entries[4].values, client::StatisticValues(std::vector<bool>{true, false}));
  kind.group_by = GroupBy::kColumns;
  kind.element_type = client::ElementType::kInt32;
  const KnownReduction columns = Reduce(kind, values);
  EXPECT_EQ(columns.entries[0].values, client::StatisticValues(std::vector<int64_t>{-1, 5, 7}));
  EXPECT_EQ(columns.entries[1].values, client::StatisticValues(std::vector<uint64_t>{0, 0, 0}));
}

TEST(KnownAnswerTest, StatisticsInAnOutputType) {
  const RequestKind kind{.statistics = {Statistic::kMean, Statistic::kSum, Statistic::kCount},
                         .output_type = client::ElementType::kFloat16,
                         .element_type = client::ElementType::kInt32};
  const KnownReduction known = Reduce(kind, {1, 0, 0});
  EXPECT_EQ(known.entries[0].values, client::StatisticValues(std::vector<double>{0.333251953125}));
  EXPECT_EQ(known.entries[1].values, client::StatisticValues(std::vector<int64_t>{1}));
  client::ReductionResult result{.entries = known.entries, .group_count = 1, .execution = {}};
  EXPECT_EQ(Difference(known, result), "");
  result.entries[0].output_type = client::ElementType::kFloat64;
  EXPECT_EQ(Difference(known, result), "mean is of float64");
  result = {.entries = known.entries, .group_count = 1, .execution = {}};
  result.entries[0].values = std::vector<double>{1.0 / 3};
  EXPECT_EQ(Difference(known, result), "mean is wrong");
}

TEST(KnownAnswerTest, ScansAndTheirDifferences) {
  const RequestKind kind{.operation = OperationKind::kScan,
                         .element_type = client::ElementType::kInt8,
                         .column_count = 2,
                         .group_by = GroupBy::kColumns};
  const auto known =
      std::get<KnownScan>(ComputeKnownAnswer(kind, {.elements = {1, 10, 2, 20}, .shape = {2, 2}}));
  const std::vector<int64_t> sums = {1, 10, 3, 30};
  ASSERT_EQ(known.element_type, client::ElementType::kInt64);
  std::string data(sizeof(int64_t) * sums.size(), '\0');
  std::memcpy(data.data(), sums.data(), data.size());
  EXPECT_EQ(known.data, data);
  const std::span<const char> all(data);
  EXPECT_EQ(Difference(known, known.element_type, 0, all), "");
  EXPECT_EQ(Difference(known, known.element_type, 2, all.subspan(16)), "");
  EXPECT_NE(Difference(known, known.element_type, 1, all.subspan(16)), "");
  EXPECT_NE(Difference(known, known.element_type, 1, all), "");
  EXPECT_NE(Difference(known, client::ElementType::kUint64, 0, all), "");
  data[17] = 1;
  EXPECT_EQ(Difference(known, known.element_type, 0, all), "result 2 is wrong");
}

// As IEEE 754 has it: the sign of a product is that of its factors.
TEST(KnownAnswerTest, ZerosOfFloatingPointProductsHaveASign) {
  for (const ScanMode mode : {ScanMode::kInclusive, ScanMode::kExclusive}) {
    RequestKind kind{.operation = OperationKind::kScan,
                     .scan_operation = client::ScanOperation::kProduct,
                     .scan_mode = mode,
                     .value_min = -1,
                     .value_max = 1};
    const std::vector<int32_t> elements = {1, -1, 0, -1, 1, 0, -1, -1};
    std::vector<float> products;
    float product = 1;
    for (const int32_t element : elements) {
      if (mode == ScanMode::kExclusive) products.push_back(product);
      product *= static_cast<float>(element);
      if (mode == ScanMode::kInclusive) products.push_back(product);
    }
    const auto known = std::get<KnownScan>(ComputeKnownAnswer(kind, {.elements = elements}));
    const auto* const bytes = reinterpret_cast<const char*>(products.data());
    EXPECT_EQ(WholeDifference(known, client::ElementType::kFloat32,
                              std::span(bytes, products.size() * sizeof(float))),
              "");
  }
}

TEST(WorkloadTest, StreamsSayHowManyElementsTheyBring) {
  for (const OperationKind operation :
       {OperationKind::kReduce, OperationKind::kScan, OperationKind::kHistogram}) {
    RequestKind kind{.operation = operation,
                     .element_type = client::ElementType::kInt64,
                     .transport = ArrayTransport::kStream};
    if (operation == OperationKind::kHistogram) kind.y_bin_count = 3;
    PreparedRequest request{.kind = kind, .method = "", .messages = {}};
    const std::string bytes(50 * sizeof(int64_t), 'x');
    AddStreamMessages(
        {.elements = bytes, .y_elements = kind.y_bin_count > 0 ? bytes : std::string()}, 160,
        request);
    ASSERT_EQ(request.messages.size(), 4u);
    std::vector<uint64_t> counts;
    for (grpc::ByteBuffer message : request.messages) {
      // Every stream's messages have the fields of this one, and more.
      v1::ReduceStreamRequest fields;
      ASSERT_TRUE(client::Parse(message, fields).ok());
      counts.push_back(fields.has_element_count() ? fields.element_count() : 0);
    }
    EXPECT_THAT(counts, ElementsAre(50, 0, 0, 0));
  }
}

TEST(WorkloadTest, ArraysBeyond64MibAreToldOf) {
  Scenario scenario;
  scenario.requests = {{.elements = {.choices = {1 << 22}}},  // 16 MiB: four of these are there.
                       {.elements = {.choices = {}, .log_uniform = {{1 << 22, 1 << 22}}}},
                       {.elements = {.choices = {12 << 20, 6 << 20}}},
                       // With their keys 36 MiB: one of these is there.
                       {.operation = OperationKind::kKeyedReduction,
                        .key_type = client::ElementType::kInt64,
                        .element_type = client::ElementType::kInt8,
                        .elements = {.choices = {1 << 22}}}};
  const auto workload =
      Workload::Prepare(scenario, {}, {.chunk_bytes = 1 << 20, .call_count_max = 1, .seed = 1});
  ASSERT_TRUE(workload.ok()) << workload.status();
  EXPECT_THAT((*workload)->notes(), ElementsAre(HasSubstr("requests[1]: 8 arrays take 12"),
                                                HasSubstr("requests[2]: 2 arrays take 72 MiB")));
}

TEST(KnownAnswerTest, HistogramsCloseTheirLastBin) {
  const RequestKind kind{
      .operation = OperationKind::kHistogram, .bin_count = 2, .bin_range = std::pair(0.0, 10.0)};
  const auto known = std::get<KnownHistogram>(
      ComputeKnownAnswer(kind, {.elements = {-1, 0, 4, 5, 9, 10, 11, 12}}));
  EXPECT_THAT(known.bins[0].edges, ElementsAre(0, 5, 10));
  EXPECT_THAT(known.counts, ElementsAre(2, 3));
  EXPECT_EQ(known.underflow_count, 1u);
  EXPECT_EQ(known.overflow_count, 2u);
}

TEST(KnownAnswerTest, SegmentsAndProducts) {
  const RequestKind kind{.statistics = {Statistic::kSum, Statistic::kProduct, Statistic::kArgmax},
                         .element_type = client::ElementType::kInt16,
                         .group_by = GroupBy::kSegments};
  const auto known = std::get<KnownReduction>(ComputeKnownAnswer(
      kind, {.elements = {-2, 3, 5, 7, -1, -1}, .segment_offsets = {0, 1, 4, 6}}));
  EXPECT_EQ(known.group_count, 3u);
  EXPECT_EQ(known.entries[0].values, client::StatisticValues(std::vector<int64_t>{-2, 15, -2}));
  EXPECT_EQ(known.entries[1].values, client::StatisticValues(std::vector<int64_t>{-2, 105, 1}));
  EXPECT_EQ(known.entries[2].values, client::StatisticValues(std::vector<uint64_t>{0, 2, 0}));
}

TEST(KnownAnswerTest, IntegerBinsWeightsAndTwoDimensions) {
  RequestKind kind{.operation = OperationKind::kHistogram,
                   .bin_layout = BinLayout::kInteger,
                   .bin_count = 2,
                   .element_type = client::ElementType::kInt8,
                   .value_min = -1};
  OperationValues values{.elements = {-2, -1, -1, 0, 1, 1}};
  const auto integer = std::get<KnownHistogram>(ComputeKnownAnswer(kind, values));
  EXPECT_THAT(integer.bins[0].edges, ElementsAre());
  EXPECT_THAT(integer.counts, ElementsAre(2, 1));
  EXPECT_EQ(integer.underflow_count, 1u);
  EXPECT_EQ(integer.overflow_count, 2u);
  kind.bin_layout = BinLayout::kEven;
  kind.bin_range = {{-1, 1}};
  kind.y_bin_count = 2;
  kind.is_weighted = true;
  values.y_elements = {0, -1, 1, 9, -9, -1};
  values.weights = {100, 1, -2, 4, 8, 16};
  const auto weighted = std::get<KnownHistogram>(ComputeKnownAnswer(kind, values));
  EXPECT_THAT(weighted.bins[1].edges, ElementsAre(-1, 0, 1));
  EXPECT_THAT(weighted.weight_sums, ElementsAre(1, -2, 16, 0));
  EXPECT_THAT(weighted.counts, ElementsAre());
  EXPECT_EQ(weighted.underflow_count, 2u);
  EXPECT_EQ(weighted.overflow_count, 1u);
}

TEST(ArrayValuesTest, SegmentsCoverTheArrayAndAreNotEmpty) {
  std::mt19937_64 random(1);
  const RequestKind kind{.group_by = GroupBy::kSegments, .segment_elements = 10};
  const std::vector<uint64_t> offsets = DrawOperation(kind, 10000, random).segment_offsets;
  EXPECT_EQ(offsets.front(), 0u);
  EXPECT_EQ(offsets.back(), 10000u);
  EXPECT_NEAR(static_cast<double>(offsets.size()), 1000, 100);
  for (size_t i = 1; i < offsets.size(); ++i) EXPECT_GT(offsets[i], offsets[i - 1]);
}

TEST(ArrayValuesTest, StayInRangeAndFollowTheirDistribution) {
  std::mt19937_64 random(1);
  for (const Distribution distribution : {Distribution::kUniform, Distribution::kNormal,
                                          Distribution::kExponential, Distribution::kConstant}) {
    const RequestKind kind{.distribution = distribution, .value_min = -60, .value_max = 60};
    const std::vector<int32_t> values = DrawValues(kind, 20000, random);
    EXPECT_GE(*std::min_element(values.begin(), values.end()), -60);
    EXPECT_LE(*std::max_element(values.begin(), values.end()), 60);
    double sum = 0;
    for (const int32_t value : values) sum += value;
    const double expected = distribution == Distribution::kConstant      ? 60
                            : distribution == Distribution::kExponential ? -45
                                                                         : 0;
    EXPECT_NEAR(sum / 20000, expected, 1);
  }
}

TEST(ArrayValuesTest, SizesOfARangeSpreadEvenlyByTheirLogarithm) {
  const RequestKind kind{.elements = {.choices = {}, .log_uniform = {{100, 1000000}}},
                         .column_count = 10};
  const std::vector<uint64_t> counts = SpreadElementCounts(kind, 8);
  EXPECT_TRUE(std::is_sorted(counts.begin(), counts.end()));
  EXPECT_EQ(std::count_if(counts.begin(), counts.end(), [](uint64_t n) { return n < 10000; }), 4);
  for (const uint64_t count : counts) EXPECT_EQ(count % 10, 0u);
}

}  // namespace
}  // namespace gridfold::load
