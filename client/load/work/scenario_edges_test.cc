// The last value that a scenario may have of each number and pair, and the first that it may not.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/load/work/scenario_file.h"
#include "client/load/work/yaml.h"

namespace gridfold::load {
namespace {

// A request of a scenario, that is taken as it is and refused with a little more; the field that is
// then named.
struct Edge {
  std::string taken;
  std::string refused;
  std::string field;
};

std::string ScenarioErrorOf(const std::string& request) {
  const auto file = ParseScenario(absl::StrCat(R"({"requests": [{)", request, "}]}"));
  return file.ok() ? "" : std::string(file.status().message());
}

void ExpectEdges(const std::vector<Edge>& edges) {
  for (const Edge& edge : edges) {
    EXPECT_EQ(ScenarioErrorOf(edge.taken), "") << edge.taken;
    EXPECT_TRUE(
        ScenarioErrorOf(edge.refused).starts_with(absl::StrCat("requests[0].", edge.field, ":")))
        << edge.refused << "\n"
        << ScenarioErrorOf(edge.refused);
  }
}

// Lists, each in the one before it.
std::string NestedLists(int count) { return std::string(count, '[') + std::string(count, ']'); }

// So many lists of so many nulls, of which all but the first are aliases.
std::string ListsOfNulls(int list_count, int null_count) {
  std::string text = "[&a [~";
  for (int i = 1; i < null_count; ++i) text += ",~";
  text += "]";
  for (int i = 1; i < list_count; ++i) text += ",*a";
  return text;
}

TEST(YamlEdgesTest, DepthAndNumberOfValues) {
  EXPECT_TRUE(ParseYaml(NestedLists(17)).ok());
  EXPECT_FALSE(ParseYaml(NestedLists(18)).ok());
  // The whole, 1,000 lists with 998 values each, and 999 or 1,000 values beside them.
  const std::string lists = ListsOfNulls(1000, 998);
  std::string others;
  for (int i = 0; i < 999; ++i) others += ",~";
  EXPECT_TRUE(ParseYaml(lists + others + "]").ok());
  const auto beyond = ParseYaml(lists + others + ",~]");
  ASSERT_FALSE(beyond.ok());
  EXPECT_NE(beyond.status().message().find("too many values"), std::string::npos);
}

TEST(YamlEdgesTest, WhatIsNotInQuotesIsWhatItLooksLike) {
  const auto parsed =
      ParseYaml("[1, -2.5, 1e3, true, false, null, ~, '7', \"true\", 0x10, .5, yes, a b, '']");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, nlohmann::json({1, -2.5, 1e3, true, false, nullptr, nullptr, "7", "true",
                                     "0x10", ".5", "yes", "a b", ""}));
  EXPECT_EQ(*ParseYaml("{a: {b: [1, {c: 2}]}, d: []}"),
            nlohmann::json::parse(R"({"a": {"b": [1, {"c": 2}]}, "d": []})"));
}

TEST(ScenarioEdgesTest, Elements) {
  ExpectEdges({
      {R"("elements": 1)", R"("elements": 0)", "elements"},
      {R"("elements": 17179869184, "values": [0, 1])",
       R"("elements": 17179869185, "values": [0, 1])", "elements"},
      {R"("elements": {"log_uniform": [9, 9]})", R"("elements": {"log_uniform": [10, 9]})",
       "elements"},
      {R"("elements": [12, 8], "columns": 4)", R"("elements": [12, 9], "columns": 4)", "elements"},
      // Drawn counts are cut to whole rows, of which there is one at least.
      {R"("elements": {"log_uniform": [4, 9]}, "columns": 4)",
       R"("elements": {"log_uniform": [3, 9]}, "columns": 4)", "elements"},
      {R"("group_by": "segments", "segment_elements": 17179869184)",
       R"("group_by": "segments", "segment_elements": 17179869185)", "segment_elements"},
  });
  EXPECT_EQ(ScenarioErrorOf(R"("elements": {"log_uniform": [3, 9]}, "columns": 4)"),
            "requests[0].elements: must be at least columns");
  EXPECT_EQ(ScenarioErrorOf(R"("elements": 9, "columns": 4)"),
            "requests[0].elements: must be a multiple of columns");
}

// Each type from its smallest to its largest integer, as far as it holds all of them.
TEST(ScenarioEdgesTest, Values) {
  const struct {
    const char* type;
    int64_t low;
    int64_t high;
  } types[] = {{"int8", -128, 127},
               {"uint8", 0, 255},
               {"int16", -32768, 32767},
               {"uint16", 0, 65535},
               {"int32", -2147483648, 2147483647},
               {"uint32", 0, 2147483647},
               {"int64", -2147483648, 2147483647},
               {"uint64", 0, 2147483647},
               {"float16", -2048, 2048},
               {"bfloat16", -256, 256},
               {"float32", -16777216, 16777216},
               {"float64", -2147483648, 2147483647}};
  for (const auto& [type, low, high] : types) {
    const auto request = [&, name = type](int64_t first, int64_t last) {
      return absl::StrCat(R"("element_type": ")", name, R"(", "values": [)", first, ", ", last,
                          "]");
    };
    ExpectEdges({{request(low, high), request(low - 1, high), "values"},
                 {request(low, low), request(low, high + 1), "values"},
                 {request(high, high), request(high, high - 1), "values"}});
  }
}

TEST(ScenarioEdgesTest, SumsAndProductsThatFloat64HoldsExactly) {
  ExpectEdges({
      // 2^29 elements of up to 2^24 have a sum of 2^53; one less of each, it is below.
      {R"("operation": "scan", "elements": 536870911, "values": [0, 16777216])",
       R"("operation": "scan", "elements": 536870912, "values": [0, 16777216])", "values"},
      {R"("operation": "scan", "elements": 536870911, "values": [-16777216, 0])",
       R"("operation": "scan", "elements": 536870912, "values": [-16777216, 0])", "values"},
      {R"("operation": "histogram", "weighted": true, "elements": 536870911, "values": [0, 16777216])",
       R"("operation": "histogram", "weighted": true, "elements": 536870912, "values": [0, 16777216])",
       "values"},
      {R"("statistics": ["product"], "elements": 52, "values": [1, 2])",
       R"("statistics": ["product"], "elements": 53, "values": [1, 2])", "values"},
      {R"("operation": "scan", "scan": "product", "elements": [3, 26], "values": [-4, 2])",
       R"("operation": "scan", "scan": "product", "elements": [3, 27], "values": [-4, 2])",
       "values"},
      // Of the longest group: a row, a column, a segment of less than twice the mean.
      {R"("statistics": ["product"], "elements": 520, "columns": 52, "group_by": "rows", "values": [1, 2])",
       R"("statistics": ["product"], "elements": 530, "columns": 53, "group_by": "rows", "values": [1, 2])",
       "values"},
      {R"("statistics": ["product"], "elements": 520, "columns": 10, "group_by": "columns", "values": [1, 2])",
       R"("statistics": ["product"], "elements": 530, "columns": 10, "group_by": "columns", "values": [1, 2])",
       "values"},
      {R"("statistics": ["product"], "segment_elements": 26, "group_by": "segments", "values": [1, 2])",
       R"("statistics": ["product"], "segment_elements": 27, "group_by": "segments", "values": [1, 2])",
       "values"},
      {R"("statistics": ["product"], "transport": "stream", "element_type": "int64", "values": [-1, 1])",
       R"("statistics": ["sum", "product"], "transport": "stream", "values": [-1, 1])",
       "statistics"},
  });
  // No product, no bound; nor for sums of integers, which wrap around or do not.
  EXPECT_EQ(ScenarioErrorOf(R"("elements": 536870912, "values": [0, 16777216])"), "");
  EXPECT_EQ(
      ScenarioErrorOf(R"("operation": "scan", "element_type": "int32", "elements": 536870912, )"
                      R"("values": [0, 16777216])"),
      "");
}

TEST(ScenarioEdgesTest, Bins) {
  const std::string histogram = R"("operation": "histogram", )";
  std::vector<Edge> edges = {
      {R"("bins": 1)", R"("bins": 0)", "bins"},
      {R"("bins": 16777216)", R"("bins": 16777217)", "bins"},
      {R"("bins": 4096, "y_bins": 4096)", R"("bins": 4096, "y_bins": 4097)", "bins"},
      {R"("bins": 1, "y_bins": 16777216)", R"("bins": 1, "y_bins": 16777217)", "bins"},
      {R"("range": [1, 1.001])", R"("range": [1, 1])", "range"},
      {R"("range": [1, 2], "values": [5, 5])", R"("values": [5, 5])", "range"},
      {R"("values": [5, 6])", R"("range": [2, 1])", "range"},
      {R"("layout": "integer", "element_type": "uint64")", R"("layout": "integer")", "layout"},
      {R"("layout": "integer", "element_type": "int8", "values": [5, 5])",
       R"("layout": "integer", "element_type": "int8", "range": [1, 2])", "range"},
      {R"("transport": "stream")", R"("transport": "stream", "columns": 8)", "columns"},
      {R"("columns": 8)", R"("columns": 8, "group_by": "rows")", "group_by"},
  };
  for (Edge& edge : edges) {
    edge.taken = histogram + edge.taken;
    edge.refused = histogram + edge.refused;
  }
  ExpectEdges(edges);
}

TEST(ScenarioEdgesTest, Scans) {
  const std::string scan = R"("operation": "scan", )";
  std::vector<Edge> edges = {
      {R"("scan": "product", "values": [0, 1], "mode": "exclusive")",
       R"("scan": "max", "mode": "exclusive")", "mode"},
      {R"("mode": "exclusive")", R"("scan": "min", "mode": "exclusive")", "mode"},
      {R"("destination": "inline", "transport": "stream")",
       R"("destination": "resident", "transport": "stream")", "destination"},
      {R"("destination": "inline", "batch": 1)", R"("destination": "shared", "batch": 1)",
       "destination"},
      {R"("group_by": "segments")", R"("group_by": "segments", "transport": "stream")", "group_by"},
      {R"("group_by": "columns", "columns": 8)", R"("group_by": "columns")", "group_by"},
      {R"("columns": 8)", R"("columns": 8, "transport": "stream")", "columns"},
  };
  for (Edge& edge : edges) {
    edge.taken = scan + edge.taken;
    edge.refused = scan + edge.refused;
  }
  ExpectEdges(edges);
}

void ExpectEdgesOf(const std::string& operation, std::vector<Edge> edges) {
  for (Edge& edge : edges) {
    for (std::string* const request : {&edge.taken, &edge.refused}) {
      *request = absl::StrCat(R"("operation": ")", operation, R"(", )", *request);
    }
  }
  ExpectEdges(edges);
}

TEST(ScenarioEdgesTest, Quantiles) {
  std::string most = "0";
  for (int i = 1; i < 256; ++i) most += ", 1";
  ExpectEdgesOf("quantile", {{R"("quantiles": [0, 1])", R"("quantiles": [0, 1.001])", "quantiles"},
                             {R"("quantiles": [0.5])", R"("quantiles": [-0.001])", "quantiles"},
                             {R"("quantiles": [1])", R"("quantiles": [])", "quantiles"},
                             {R"("quantiles": [1])", R"("quantiles": 1)", "quantiles"},
                             {R"("quantiles": [1])", R"("quantiles": ["median"])", "quantiles"},
                             {absl::StrCat(R"("quantiles": [)", most, "]"),
                              absl::StrCat(R"("quantiles": [)", most, ", 1]"), "quantiles"},
                             {R"("method": "mean")", R"("method": "inverted_cdf")", "method"},
                             {R"("group_by": "segments")", R"("group_by": "rows")", "group_by"},
                             {R"("transport": "shared")", R"("transport": "stream")", "transport"},
                             {R"("batch": 0)", R"("batch": 1)", "batch"}});
  EXPECT_EQ(ScenarioErrorOf(R"("operation": "quantile", "transport": "stream", "columns": 8)"),
            "requests[0].transport: there is no stream of operation quantile");
  EXPECT_EQ(ScenarioErrorOf(R"("operation": "quantile", "batch": 2)"),
            "requests[0].batch: batches have no operation quantile");
}

TEST(ScenarioEdgesTest, LargestElements) {
  ExpectEdgesOf("topk",
                {{R"("k": 1)", R"("k": 0)", "k"},
                 {R"("k": 12, "elements": [12, 30])", R"("k": 13, "elements": [12, 30])", "k"},
                 {R"("k": 5, "elements": 40, "columns": 5, "group_by": "rows")",
                  R"("k": 6, "elements": 40, "columns": 5, "group_by": "rows")", "k"},
                 {R"("k": 8, "elements": 40, "columns": 5, "group_by": "columns")",
                  R"("k": 9, "elements": 40, "columns": 5, "group_by": "columns")", "k"},
                 {R"("k": 10, "elements": {"log_uniform": [14, 90]}, "columns": 5)",
                  R"("k": 11, "elements": {"log_uniform": [14, 90]}, "columns": 5)", "k"},
                 {R"("k": 1, "group_by": "segments")", R"("k": 2, "group_by": "segments")", "k"},
                 {R"("smallest": true)", R"("smallest": 1)", "smallest"},
                 {R"("transport": "resident")", R"("transport": "stream")", "transport"},
                 {R"("batch": 0)", R"("batch": 1)", "batch"}});
}

TEST(ScenarioEdgesTest, Keys) {
  ExpectEdgesOf(
      "group",
      {{R"("key_count": 1)", R"("key_count": 0)", "key_count"},
       {R"("key_count": 70, "elements": [70, 90])", R"("key_count": 71, "elements": [70, 90])",
        "key_count"},
       {R"("key_count": 128, "key_type": "int8")", R"("key_count": 129, "key_type": "int8")",
        "key_count"},
       {R"("key_count": 256, "key_type": "uint8")", R"("key_count": 257, "key_type": "uint8")",
        "key_count"},
       {R"("key_type": "uint64")", R"("key_type": "float64")", "key_type"},
       {R"("keys": "range")", R"("keys": "bins")", "keys"},
       {R"("sorted_keys": true)", R"("sorted_keys": "yes")", "sorted_keys"},
       {R"("statistics": [], "quantiles": [0.5])", R"("statistics": [])", "statistics"},
       {R"("statistics": ["bitwise_or"], "element_type": "int8")",
        R"("statistics": ["bitwise_or"])", "statistics"},
       {R"("quantiles": [1])", R"("quantiles": [1.5])", "quantiles"},
       {R"("transport": "stream")", R"("transport": "stream", "quantiles": [1])", "quantiles"},
       // 64 keys of 52 values each.
       {R"("statistics": ["product"], "elements": 3328, "values": [1, 2])",
        R"("statistics": ["product"], "elements": 3329, "values": [1, 2])", "values"},
       {R"("batch": 2)", R"("batch": 2, "columns": 8)", "columns"},
       {R"("group_by": "all")", R"("group_by": "segments")", "group_by"}});
}

TEST(ScenarioEdgesTest, OutputTypes) {
  ExpectEdges(
      {{R"("output_type": "float16")", R"("output_type": "int16")", "output_type"},
       {R"("output_type": "float64")", R"("output_type": "bool")", "output_type"},
       {R"("output_type": "float32")", R"("output_type": "half")", "output_type"},
       {R"("output_type": "float32", "element_type": "int8", "statistics": ["sum", "mean"])",
        R"("output_type": "float32", "element_type": "int8", "statistics": ["sum", "max"])",
        "output_type"},
       {R"("output_type": "float32", "statistics": ["max"])",
        R"("output_type": "float32", "statistics": ["count", "argmax", "all"])", "output_type"},
       {R"("output_type": "float32", "operation": "group")",
        R"("output_type": "float32", "operation": "scan")", "output_type"},
       {R"("output_type": "float32", "operation": "group", "quantiles": [1])",
        R"("output_type": "float32", "operation": "group", "quantiles": [1], "statistics": [])",
        "output_type"}});
  EXPECT_EQ(ScenarioErrorOf(R"("output_type": "float32", "operation": "histogram")"),
            "requests[0].output_type: only reductions have one, also by key");
}

TEST(ScenarioEdgesTest, Relations) {
  ExpectEdgesOf(
      "relate",
      {{R"("statistics": ["dot", "variance"])", R"("statistics": ["dot", "sum"])", "statistics"},
       {R"("statistics": ["mean"])", R"("statistics": [])", "statistics"},
       {R"("columns": 64)", R"("columns": 65, "elements": 650)", "columns"},
       {R"("columns": 8)", R"("columns": 8, "group_by": "rows")", "group_by"},
       // 2^29 elements of up to 2^24 have a sum of 2^53.
       {R"("elements": 536870911, "values": [0, 16777216])",
        R"("elements": 536870912, "values": [0, 16777216])", "values"},
       // 2^15 products of 2^48 have a sum of 2^63.
       {R"("elements": 32767, "values": [0, 16777216], "element_type": "int32")",
        R"("elements": 32768, "values": [0, 16777216], "element_type": "int32")", "values"},
       {R"("transport": "resident")", R"("transport": "stream")", "transport"},
       {R"("batch": 0)", R"("batch": 1)", "batch"}});
}

TEST(ScenarioEdgesTest, ShapesOfRows) {
  ExpectEdges({
      {R"("elements": 1, "row_shape": [1, 1, 1, 1, 1, 1, 1])",
       R"("elements": 1, "row_shape": [1, 1, 1, 1, 1, 1, 1, 1])", "row_shape"},
      {R"("row_shape": [1])", R"("row_shape": [0])", "row_shape"},
      {R"("elements": 17179869184, "row_shape": [131072, 131072])",
       R"("elements": 17179869184, "row_shape": [131072, 131073])", "row_shape"},
      {R"("row_shape": [8])", R"("row_shape": 8)", "row_shape"},
      {R"("row_shape": [8])", R"("row_shape": [-8])", "row_shape"},
      {R"("row_shape": [8])", R"("row_shape": [8], "columns": 8)", "row_shape"},
      {R"("row_shape": [8, 2])", R"("row_shape": [8, 3])", "elements"},
      {R"("elements": {"log_uniform": [12, 90]}, "row_shape": [4, 3])",
       R"("elements": {"log_uniform": [11, 90]}, "row_shape": [4, 3])", "elements"},
      {R"("row_shape": [8], "group_by": "rows")", R"("row_shape": [8, 2], "group_by": "rows")",
       "group_by"},
      {R"("group_by": "segments")", R"("group_by": "segments", "row_shape": [8])", "row_shape"},
      {R"("operation": "group")", R"("operation": "group", "row_shape": [8])", "row_shape"},
      {R"("operation": "relate")", R"("operation": "relate", "row_shape": [8])", "row_shape"},
      {R"("transport": "stream", "row_shape": [8, 2])",
       R"("transport": "stream", "row_shape": [8, 2], "operation": "scan")", "row_shape"},
  });
  EXPECT_EQ(ScenarioErrorOf(R"("elements": 9, "row_shape": [2, 2])"),
            "requests[0].elements: must be a multiple of the elements of row_shape");
}

TEST(ScenarioEdgesTest, Axes) {
  const std::string cube = R"("row_shape": [8, 4], )";
  std::vector<Edge> edges = {
      {R"("axes": [2, 0])", R"("axes": [3])", "axes"},
      {R"("axes": [-3])", R"("axes": [-4])", "axes"},
      {R"("axes": [0, -2])", R"("axes": [0, -3])", "axes"},
      {R"("axes": [])", R"("axes": 1)", "axes"},
      {R"("axes": [1])", R"("axes": [0.5])", "axes"},
      {R"("axes": [1], "group_by": "all")", R"("axes": [1], "row_shape": [8], "group_by": "rows")",
       "axes"},
      {R"("axes": [1], "operation": "scan")", R"("axes": [1, 2], "operation": "scan")", "axes"},
      {R"("axes": [1], "operation": "topk", "k": 8)", R"("axes": [], "operation": "scan")", "axes"},
      {R"("operation": "histogram")", R"("axes": [1], "operation": "histogram")", "axes"},
      {R"("axes": [1, 2], "transport": "stream")", R"("axes": [1], "transport": "stream")", "axes"},
      {R"("axes": [1, 0], "transport": "stream")", R"("axes": [2, 0], "transport": "stream")",
       "axes"},
      {R"("axes": [1], "operation": "topk", "k": 8)", R"("axes": [1], "operation": "topk", "k": 9)",
       "k"},
      {R"("keep_dimensions": true)", R"("keep_dimensions": 1)", "keep_dimensions"},
      {R"("keep_dimensions": true, "operation": "quantile")",
       R"("keep_dimensions": true, "operation": "topk")", "keep_dimensions"},
      // Products of 32 elements of up to 2 and of 64 of them.
      {R"("axes": [1, 2], "elements": 2048, "statistics": ["product"], "values": [1, 2])",
       R"("axes": [0], "elements": 2048, "statistics": ["product"], "values": [1, 2])", "values"},
  };
  for (Edge& edge : edges) {
    edge.taken = cube + edge.taken;
    if (edge.refused.find("row_shape") == std::string::npos) edge.refused = cube + edge.refused;
  }
  ExpectEdges(edges);
  EXPECT_EQ(ScenarioErrorOf(R"("keep_dimensions": true, "group_by": "segments")"),
            "requests[0].keep_dimensions: segments have none to keep");
  EXPECT_EQ(ScenarioErrorOf(R"("axes": [0], "operation": "relate")"),
            "requests[0].axes: relations have no groups");
}

TEST(ScenarioEdgesTest, Masks) {
  ExpectEdges({
      {R"("where": 1)", R"("where": 1.001)", "where"},
      {R"("where": 0.001)", R"("where": 0)", "where"},
      {R"("where": {"part": 1})", R"("where": {"part": -1})", "where"},
      {R"("where": {})", R"("where": "half")", "where"},
      {R"("where": {})", R"("where": {"part": "half"})", "where.part"},
      {R"("where": {})", R"("where": {"share": 1})", "where.share"},
      {R"("where": {"dimensions": 1})", R"("where": {"dimensions": 0})", "where.dimensions"},
      {R"("where": {"dimensions": 2}, "columns": 8)", R"("where": {"dimensions": 3}, "columns": 8)",
       "where.dimensions"},
      {R"("where": {"part": 0.5}, "transport": "stream")",
       R"("where": {"dimensions": 1}, "transport": "stream")", "where.dimensions"},
      {R"("where": 1, "operation": "histogram")", R"("where": 1, "operation": "quantile")",
       "where"},
      {R"("where": 1, "operation": "reduce")", R"("where": 1, "operation": "topk")", "where"},
      {R"("where": 1, "operation": "scan")", R"("where": 1, "operation": "scan", "scan": "max")",
       "where"},
      {R"("where": 1, "operation": "scan", "scan": "product", "values": [1, 1])",
       R"("where": 1, "operation": "scan", "scan": "min")", "where"},
      {R"("where": 1)", R"("where": 1, "operation": "group")", "where"},
  });
  EXPECT_EQ(ScenarioErrorOf(R"("where": 1, "operation": "relate")"),
            "requests[0].where: only reductions, scans and histograms have one");
}

TEST(ScenarioEdgesTest, Views) {
  // The smaller array has shape [10, 8].
  const auto request = [](const std::string& view, const std::string& more = "") {
    return absl::StrCat(R"("elements": [80, 160], "columns": 8, "transport": "resident", )",
                        R"("view": {)", view, "}", more);
  };
  const auto edge = [&](const std::string& taken, const std::string& refused,
                        const std::string& field) {
    return Edge{request(taken), request(refused), "view." + field};
  };
  ExpectEdges({
      edge(R"("dimensions": [{"axis": 1}])", R"("dimensions": [{"axis": 2}])",
           "dimensions[0].axis"),
      edge(R"("dimensions": [{"axis": 1}, {"axis": 0}])",
           R"("dimensions": [{"axis": 1}, {"axis": 1}])", "dimensions[1].axis"),
      edge(R"("dimensions": [{}])", R"("dimensions": [])", "dimensions"),
      edge(R"("dimensions": [{}])", R"("dimensions": {})", "dimensions"),
      edge(R"("dimensions": [{}])", R"("dimensions": [1])", "dimensions[0]"),
      edge(R"("dimensions": [{}])", R"("dimensions": [{}, {"along": 1}])", "dimensions[1].along"),
      edge(R"("dimensions": [{}])", R"("dimensions": [{"axis": 4294967296}])",
           "dimensions[0].axis"),
      edge(R"("dimensions": [{}])", R"("dimensions": [{}], "last": [1, 1])", "last"),
      edge(R"("dimensions": [{"step": -1}])", R"("dimensions": [{"step": 0}])",
           "dimensions[0].step"),
      edge(R"("dimensions": [{"count": 10}])", R"("dimensions": [{"count": 11}])",
           "dimensions[0].count"),
      edge(R"("dimensions": [{"count": 1}])", R"("dimensions": [{"count": 0}])",
           "dimensions[0].count"),
      edge(R"("dimensions": [{"count": 4, "step": 3}])",
           R"("dimensions": [{"count": 5, "step": 3}])", "dimensions[0].count"),
      edge(R"("dimensions": [{"count": 4, "step": -3}])",
           R"("dimensions": [{"count": 5, "step": -3}])", "dimensions[0].count"),
      edge(R"("first": [3, 0], "dimensions": [{"count": 3, "step": 3}])",
           R"("first": [4, 0], "dimensions": [{"count": 3, "step": 3}])", "dimensions[0].count"),
      edge(R"("first": [6, 0], "dimensions": [{"count": 3, "step": -3}])",
           R"("first": [5, 0], "dimensions": [{"count": 3, "step": -3}])", "dimensions[0].count"),
      edge(R"("first": [0, 0], "dimensions": [{"step": -9223372036854775808}])",
           R"("dimensions": [{"step": -9223372036854775808, "count": 2}])", "dimensions[0].count"),
      edge(R"("first": [9, 7], "dimensions": [{}])", R"("first": [9, 8], "dimensions": [{}])",
           "first"),
      edge(R"("first": [9, 7], "dimensions": [{}])", R"("first": [10, 7], "dimensions": [{}])",
           "first"),
      edge(R"("first": [], "dimensions": [{}])", R"("first": [1], "dimensions": [{}])", "first"),
      edge(R"("first": [1, 1], "dimensions": [{}])", R"("first": [1, 1, 1], "dimensions": [{}])",
           "first"),
  });
  const std::string row = R"("dimensions": [{"axis": 1}])";
  ExpectEdges({
      {request(row), R"("elements": 80, "view": {"dimensions": [{}]})", "view"},
      {request(row), R"("view": {"dimensions": [{}]}, "transport": "shared")", "view"},
      {request(row, R"(, "operation": "topk", "k": 8)"),
       request(row, R"(, "operation": "topk", "k": 9)"), "k"},
      {request(row, R"(, "axes": [-1])"), request(row, R"(, "axes": [1])"), "axes"},
      {request(row, R"(, "group_by": "segments")"),
       request(R"("dimensions": [{}, {"axis": 1}])", R"(, "group_by": "segments")"), "view"},
      {request(R"("dimensions": [{}, {"axis": 1}])", R"(, "group_by": "rows")"),
       request(row, R"(, "group_by": "rows")"), "group_by"},
      {request(row, R"(, "operation": "quantile")"), request(row, R"(, "operation": "relate")"),
       "view"},
      {request(row, R"(, "where": {"dimensions": 1})"),
       request(row, R"(, "where": {"dimensions": 2})"), "where.dimensions"},
      // Of 8 elements up to 64, and of 20 of them.
      {request(row, R"(, "statistics": ["product"], "values": [1, 64])"),
       request(R"("dimensions": [{}])", R"(, "statistics": ["product"], "values": [1, 64])"),
       "values"},
  });
  EXPECT_EQ(ScenarioErrorOf(R"("operation": "group", "transport": "resident", "view": {})"),
            "requests[0].view: not of operation group");
  EXPECT_EQ(ScenarioErrorOf(R"("view": {"dimensions": [{}]})"),
            "requests[0].view: only resident arrays have one");
  EXPECT_EQ(ScenarioErrorOf(request(R"("dimensions": [{"count": 6, "step": 2}])")),
            "requests[0].view.dimensions[0].count: must be from 1 to 5, the indices from 0 on in "
            "steps of 2");
}

TEST(ScenarioEdgesTest, Calls) {
  ExpectEdges({
      {R"("weight": 0.001)", R"("weight": 0)", "weight"},
      {R"("weight": 1e300)", R"("weight": -1)", "weight"},
      {R"("timeout": "1ns")", R"("timeout": "0s")", "timeout"},
      {R"("cancel": 0)", R"("cancel": -0.01)", "cancel"},
      {R"("cancel": 1)", R"("cancel": 1.01)", "cancel"},
      {R"("cancel_within": "1ns")", R"("cancel_within": "0s")", "cancel_within"},
      {R"("batch": 65536)", R"("batch": 65537)", "batch"},
      {R"("batch": 0, "transport": "stream")", R"("batch": 1, "transport": "stream")", "batch"},
      {R"("statistics": ["bitwise_or"], "element_type": "uint64")",
       R"("statistics": ["bitwise_or"], "element_type": "float16")", "statistics"},
      {R"("statistics": ["all"])", R"("statistics": [])", "statistics"},
  });
}

}  // namespace
}  // namespace gridfold::load
