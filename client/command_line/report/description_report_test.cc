// Descriptions of a file's arrays as a table and as JSON.
#include "client/command_line/report/description_report.h"

#include <cmath>
#include <string>
#include <vector>

#include "client/command_line/report/json_report.h"
#include "client/command_line/report/table_report.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

// A column of numbers, one of text, one with nothing in it, and an array without a name.
std::vector<ArrayDescriptionReport> Described() {
  ReductionResult statistics;
  statistics.group_count = 1;
  statistics.entries = {{Statistic::kCount, std::vector<uint64_t>{1200}},
                        {Statistic::kNanCount, std::vector<uint64_t>{3}},
                        {Statistic::kMin, std::vector<int64_t>{-4000}},
                        {Statistic::kMax, std::vector<int64_t>{51}},
                        {Statistic::kMean, std::vector<double>{1.0 / 3}},
                        {Statistic::kStandardDeviation, std::vector<double>{std::nan("")}}};
  HistogramResult histogram;
  histogram.channels = {HistogramCounts{.counts = {1, 0, 8, 4}, .quantile_values = {0.25, 6, 7}}};
  histogram.bins = {{.bin_count = 4, .edges = {0, 1, 2, 3, 4}}};
  const InputDescription input = {
      .source = "f.csv", .element_type = ElementType::kInt16, .shape = {1200}};
  return {{.name = "a", .input = input, .statistics = statistics, .histogram = histogram},
          {.name = "words"},
          {.name = "none",
           .input = InputDescription{.element_type = ElementType::kFloat32, .shape = {0}}},
          {.name = "", .input = input}};
}

TEST(DescriptionReportTest, TheTableHasAllDigits) {
  EXPECT_EQ(ToCsv(ToTable("f.csv", Described())),
            "source,name,type,count,nan_count,min,max,mean,standard_deviation,quantile_0.25,"
            "quantile_0.5,quantile_0.75\n"
            "f.csv,a,int16,1200,3,-4000,51,0.3333333333333333,NaN,0.25,6,7\n"
            "f.csv,words,text,,,,,,,,,\n"
            "f.csv,none,float32,,,,,,,,,\n"
            "f.csv,,int16,,,,,,,,,\n");
}

TEST(DescriptionReportTest, JsonLeavesOutWhatThereIsNot) {
  EXPECT_EQ(ToJson("f.csv", Described()),
            R"({"operation":"describe","source":"f.csv","arrays":[{"name":"a",)"
            R"("input":{"source":"f.csv","element_type":"int16","shape":[1200],)"
            R"("element_count":1200},"statistics":{"count":[1200],"nan_count":[3],)"
            R"("min":[-4000],"max":[51],"mean":[0.3333333333333333],)"
            R"("standard_deviation":["NaN"]},"quantiles":[{"probability":0.25,"value":0.25},)"
            R"({"probability":0.5,"value":6.0},{"probability":0.75,"value":7.0}],)"
            R"("counts":[1,0,8,4],"edges":[0.0,1.0,2.0,3.0,4.0]},{"name":"words"},)"
            R"({"name":"none","input":{"source":"","element_type":"float32","shape":[0],)"
            R"("element_count":0}},{"name":"","input":{"source":"f.csv",)"
            R"("element_type":"int16","shape":[1200],"element_count":1200}}]})"
            "\n");
}

}  // namespace
}  // namespace gridfold::client
