// Every value of every wire enumeration means what its name says.
#include "server/wire/proto_conversion.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/generated_enum_reflection.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::server {
namespace {

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

}  // namespace
}  // namespace gridfold::server
