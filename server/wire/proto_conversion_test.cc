// Every value of every wire enumeration means what its name says; results come out as the contract
// lays them out.
#include "server/wire/proto_conversion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/generated_enum_reflection.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::server {
namespace {

using testing::ElementsAre;

// Calls f(value, "name_without_prefix") for every value of the enumeration but 0.
template <class Enum, class F>
void ForEachValue(absl::string_view prefix, F f) {
  const google::protobuf::EnumDescriptor& type = *google::protobuf::GetEnumDescriptor<Enum>();
  for (int i = 0; i < type.value_count(); ++i) {
    if (type.value(i)->number() == 0) continue;
    const std::string name = type.value(i)->name();
    SCOPED_TRACE(name);
    f(static_cast<Enum>(type.value(i)->number()),
      absl::AsciiStrToLower(absl::string_view(name).substr(prefix.size())));
  }
}

template <class Enum>
void ExpectUnknownValuesAreNamed() {
  for (const int number : {-1, 24, 1'000'000, std::numeric_limits<int>::max()}) {
    const auto converted = FromWire(static_cast<Enum>(number), "some.field");
    EXPECT_EQ(kernels::FieldOf(converted.status()), "some.field");
  }
}

// Truth values are uint8 to the kernels.
TEST(ProtoConversionTest, ElementTypes) {
  int count = 0;
  ForEachValue<v1::ElementType>(
      "ELEMENT_TYPE_", [&](v1::ElementType wire, const std::string& name) {
        const auto type = FromWire(wire, "field");
        ASSERT_TRUE(type.ok());
        const bool is_bool = name == "bool";
        EXPECT_EQ(IsBool(wire), is_bool);
        EXPECT_EQ(kernels::ElementTypeName(*type), is_bool ? "uint8" : name);
        EXPECT_EQ(ToWire(*type, is_bool), wire);
        count += !is_bool;
      });
  EXPECT_EQ(count, kernels::kElementTypeCount);
  ExpectUnknownValuesAreNamed<v1::ElementType>();
  EXPECT_FALSE(FromWire(v1::ELEMENT_TYPE_UNSPECIFIED, "field").ok());
}

TEST(ProtoConversionTest, Statistics) {
  int count = 0;
  ForEachValue<v1::Statistic>("STATISTIC_", [&](v1::Statistic wire, const std::string& name) {
    const auto statistic = FromWire(wire, "field");
    ASSERT_TRUE(statistic.ok());
    EXPECT_EQ(kernels::StatisticName(*statistic), name);
    EXPECT_EQ(ToWire(*statistic), wire);
    ++count;
  });
  EXPECT_EQ(count, kernels::kStatisticCount);
  ExpectUnknownValuesAreNamed<v1::Statistic>();
  EXPECT_FALSE(FromWire(v1::STATISTIC_UNSPECIFIED, "field").ok());
}

TEST(ProtoConversionTest, ScanOperations) {
  int count = 0;
  ForEachValue<v1::ScanOperation>("SCAN_OPERATION_",
                                  [&](v1::ScanOperation wire, const std::string& name) {
                                    const auto operation = FromWire(wire, "field");
                                    ASSERT_TRUE(operation.ok());
                                    EXPECT_EQ(kernels::ScanOperationName(*operation), name);
                                    ++count;
                                  });
  EXPECT_EQ(count, 5);
  ExpectUnknownValuesAreNamed<v1::ScanOperation>();
  EXPECT_FALSE(FromWire(v1::SCAN_OPERATION_UNSPECIFIED, "field").ok());
}

TEST(ProtoConversionTest, PoliciesAndTheirDefaults) {
  EXPECT_EQ(*FromWire(v1::NAN_POLICY_UNSPECIFIED, ""), kernels::NanPolicy::kPropagate);
  EXPECT_EQ(*FromWire(v1::NAN_POLICY_PROPAGATE, ""), kernels::NanPolicy::kPropagate);
  EXPECT_EQ(*FromWire(v1::NAN_POLICY_IGNORE, ""), kernels::NanPolicy::kIgnore);
  EXPECT_EQ(*FromWire(v1::OVERFLOW_POLICY_UNSPECIFIED, ""), kernels::OverflowPolicy::kError);
  EXPECT_EQ(*FromWire(v1::OVERFLOW_POLICY_ERROR, ""), kernels::OverflowPolicy::kError);
  EXPECT_EQ(*FromWire(v1::OVERFLOW_POLICY_WRAP, ""), kernels::OverflowPolicy::kWrap);
  EXPECT_EQ(*FromWire(v1::OUT_OF_RANGE_POLICY_UNSPECIFIED, ""), kernels::OutOfRangePolicy::kDrop);
  EXPECT_EQ(*FromWire(v1::OUT_OF_RANGE_POLICY_DROP, ""), kernels::OutOfRangePolicy::kDrop);
  EXPECT_EQ(*FromWire(v1::OUT_OF_RANGE_POLICY_CLAMP, ""), kernels::OutOfRangePolicy::kClamp);
  EXPECT_EQ(*FromWire(v1::SCAN_MODE_UNSPECIFIED, ""), kernels::ScanMode::kInclusive);
  EXPECT_EQ(*FromWire(v1::SCAN_MODE_INCLUSIVE, ""), kernels::ScanMode::kInclusive);
  EXPECT_EQ(*FromWire(v1::SCAN_MODE_EXCLUSIVE, ""), kernels::ScanMode::kExclusive);
  EXPECT_EQ(*FromWire(v1::SCAN_DIRECTION_UNSPECIFIED, ""), kernels::ScanDirection::kForward);
  EXPECT_EQ(*FromWire(v1::SCAN_DIRECTION_FORWARD, ""), kernels::ScanDirection::kForward);
  EXPECT_EQ(*FromWire(v1::SCAN_DIRECTION_REVERSE, ""), kernels::ScanDirection::kReverse);
  EXPECT_FALSE(*IsSparse(v1::HISTOGRAM_FORMAT_UNSPECIFIED, ""));
  EXPECT_FALSE(*IsSparse(v1::HISTOGRAM_FORMAT_DENSE, ""));
  EXPECT_TRUE(*IsSparse(v1::HISTOGRAM_FORMAT_SPARSE, ""));
  ExpectUnknownValuesAreNamed<v1::NanPolicy>();
  ExpectUnknownValuesAreNamed<v1::OverflowPolicy>();
  ExpectUnknownValuesAreNamed<v1::OutOfRangePolicy>();
  ExpectUnknownValuesAreNamed<v1::ScanMode>();
  ExpectUnknownValuesAreNamed<v1::ScanDirection>();
}

TEST(ProtoConversionTest, Durations) {
  using std::chrono::nanoseconds;
  EXPECT_EQ(ToWire(nanoseconds(0)).ShortDebugString(), "");
  EXPECT_EQ(ToWire(nanoseconds(999'999'999)).ShortDebugString(), "nanos: 999999999");
  EXPECT_EQ(ToWire(nanoseconds(3'000'000'001)).ShortDebugString(), "seconds: 3 nanos: 1");
}

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
