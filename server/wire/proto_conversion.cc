#include "server/wire/proto_conversion.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "server/wire/packed_counts.h"

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

template <class T, class Field>
void Append(const std::vector<T>& values, Field& field) {
  field.Add(values.begin(), values.end());
}

template <class Field>
void AppendSlots(std::span<const uint64_t> slots, auto from_bits, Field& field) {
  field.Reserve(static_cast<int>(slots.size()));
  for (const uint64_t slot : slots) field.AddAlreadyReserved(from_bits(slot));
}

// Of elements that are truth values, what is one of them or their bits.
bool IsTruth(Statistic statistic) {
  return statistic == Statistic::kMin || statistic == Statistic::kMax ||
         statistic == Statistic::kBitwiseAnd || statistic == Statistic::kBitwiseOr ||
         statistic == Statistic::kBitwiseXor;
}

void FillValues(kernels::ValueKind kind, std::span<const uint64_t> slots, v1::ValueList& values) {
  switch (kind) {
    case kernels::ValueKind::kInt64:
      AppendSlots(
          slots, [](uint64_t slot) { return static_cast<int64_t>(slot); },
          *values.mutable_int64_values()->mutable_values());
      return;
    case kernels::ValueKind::kUint64:
      AppendSlots(
          slots, [](uint64_t slot) { return slot; },
          *values.mutable_uint64_values()->mutable_values());
      return;
    case kernels::ValueKind::kDouble:
      AppendSlots(
          slots, [](uint64_t slot) { return std::bit_cast<double>(slot); },
          *values.mutable_double_values()->mutable_values());
      return;
    case kernels::ValueKind::kBool:
      AppendSlots(
          slots, [](uint64_t slot) { return slot != 0; },
          *values.mutable_bool_values()->mutable_values());
      return;
  }
}

// A column without a slot for each group has no values.
void AddColumns(const std::vector<kernels::StatisticColumn>& columns, uint64_t group_count,
                bool is_bool, google::protobuf::RepeatedPtrField<v1::StatisticValues>& results) {
  for (const kernels::StatisticColumn& column : columns) {
    v1::StatisticValues& values = *results.Add();
    values.set_statistic(ToWire(column.statistic));
    if (column.slots.size() == group_count) {
      FillValues(is_bool && IsTruth(column.statistic) ? kernels::ValueKind::kBool : column.kind,
                 column.slots, *values.mutable_values());
    }
  }
}

void AddBins(const std::vector<kernels::PlannedBins>& bins, bool is_compact,
             google::protobuf::RepeatedPtrField<v1::ResolvedBins>& resolved) {
  for (const kernels::PlannedBins& planned : bins) {
    v1::ResolvedBins& added = *resolved.Add();
    added.set_bin_count(planned.bin_count);
    if (is_compact && planned.kind == kernels::BinKind::kEven) {
      added.mutable_even_edges()->set_lower_bound(planned.lower_bound);
      added.mutable_even_edges()->set_upper_bound(planned.upper_bound);
    } else {
      Append(kernels::EdgesOf(planned), *added.mutable_edges());
    }
  }
}

template <class Values>
std::vector<double> ToVector(const Values& values) {
  return std::vector<double>(values.begin(), values.end());
}

v1::HistogramDescription Describe(const kernels::HistogramPlan& plan) {
  v1::HistogramDescription description;
  description.set_two_dimensional(plan.two_dimensional);
  description.set_weighted(plan.weight_type.has_value());
  description.set_format(plan.sparse ? v1::HISTOGRAM_FORMAT_SPARSE : v1::HISTOGRAM_FORMAT_DENSE);
  Append(plan.quantiles, *description.mutable_quantiles());
  const bool some_are_unsigned =
      std::any_of(plan.bins.begin(), plan.bins.end(),
                  [](const kernels::PlannedBins& bins) { return bins.first_unsigned_value != 0; });
  for (const kernels::PlannedBins& bins : plan.bins) {
    description.add_first_values(bins.first_value);
    if (some_are_unsigned) description.add_first_unsigned_values(bins.first_unsigned_value);
  }
  return description;
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

google::protobuf::Duration ToWire(std::chrono::nanoseconds duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  google::protobuf::Duration wire;
  wire.set_seconds(seconds.count());
  wire.set_nanos(static_cast<int32_t>((duration - seconds).count()));
  return wire;
}

v1::Device ToWire(const kernels::DeviceDescription& device) {
  v1::Device wire;
  wire.set_name(device.name);
  wire.set_memory_bytes(device.memory_bytes);
  wire.set_compute_units(device.compute_units);
  wire.set_compute_capability(device.compute_capability);
  wire.set_uuid(device.uuid);
  return wire;
}

v1::ServerLimits ToWire(const Limits& limits) {
  v1::ServerLimits wire;
  wire.set_message_bytes_max(limits.message_bytes_max);
  wire.set_bin_count_max(limits.bin_count_max);
  wire.set_group_count_max(limits.group_count_max);
  wire.set_lane_count(limits.lane_count_of_all());
  wire.set_queued_jobs_max(limits.queued_jobs_max);
  wire.set_queued_bytes_max(limits.queued_bytes_max);
  wire.set_resident_bytes_max(limits.resident_bytes_of_all());
  wire.set_tenant_resident_bytes_max(limits.tenant_bytes_max());
  wire.set_array_count_max(limits.array_count_max);
  wire.set_array_chunk_bytes_max(limits.array_chunk_bytes_max());
  if (limits.regions_allowed) {
    wire.set_region_count_max(limits.region_count_max);
    wire.set_region_bytes_max(limits.region_bytes_max);
  }
  wire.set_stream_count_max(limits.stream_count_max);
  wire.set_stream_pending_bytes_max(kStreamPendingBytes);
  wire.set_batch_operations_max(limits.batch_operations_max);
  wire.set_dealt_bytes_min(limits.engine_count > 1 ? limits.dealt_bytes_min : 0);
  return wire;
}

v1::ArrayDescription ToWire(const ArrayInfo& array) {
  const kernels::ShapedArray& description = array.description;
  v1::ArrayDescription wire;
  wire.set_name(array.name);
  wire.set_element_type(ToWire(description.element_type, description.is_bool));
  AddShape(description.shape, *wire.mutable_shape());
  wire.set_size_bytes(description.size_bytes());
  *wire.mutable_idle_expiry() = ToWire(array.idle_expiry);
  *wire.mutable_idle_time() = ToWire(array.idle_time);
  wire.set_device(array.engine);
  for (const ArrayShard& shard : array.shards) {
    v1::ArrayShard& described = *wire.add_shards();
    described.set_device(shard.engine);
    described.set_first_element(shard.first_element);
    described.set_element_count(shard.element_count);
  }
  return wire;
}

v1::RegionDescription ToWire(const RegionInfo& region) {
  v1::RegionDescription wire;
  wire.set_name(region.name);
  wire.set_size_bytes(region.size_bytes);
  *wire.mutable_idle_expiry() = ToWire(region.idle_expiry);
  *wire.mutable_idle_time() = ToWire(region.idle_time);
  wire.set_owner_process_id(region.owner_process_id);
  return wire;
}

void AddShape(const kernels::Shape& shape, google::protobuf::RepeatedField<uint64_t>& extents) {
  extents.Add(shape.extents().begin(), shape.extents().end());
}

void FillResponse(const kernels::ReductionPlan& plan, const kernels::ReductionResult& result,
                  v1::ReduceArrayResponse& response, bool is_bool) {
  response.set_group_count(plan.grouping.group_count);
  AddColumns(result.columns, plan.grouping.group_count, is_bool, *response.mutable_results());
}

void FillResponse(const kernels::KeyedReductionPlan& plan, const kernels::KeyedAnswer& answer,
                  v1::ReduceByKeyResponse& response) {
  const uint64_t group_count = answer.counts.size();
  response.set_group_count(group_count);
  AddColumns(answer.columns, group_count, /*is_bool=*/false, *response.mutable_results());
  Append(answer.counts, *response.mutable_counts());
  for (size_t t = 0; t < answer.quantiles.size(); ++t) {
    FillValues(kernels::KindOfTarget(plan.quantiles, t), answer.quantiles[t],
               *response.add_quantile_values());
  }
  if (plan.has_bins()) return;
  const kernels::ValueKind kind = kernels::IsUnsigned(plan.keys.element_type)
                                      ? kernels::ValueKind::kUint64
                                      : kernels::ValueKind::kInt64;
  FillValues(kind, answer.keys, *response.mutable_keys());
}

void FillOutcomes(const kernels::KeyedReductionResult& result, v1::ReduceByKeyResponse& response) {
  response.set_underflow_count(result.underflow_count);
  response.set_overflow_count(result.overflow_count);
  response.set_nan_count(result.nan_count);
  AddBins(result.bins, false, *response.mutable_bins());
}

void FillResponse(const kernels::HistogramResult& result, bool is_compact,
                  v1::ComputeHistogramResponse& response) {
  for (const kernels::HistogramCounts& channel : result.channels) {
    v1::HistogramCounts& counts = *response.add_channels();
    if (is_compact) {
      PackCounts(channel.counts, counts);
    } else {
      Append(channel.counts, *counts.mutable_counts());
    }
    Append(channel.weight_sums, *counts.mutable_weight_sums());
    Append(channel.bin_indices, *counts.mutable_bin_indices());
    counts.set_underflow_count(channel.underflow_count);
    counts.set_overflow_count(channel.overflow_count);
    counts.set_nan_count(channel.nan_count);
    Append(channel.quantile_values, *counts.mutable_quantile_values());
  }
  AddBins(result.bins, is_compact, *response.mutable_bins());
}

void FillResponse(const kernels::QuantilePlan& plan, const kernels::QuantileResult& result,
                  v1::ComputeQuantilesResponse& response) {
  const uint64_t group_count = plan.grouping.group_count;
  response.set_group_count(group_count);
  for (size_t t = 0; t < plan.targets.size(); ++t) {
    v1::ValueList& values =
        plan.targets[t].is_rank ? *response.add_rank_values() : *response.add_quantile_values();
    FillValues(kernels::KindOfTarget(plan, t),
               std::span(result.slots).subspan(t * group_count, group_count), values);
  }
}

void FillResponse(const kernels::TopPlan& plan, const kernels::TopResult& result,
                  v1::SelectTopResponse& response) {
  response.set_group_count(plan.grouping.group_count);
  FillValues(result.kind, result.slots, *response.mutable_values());
  Append(result.indices, *response.mutable_indices());
}

void FillResponse(const kernels::PairedPlan& plan, const kernels::PairedResult& result,
                  v1::RelateArraysResponse& response) {
  response.set_column_count(plan.column_count);
  response.set_observation_count(result.observation_count);
  for (const kernels::PairedColumn& column : result.columns) {
    v1::PairedStatisticValues& values = *response.add_results();
    for (const auto& [wire, kernel] : kPairedStatistics) {
      if (kernel == column.statistic) values.set_statistic(wire);
    }
    FillValues(column.kind, column.slots, *values.mutable_values());
  }
}

void FillResponse(const kernels::MergePlan& plan, kernels::MergedAnswer merged,
                  v1::MergeAccumulatorsResponse& response) {
  if (auto* const reduction = std::get_if<kernels::ReductionMerge>(&merged)) {
    const auto& operation = std::get<kernels::ReductionPlan>(plan.operation);
    FillResponse(operation, reduction->result, *response.mutable_reduction());
    response.mutable_reduction()->set_accumulator(std::move(reduction->accumulator));
    response.set_element_type(ToWire(operation.array.element_type));
    response.set_element_count(reduction->element_count);
    return;
  }
  if (auto* const keyed = std::get_if<kernels::KeyedMerge>(&merged)) {
    const auto& operation = std::get<kernels::KeyedMergePlan>(plan.operation).keyed;
    FillResponse(operation, keyed->answer, *response.mutable_keyed_reduction());
    response.mutable_keyed_reduction()->set_accumulator(std::move(keyed->accumulator));
    response.set_element_type(ToWire(operation.reduction.array.element_type));
    response.set_element_count(keyed->element_count);
    return;
  }
  auto& histogram = std::get<kernels::HistogramMerge>(merged);
  const auto& operation = std::get<kernels::HistogramPlan>(plan.operation);
  FillResponse(histogram.result, /*is_compact=*/false, *response.mutable_histogram());
  response.mutable_histogram()->set_accumulator(std::move(histogram.accumulator));
  response.set_element_type(ToWire(operation.array.element_type));
  response.set_element_count(operation.array.element_count);
  *response.mutable_histogram_description() = Describe(operation);
}

}  // namespace gridfold::server
