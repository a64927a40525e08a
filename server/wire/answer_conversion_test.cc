// Results come out as the contract lays them out.
#include "server/wire/answer_conversion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

namespace gridfold::server {
namespace {

using testing::ElementsAre;

TEST(ProtoConversionTest, StatisticsOfEveryKind) {
  using kernels::Statistic;
  using kernels::ValueKind;
  kernels::ReductionPlan plan;
  plan.grouping.group_count = 2;
  const kernels::ReductionResult result{
      {{Statistic::kSum, ValueKind::kInt64, {~uint64_t{0}, 5}},
       {Statistic::kCount, ValueKind::kUint64, {~uint64_t{0}, 5}},
       {Statistic::kMean, ValueKind::kDouble, {std::bit_cast<uint64_t>(-0.5), 0}},
       {Statistic::kAll, ValueKind::kBool, {1, 0}}}};
  v1::ReduceArrayResponse response;
  FillResponse(plan, result, response);
  EXPECT_EQ(response.group_count(), 2u);
  ASSERT_EQ(response.results_size(), 4);
  EXPECT_THAT(response.results(0).values().int64_values().values(), ElementsAre(-1, 5));
  EXPECT_THAT(response.results(1).values().uint64_values().values(), ElementsAre(~uint64_t{0}, 5));
  EXPECT_THAT(response.results(2).values().double_values().values(), ElementsAre(-0.5, 0.0));
  EXPECT_THAT(response.results(3).values().bool_values().values(), ElementsAre(true, false));
  EXPECT_EQ(response.results(3).statistic(), v1::STATISTIC_ALL);
}

TEST(ProtoConversionTest, StatisticsInAnOutputType) {
  using kernels::Statistic;
  using kernels::ValueKind;
  kernels::ReductionPlan plan;
  plan.grouping.group_count = 2;
  plan.output_type = kernels::ElementType::kFloat16;
  const uint64_t slots[] = {std::bit_cast<uint64_t>(-0.5), std::bit_cast<uint64_t>(1e9)};
  const kernels::ReductionResult result{
      {{Statistic::kSum, ValueKind::kInt64, {5, 6}},
       {Statistic::kMean, ValueKind::kDouble, {slots[0], slots[1]}},
       {Statistic::kVariance, ValueKind::kDouble, {}}}};
  v1::ReduceArrayResponse response;
  FillResponse(plan, result, response);
  EXPECT_THAT(response.results(0).values().int64_values().values(), ElementsAre(5, 6));
  const v1::InlineArray& typed = response.results(1).values().typed_values();
  EXPECT_EQ(typed.element_type(), v1::ELEMENT_TYPE_FLOAT16);
  EXPECT_EQ(typed.data(), std::string("\x00\xB8\x00\x7C", 4));
  EXPECT_FALSE(response.results(2).has_values());
}

TEST(ProtoConversionTest, TheKindOfNoValuesIsStillTold) {
  kernels::ReductionPlan plan;
  plan.grouping.group_count = 0;
  v1::ReduceArrayResponse response;
  FillResponse(plan, {{{kernels::Statistic::kMean, kernels::ValueKind::kDouble, {}}}}, response);
  EXPECT_TRUE(response.results(0).values().has_double_values());
}

TEST(ProtoConversionTest, Histograms) {
  kernels::HistogramResult result;
  result.channels.resize(1);
  result.channels[0].counts = {4, 5};
  result.channels[0].bin_indices = {7, 9};
  result.channels[0].underflow_count = 1;
  result.channels[0].overflow_count = 2;
  result.channels[0].nan_count = 3;
  result.channels[0].quantile_values = {0.25};
  result.bins.resize(2);
  result.bins[0].kind = kernels::BinKind::kTable;
  result.bins[0].bin_count = 2;
  result.bins[0].edges = {1, 2, 4};
  result.bins[1].kind = kernels::BinKind::kInteger;
  result.bins[1].bin_count = 10;
  v1::ComputeHistogramResponse response;
  FillResponse(result, /*is_compact=*/false, response);
  ASSERT_EQ(response.channels_size(), 1);
  EXPECT_THAT(response.channels(0).counts(), ElementsAre(4, 5));
  EXPECT_THAT(response.channels(0).weight_sums(), ElementsAre());
  EXPECT_THAT(response.channels(0).bin_indices(), ElementsAre(7, 9));
  EXPECT_EQ(response.channels(0).underflow_count(), 1u);
  EXPECT_EQ(response.channels(0).overflow_count(), 2u);
  EXPECT_EQ(response.channels(0).nan_count(), 3u);
  EXPECT_THAT(response.channels(0).quantile_values(), ElementsAre(0.25));
  ASSERT_EQ(response.bins_size(), 2);
  EXPECT_THAT(response.bins(0).edges(), ElementsAre(1, 2, 4));
  EXPECT_EQ(response.bins(1).bin_count(), 10u);
  EXPECT_EQ(response.bins(1).edges_size(), 0);
}

// Edges that do not follow from bounds stay.
TEST(ProtoConversionTest, CompactHistograms) {
  kernels::HistogramResult result;
  result.channels.resize(1);
  result.bins.resize(2);
  result.bins[0].bin_count = 2;
  result.bins[0].lower_bound = -1;
  result.bins[0].upper_bound = 3;
  result.bins[1].kind = kernels::BinKind::kTable;
  result.bins[1].bin_count = 2;
  result.bins[1].edges = {1, 2, 4};
  for (const uint64_t largest :
       {uint64_t{0}, uint64_t{255}, uint64_t{256}, uint64_t{65'535}, uint64_t{65'536},
        uint64_t{0xffff'ffff}, uint64_t{0x1'0000'0000}, ~uint64_t{0}}) {
    result.channels[0].counts = {7, largest, 0};
    v1::ComputeHistogramResponse response;
    FillResponse(result, /*is_compact=*/true, response);
    const v1::HistogramCounts& counts = response.channels(0);
    EXPECT_EQ(counts.counts_size(), 0);
    const size_t width = counts.packed_count_bytes();
    EXPECT_EQ(width, largest < 256                ? 1u
                     : largest < 65'536           ? 2u
                     : largest < 0x1'0000'0000ull ? 4u
                                                  : 8u);
    ASSERT_EQ(counts.packed_counts().size(), 3 * width);
    for (size_t i = 0; i < 3; ++i) {
      uint64_t count = 0;
      for (size_t byte = width; byte-- > 0;) {
        count = count << 8 | static_cast<uint8_t>(counts.packed_counts()[i * width + byte]);
      }
      EXPECT_EQ(count, result.channels[0].counts[i]);
    }
    EXPECT_EQ(response.bins(0).edges_size(), 0);
    EXPECT_EQ(response.bins(0).even_edges().lower_bound(), -1);
    EXPECT_EQ(response.bins(0).even_edges().upper_bound(), 3);
    EXPECT_FALSE(response.bins(1).has_even_edges());
    EXPECT_THAT(response.bins(1).edges(), ElementsAre(1, 2, 4));
  }
  result.channels[0].counts.clear();
  result.channels[0].weight_sums = {1.5};
  v1::ComputeHistogramResponse weighted;
  FillResponse(result, /*is_compact=*/true, weighted);
  EXPECT_EQ(weighted.channels(0).packed_count_bytes(), 0u);
  EXPECT_THAT(weighted.channels(0).weight_sums(), ElementsAre(1.5));
}

}  // namespace
}  // namespace gridfold::server
