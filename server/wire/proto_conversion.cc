#include "server/wire/proto_conversion.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::server {

namespace {

template <class Wire, class Kernel>
struct Pair {
  Wire wire;
  Kernel kernel;
};

using kernels::ElementType;
using kernels::Statistic;

constexpr Pair<v1::ElementType, ElementType> kElementTypes[] = {
    {v1::ELEMENT_TYPE_INT8, ElementType::kInt8},
    {v1::ELEMENT_TYPE_INT16, ElementType::kInt16},
    {v1::ELEMENT_TYPE_INT32, ElementType::kInt32},
    {v1::ELEMENT_TYPE_INT64, ElementType::kInt64},
    {v1::ELEMENT_TYPE_UINT8, ElementType::kUint8},
    {v1::ELEMENT_TYPE_UINT16, ElementType::kUint16},
    {v1::ELEMENT_TYPE_UINT32, ElementType::kUint32},
    {v1::ELEMENT_TYPE_UINT64, ElementType::kUint64},
    {v1::ELEMENT_TYPE_FLOAT16, ElementType::kFloat16},
    {v1::ELEMENT_TYPE_BFLOAT16, ElementType::kBfloat16},
    {v1::ELEMENT_TYPE_FLOAT32, ElementType::kFloat32},
    {v1::ELEMENT_TYPE_FLOAT64, ElementType::kFloat64},
    // Last, so that uint8 has its own name on the wire.
    {v1::ELEMENT_TYPE_BOOL, ElementType::kUint8},
};
static_assert(std::size(kElementTypes) == kernels::kElementTypeCount + 1);

constexpr Pair<v1::Statistic, Statistic> kStatistics[] = {
    {v1::STATISTIC_COUNT, Statistic::kCount},
    {v1::STATISTIC_SUM, Statistic::kSum},
    {v1::STATISTIC_PRODUCT, Statistic::kProduct},
    {v1::STATISTIC_MIN, Statistic::kMin},
    {v1::STATISTIC_MAX, Statistic::kMax},
    {v1::STATISTIC_ARGMIN, Statistic::kArgmin},
    {v1::STATISTIC_ARGMAX, Statistic::kArgmax},
    {v1::STATISTIC_MEAN, Statistic::kMean},
    {v1::STATISTIC_VARIANCE, Statistic::kVariance},
    {v1::STATISTIC_STANDARD_DEVIATION, Statistic::kStandardDeviation},
    {v1::STATISTIC_L1_NORM, Statistic::kL1Norm},
    {v1::STATISTIC_L2_NORM, Statistic::kL2Norm},
    {v1::STATISTIC_NONZERO_COUNT, Statistic::kNonzeroCount},
    {v1::STATISTIC_NAN_COUNT, Statistic::kNanCount},
    {v1::STATISTIC_INFINITY_COUNT, Statistic::kInfinityCount},
    {v1::STATISTIC_ALL, Statistic::kAll},
    {v1::STATISTIC_ANY, Statistic::kAny},
    {v1::STATISTIC_BITWISE_AND, Statistic::kBitwiseAnd},
    {v1::STATISTIC_BITWISE_OR, Statistic::kBitwiseOr},
    {v1::STATISTIC_BITWISE_XOR, Statistic::kBitwiseXor},
    {v1::STATISTIC_RANGE, Statistic::kRange},
    {v1::STATISTIC_ROOT_MEAN_SQUARE, Statistic::kRootMeanSquare},
    {v1::STATISTIC_STANDARD_ERROR, Statistic::kStandardError},
};
static_assert(std::size(kStatistics) == kernels::kStatisticCount);

constexpr Pair<v1::NanPolicy, kernels::NanPolicy> kNanPolicies[] = {
    {v1::NAN_POLICY_UNSPECIFIED, kernels::NanPolicy::kPropagate},
    {v1::NAN_POLICY_PROPAGATE, kernels::NanPolicy::kPropagate},
    {v1::NAN_POLICY_IGNORE, kernels::NanPolicy::kIgnore},
};

constexpr Pair<v1::OverflowPolicy, kernels::OverflowPolicy> kOverflowPolicies[] = {
    {v1::OVERFLOW_POLICY_UNSPECIFIED, kernels::OverflowPolicy::kError},
    {v1::OVERFLOW_POLICY_ERROR, kernels::OverflowPolicy::kError},
    {v1::OVERFLOW_POLICY_WRAP, kernels::OverflowPolicy::kWrap},
};

constexpr Pair<v1::EmptyGroupPolicy, kernels::EmptyGroupPolicy> kEmptyGroupPolicies[] = {
    {v1::EMPTY_GROUP_POLICY_UNSPECIFIED, kernels::EmptyGroupPolicy::kError},
    {v1::EMPTY_GROUP_POLICY_ERROR, kernels::EmptyGroupPolicy::kError},
    {v1::EMPTY_GROUP_POLICY_NAN, kernels::EmptyGroupPolicy::kNan},
    {v1::EMPTY_GROUP_POLICY_NULL, kernels::EmptyGroupPolicy::kNull},
    {v1::EMPTY_GROUP_POLICY_VALUE, kernels::EmptyGroupPolicy::kValue},
};

constexpr Pair<v1::OutOfRangePolicy, kernels::OutOfRangePolicy> kOutOfRangePolicies[] = {
    {v1::OUT_OF_RANGE_POLICY_UNSPECIFIED, kernels::OutOfRangePolicy::kDrop},
    {v1::OUT_OF_RANGE_POLICY_DROP, kernels::OutOfRangePolicy::kDrop},
    {v1::OUT_OF_RANGE_POLICY_CLAMP, kernels::OutOfRangePolicy::kClamp},
};

constexpr Pair<v1::ScanOperation, kernels::ScanOperation> kScanOperations[] = {
    {v1::SCAN_OPERATION_SUM, kernels::ScanOperation::kSum},
    {v1::SCAN_OPERATION_PRODUCT, kernels::ScanOperation::kProduct},
    {v1::SCAN_OPERATION_MIN, kernels::ScanOperation::kMin},
    {v1::SCAN_OPERATION_MAX, kernels::ScanOperation::kMax},
    {v1::SCAN_OPERATION_MEAN, kernels::ScanOperation::kMean},
};

constexpr Pair<v1::ScanMode, kernels::ScanMode> kScanModes[] = {
    {v1::SCAN_MODE_UNSPECIFIED, kernels::ScanMode::kInclusive},
    {v1::SCAN_MODE_INCLUSIVE, kernels::ScanMode::kInclusive},
    {v1::SCAN_MODE_EXCLUSIVE, kernels::ScanMode::kExclusive},
};

constexpr Pair<v1::ScanDirection, kernels::ScanDirection> kScanDirections[] = {
    {v1::SCAN_DIRECTION_UNSPECIFIED, kernels::ScanDirection::kForward},
    {v1::SCAN_DIRECTION_FORWARD, kernels::ScanDirection::kForward},
    {v1::SCAN_DIRECTION_REVERSE, kernels::ScanDirection::kReverse},
};

constexpr Pair<v1::QuantileMethod, kernels::QuantileMethod> kQuantileMethods[] = {
    {v1::QUANTILE_METHOD_UNSPECIFIED, kernels::QuantileMethod::kLinear},
    {v1::QUANTILE_METHOD_LINEAR, kernels::QuantileMethod::kLinear},
    {v1::QUANTILE_METHOD_LOWER, kernels::QuantileMethod::kLower},
    {v1::QUANTILE_METHOD_HIGHER, kernels::QuantileMethod::kHigher},
    {v1::QUANTILE_METHOD_NEAREST, kernels::QuantileMethod::kNearest},
    {v1::QUANTILE_METHOD_MIDPOINT, kernels::QuantileMethod::kMidpoint},
    {v1::QUANTILE_METHOD_MEAN, kernels::QuantileMethod::kMean},
};

constexpr Pair<v1::HistogramBinRule, kernels::BinRule> kBinRules[] = {
    {v1::HISTOGRAM_BIN_RULE_AUTO, kernels::BinRule::kAuto},
    {v1::HISTOGRAM_BIN_RULE_FD, kernels::BinRule::kFreedmanDiaconis},
    {v1::HISTOGRAM_BIN_RULE_SCOTT, kernels::BinRule::kScott},
    {v1::HISTOGRAM_BIN_RULE_RICE, kernels::BinRule::kRice},
    {v1::HISTOGRAM_BIN_RULE_STURGES, kernels::BinRule::kSturges},
    {v1::HISTOGRAM_BIN_RULE_SQRT, kernels::BinRule::kSqrt},
};

constexpr Pair<v1::PairedStatistic, kernels::PairedStatistic> kPairedStatistics[] = {
    {v1::PAIRED_STATISTIC_DOT, kernels::PairedStatistic::kDot},
    {v1::PAIRED_STATISTIC_COVARIANCE, kernels::PairedStatistic::kCovariance},
    {v1::PAIRED_STATISTIC_CORRELATION, kernels::PairedStatistic::kCorrelation},
    {v1::PAIRED_STATISTIC_MEAN, kernels::PairedStatistic::kMean},
    {v1::PAIRED_STATISTIC_VARIANCE, kernels::PairedStatistic::kVariance},
};
static_assert(std::size(kPairedStatistics) == kernels::kPairedStatisticCount);

constexpr Pair<v1::WeightKind, kernels::WeightKind> kWeightKinds[] = {
    {v1::WEIGHT_KIND_UNSPECIFIED, kernels::WeightKind::kFrequency},
    {v1::WEIGHT_KIND_FREQUENCY, kernels::WeightKind::kFrequency},
    {v1::WEIGHT_KIND_RELIABILITY, kernels::WeightKind::kReliability},
};

constexpr Pair<v1::HistogramFormat, bool> kSparseFormats[] = {
    {v1::HISTOGRAM_FORMAT_UNSPECIFIED, false},
    {v1::HISTOGRAM_FORMAT_DENSE, false},
    {v1::HISTOGRAM_FORMAT_SPARSE, true},
};

template <class Wire, class Kernel, size_t n>
absl::StatusOr<Kernel> FindKernel(const Pair<Wire, Kernel> (&pairs)[n], Wire wire,
                                  absl::string_view field) {
  for (const Pair<Wire, Kernel>& pair : pairs) {
    if (pair.wire == wire) return pair.kernel;
  }
  if (wire == 0) return kernels::InvalidField(field, "is required");
  return kernels::InvalidField(field,
                               absl::StrCat(static_cast<int>(wire), " is not a known value"));
}

template <class Wire, class Kernel, size_t n>
Wire FindWire(const Pair<Wire, Kernel> (&pairs)[n], Kernel kernel) {
  for (const Pair<Wire, Kernel>& pair : pairs) {
    if (pair.kernel == kernel) return pair.wire;
  }
  return Wire{};
}

template <class Values>
std::vector<double> ToVector(const Values& values) {
  return std::vector<double>(values.begin(), values.end());
}

}  // namespace

absl::StatusOr<ElementType> FromWire(v1::ElementType type, absl::string_view field) {
  return FindKernel(kElementTypes, type, field);
}
absl::StatusOr<Statistic> FromWire(v1::Statistic statistic, absl::string_view field) {
  return FindKernel(kStatistics, statistic, field);
}
absl::StatusOr<kernels::NanPolicy> FromWire(v1::NanPolicy policy, absl::string_view field) {
  return FindKernel(kNanPolicies, policy, field);
}
absl::StatusOr<kernels::OverflowPolicy> FromWire(v1::OverflowPolicy policy,
                                                 absl::string_view field) {
  return FindKernel(kOverflowPolicies, policy, field);
}
absl::StatusOr<kernels::OutOfRangePolicy> FromWire(v1::OutOfRangePolicy policy,
                                                   absl::string_view field) {
  return FindKernel(kOutOfRangePolicies, policy, field);
}
absl::StatusOr<kernels::ScanOperation> FromWire(v1::ScanOperation operation,
                                                absl::string_view field) {
  return FindKernel(kScanOperations, operation, field);
}
absl::StatusOr<kernels::ScanMode> FromWire(v1::ScanMode mode, absl::string_view field) {
  return FindKernel(kScanModes, mode, field);
}
absl::StatusOr<kernels::ScanDirection> FromWire(v1::ScanDirection direction,
                                                absl::string_view field) {
  return FindKernel(kScanDirections, direction, field);
}
absl::StatusOr<kernels::Scalar> FromWire(const v1::Scalar& scalar, absl::string_view field) {
  switch (scalar.value_case()) {
    case v1::Scalar::kInt64Value: return kernels::Scalar(int64_t{scalar.int64_value()});
    case v1::Scalar::kUint64Value: return kernels::Scalar(uint64_t{scalar.uint64_value()});
    case v1::Scalar::kDoubleValue: return kernels::Scalar(scalar.double_value());
    case v1::Scalar::kBoolValue: return kernels::Scalar(scalar.bool_value());
    case v1::Scalar::VALUE_NOT_SET: break;
  }
  return kernels::InvalidField(field, "is required");
}

absl::StatusOr<kernels::EmptyGroupRule> FromWire(const v1::EmptyGroup& rule,
                                                 absl::string_view field) {
  const std::string value_field = absl::StrCat(field, ".value");
  const absl::StatusOr<kernels::EmptyGroupPolicy> policy =
      FindKernel(kEmptyGroupPolicies, rule.policy(), absl::StrCat(field, ".policy"));
  if (!policy.ok()) return policy.status();
  if (*policy != kernels::EmptyGroupPolicy::kValue) {
    if (rule.has_value()) {
      return kernels::InvalidField(value_field, "only with EMPTY_GROUP_POLICY_VALUE");
    }
    return kernels::EmptyGroupRule{.policy = *policy};
  }
  const absl::StatusOr<kernels::Scalar> value = FromWire(rule.value(), value_field);
  if (!value.ok()) return value.status();
  return kernels::EmptyGroupRule{*policy, *value};
}

absl::StatusOr<kernels::QuantileMethod> FromWire(v1::QuantileMethod method,
                                                 absl::string_view field) {
  return FindKernel(kQuantileMethods, method, field);
}
absl::StatusOr<kernels::PairedStatistic> FromWire(v1::PairedStatistic statistic,
                                                  absl::string_view field) {
  return FindKernel(kPairedStatistics, statistic, field);
}
absl::StatusOr<kernels::WeightKind> FromWire(v1::WeightKind kind, absl::string_view field) {
  return FindKernel(kWeightKinds, kind, field);
}
absl::StatusOr<kernels::BinRule> FromWire(v1::HistogramBinRule rule, absl::string_view field) {
  return FindKernel(kBinRules, rule, field);
}
absl::StatusOr<bool> IsSparse(v1::HistogramFormat format, absl::string_view field) {
  return FindKernel(kSparseFormats, format, field);
}

std::optional<kernels::BinSpec> FromWire(const v1::BinSpecification& bins) {
  switch (bins.kind_case()) {
    case v1::BinSpecification::kEven: {
      kernels::EvenBinsSpec even;
      even.bin_count = bins.even().bin_count();
      if (bins.even().has_lower_bound()) even.lower_bound = bins.even().lower_bound();
      if (bins.even().has_upper_bound()) even.upper_bound = bins.even().upper_bound();
      return even;
    }
    case v1::BinSpecification::kEdges:
      return kernels::EdgeBinsSpec{.edges = ToVector(bins.edges().edges())};
    case v1::BinSpecification::kLogarithmic:
      return kernels::LogarithmicBinsSpec{.bin_count = bins.logarithmic().bin_count(),
                                          .lower_bound = bins.logarithmic().lower_bound(),
                                          .upper_bound = bins.logarithmic().upper_bound()};
    case v1::BinSpecification::kInteger:
      return kernels::IntegerBinsSpec{
          .first_value = bins.integer().first_value(),
          .bin_count = bins.integer().bin_count(),
          .first_unsigned_value = bins.integer().first_unsigned_value()};
    case v1::BinSpecification::KIND_NOT_SET: break;
  }
  return std::nullopt;
}

v1::ElementType ToWire(ElementType type) { return FindWire(kElementTypes, type); }
v1::Statistic ToWire(Statistic statistic) { return FindWire(kStatistics, statistic); }
v1::PairedStatistic ToWire(kernels::PairedStatistic statistic) {
  return FindWire(kPairedStatistics, statistic);
}
v1::HistogramFormat FormatToWire(bool is_sparse) {
  return is_sparse ? v1::HISTOGRAM_FORMAT_SPARSE : v1::HISTOGRAM_FORMAT_DENSE;
}

}  // namespace gridfold::server
