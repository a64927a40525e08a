#include "client/load/work/scenario.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/library/security.h"
#include "client/load/work/array_shape.h"
#include "client/load/work/group_totals.h"
#include "client/load/work/shape_rules.h"
#include "client/load/work/wrong_field.h"

namespace gridfold::load {
namespace {

using client::ElementType;

// The bins of every known answer are kept.
constexpr uint64_t kBinCountMax = uint64_t{1} << 24;
constexpr uint64_t kBatchSizeMax = 1 << 16;
// Float64 holds integers below 2^53 exactly.
constexpr double kExactBits = 53;
constexpr double kExactEnd = 0x1p53;
constexpr double kInt64End = 0x1p63;
constexpr uint64_t kQuantileCountMax = 256;

// Of all integers up to the end, the type holds each exactly.
std::pair<int64_t, int64_t> ExactRange(ElementType type) {
  switch (type) {
    case ElementType::kInt8: return {-128, 127};
    case ElementType::kUint8: return {0, 255};
    case ElementType::kBool: return {0, 1};
    case ElementType::kInt16: return {-32768, 32767};
    case ElementType::kUint16: return {0, 65535};
    case ElementType::kFloat16: return {-2048, 2048};
    case ElementType::kBfloat16: return {-256, 256};
    case ElementType::kFloat32: return {-(1 << 24), 1 << 24};
    case ElementType::kUint32:
    case ElementType::kUint64: return {0, std::numeric_limits<int32_t>::max()};
    case ElementType::kInt32:
    case ElementType::kInt64:
    case ElementType::kFloat64: break;
  }
  return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
}

bool IsInteger(ElementType type) { return type <= ElementType::kUint64; }

bool IsBitwise(client::Statistic statistic) {
  return statistic == client::Statistic::kBitwiseAnd ||
         statistic == client::Statistic::kBitwiseOr || statistic == client::Statistic::kBitwiseXor;
}

absl::Status ValidateValues(const RequestKind& kind, const std::string& path) {
  const auto [low, high] = ExactRange(kind.element_type);
  if (kind.value_min > kind.value_max) {
    return WrongField(path + ".values", "the first is above the second");
  }
  if (kind.value_min < low || kind.value_max > high) {
    return WrongField(
        path + ".values",
        absl::StrCat("must be from ", low, " to ", high, ", which ",
                     std::string(client::ElementTypeName(kind.element_type)), " holds exactly"));
  }
  return absl::OkStatus();
}

bool HasStatistics(const RequestKind& kind) {
  return kind.operation == OperationKind::kReduce ||
         kind.operation == OperationKind::kKeyedReduction;
}

absl::Status ValidateStatistics(const RequestKind& kind, const std::string& path) {
  if (kind.operation == OperationKind::kRelation && kind.relations.empty()) {
    return WrongField(path + ".statistics", "must not be empty");
  }
  if (!HasStatistics(kind)) return absl::OkStatus();
  const bool has_others = HasKeys(kind) && !kind.quantiles.empty();
  if (kind.statistics.empty() && !has_others) {
    return WrongField(path + ".statistics", "must not be empty");
  }
  for (const client::Statistic statistic : kind.statistics) {
    if (IsBitwise(statistic) && !IsInteger(kind.element_type)) {
      return WrongField(path + ".statistics", "bitwise statistics need integers");
    }
  }
  return absl::OkStatus();
}

// Whether a statistic has floating-point values, which are those that come in an output type.
bool HasRealStatistics(const RequestKind& kind) {
  const auto entries = StatisticsOf(kind.statistics, kind.element_type, {});
  return std::any_of(entries.begin(), entries.end(), [](const auto& entry) {
    return std::holds_alternative<std::vector<double>>(entry.values);
  });
}

absl::Status ValidateOutputType(const RequestKind& kind, const std::string& path) {
  if (!kind.output_type) return absl::OkStatus();
  const std::string field = path + ".output_type";
  if (!HasStatistics(kind)) return WrongField(field, "only reductions have one, also by key");
  if (*kind.output_type < ElementType::kFloat16 || *kind.output_type > ElementType::kFloat64) {
    return WrongField(field, "must be float16, bfloat16, float32 or float64");
  }
  if (HasRealStatistics(kind)) return absl::OkStatus();
  return WrongField(field, "none of the statistics has floating-point values");
}

absl::Status ValidateScan(const RequestKind& kind, const std::string& path) {
  const bool is_inline = kind.destination == ResultDestination::kInline;
  if (kind.operation != OperationKind::kScan) {
    return is_inline ? absl::OkStatus() : WrongField(path + ".destination", "only scans have one");
  }
  const bool has_known_identity = kind.scan_operation == client::ScanOperation::kSum ||
                                  kind.scan_operation == client::ScanOperation::kProduct;
  if (kind.scan_mode == client::ScanMode::kExclusive && !has_known_identity) {
    return WrongField(path + ".mode", "exclusive scans must be sums or products");
  }
  if (kind.where && !has_known_identity) {
    return WrongField(path + ".where", "scans with a mask must be sums or products");
  }
  if (is_inline) return absl::OkStatus();
  if (kind.transport == ArrayTransport::kStream) {
    return WrongField(path + ".destination", "the results of a stream are its messages");
  }
  if (kind.batch_size > 0)
    return WrongField(path + ".destination", "batches answer with the results");
  return absl::OkStatus();
}

absl::Status ValidateBins(const RequestKind& kind, const std::string& path) {
  if (kind.operation != OperationKind::kHistogram) return absl::OkStatus();
  if (kind.bin_count < 1) return WrongField(path + ".bins", "must be at least 1");
  if (std::max(kind.bin_count, kind.y_bin_count) > kBinCountMax ||
      kind.bin_count * std::max<uint64_t>(1, kind.y_bin_count) > kBinCountMax) {
    return WrongField(path + ".bins", "must be 2^24 at most, in two dimensions together");
  }
  if (kind.bin_layout == BinLayout::kInteger) {
    if (!IsInteger(kind.element_type))
      return WrongField(path + ".layout", "integer bins need integers");
    if (kind.bin_range)
      return WrongField(path + ".range", "integer bins begin with the first value");
    return absl::OkStatus();
  }
  if (kind.bin_range &&
      !(std::isfinite(kind.bin_range->first) && std::isfinite(kind.bin_range->second) &&
        kind.bin_range->first < kind.bin_range->second)) {
    return WrongField(path + ".range", "must be two finite numbers, the first below the second");
  }
  if (!kind.bin_range && kind.value_min == kind.value_max) {
    return WrongField(path + ".range", "must be given where all values are the same");
  }
  return absl::OkStatus();
}

double MagnitudeMax(const RequestKind& kind) {
  return static_cast<double>(std::max(-kind.value_min, kind.value_max));
}

// Running sums of floating-point elements, sums of weights and those of relations are known as long
// as float64 holds them exactly.
absl::Status ValidateSums(const RequestKind& kind, const std::string& path) {
  const bool is_weighted = kind.operation == OperationKind::kHistogram && kind.is_weighted;
  const bool is_scan = kind.operation == OperationKind::kScan && !IsInteger(kind.element_type) &&
                       kind.scan_operation == client::ScanOperation::kSum;
  const bool is_relation = kind.operation == OperationKind::kRelation;
  if (!is_weighted && !is_scan && !is_relation) return absl::OkStatus();
  const double largest = static_cast<double>(OperationElementsMax(kind)) * MagnitudeMax(kind);
  if (largest >= kExactEnd) {
    return WrongField(path + ".values", "sums of so many must stay below 2^53");
  }
  if (is_relation && IsInteger(kind.element_type) && largest * MagnitudeMax(kind) >= kInt64End) {
    return WrongField(path + ".values", "dot products of so many integers must stay below 2^63");
  }
  return absl::OkStatus();
}

// The elements of the largest group, by key too.
uint64_t FactorCountMax(const RequestKind& kind) {
  if (!HasKeys(kind)) return GroupElementsMax(kind);
  return (ElementCountMax(kind) + kind.key_count - 1) / kind.key_count;
}

// Products are known as long as float64 holds them exactly, whatever the order in which they are
// made.
absl::Status ValidateProducts(const RequestKind& kind, const std::string& path) {
  const bool is_statistic =
      HasStatistics(kind) &&
      std::count(kind.statistics.begin(), kind.statistics.end(), client::Statistic::kProduct) > 0;
  const bool is_scan = kind.operation == OperationKind::kScan &&
                       kind.scan_operation == client::ScanOperation::kProduct;
  if (!is_statistic && !is_scan) return absl::OkStatus();
  if (is_statistic && kind.transport == ArrayTransport::kStream && !IsInteger(kind.element_type)) {
    return WrongField(path + ".statistics", "streams have no products of floating-point elements");
  }
  const double bits =
      static_cast<double>(FactorCountMax(kind)) * std::log2(std::max(1.0, MagnitudeMax(kind)));
  if (bits >= kExactBits) {
    return WrongField(path + ".values",
                      "products of so many must stay below 2^53: take -1 to 1, say");
  }
  return absl::OkStatus();
}

absl::Status ValidateOrder(const RequestKind& kind, const std::string& path) {
  if (kind.operation == OperationKind::kTop) {
    if (kind.top_count >= 1 && kind.top_count <= GroupElementsMin(kind)) return absl::OkStatus();
    return WrongField(path + ".k", absl::StrCat("must be from 1 to ", GroupElementsMin(kind),
                                                ", the elements of the smallest group"));
  }
  const bool must_have_some = kind.operation == OperationKind::kQuantiles;
  if (!must_have_some && !HasKeys(kind)) return absl::OkStatus();
  if (kind.quantiles.size() > kQuantileCountMax || (must_have_some && kind.quantiles.empty())) {
    return WrongField(path + ".quantiles", absl::StrCat("must be 1 to ", kQuantileCountMax));
  }
  if (!kind.quantiles.empty() && kind.transport == ArrayTransport::kStream && HasKeys(kind)) {
    return WrongField(path + ".quantiles", "streams have none");
  }
  for (const double quantile : kind.quantiles) {
    if (!(quantile >= 0 && quantile <= 1)) {
      return WrongField(path + ".quantiles", "must be from 0 to 1");
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateKeys(const RequestKind& kind, const std::string& path) {
  if (!HasKeys(kind)) return absl::OkStatus();
  if (!IsInteger(kind.key_type)) return WrongField(path + ".key_type", "keys must be integers");
  if (kind.key_count < 1 || kind.key_count > ElementCountMin(kind)) {
    return WrongField(path + ".key_count", absl::StrCat("must be from 1 to ", ElementCountMin(kind),
                                                        ", the smallest number of elements"));
  }
  const int64_t largest = ExactRange(kind.key_type).second;
  if (kind.key_count - 1 > static_cast<uint64_t>(largest)) {
    return WrongField(
        path + ".key_count",
        absl::StrCat("must be ", largest + 1, " at most, which ",
                     std::string(client::ElementTypeName(kind.key_type)), " tells apart"));
  }
  if (WholeDimensionCount(kind) != 1) {
    return WrongField(path + (kind.row_shape.empty() ? ".columns" : ".row_shape"),
                      "keys and values have one dimension");
  }
  return absl::OkStatus();
}

// Whether the operation has neither a stream nor a place in batches.
bool IsUnaryOnly(OperationKind operation) {
  return operation == OperationKind::kQuantiles || operation == OperationKind::kTop ||
         operation == OperationKind::kRelation;
}

absl::Status ValidateRpc(const RequestKind& kind, const std::string& path) {
  if (!IsUnaryOnly(kind.operation)) return absl::OkStatus();
  const std::string what = absl::StrCat("operation ", OperationName(kind.operation));
  if (kind.transport == ArrayTransport::kStream) {
    return WrongField(path + ".transport", absl::StrCat("there is no stream of ", what));
  }
  if (kind.batch_size > 0)
    return WrongField(path + ".batch", absl::StrCat("batches have no ", what));
  return absl::OkStatus();
}

absl::Status ValidateBatch(const RequestKind& kind, const std::string& path) {
  if (kind.batch_size > 0 && kind.transport == ArrayTransport::kStream) {
    return WrongField(path + ".batch", "streams have one operation");
  }
  if (kind.batch_size > kBatchSizeMax) {
    return WrongField(path + ".batch", absl::StrCat("must be ", kBatchSizeMax, " at most"));
  }
  return absl::OkStatus();
}

absl::Status ValidateCalls(const RequestKind& kind, const std::string& path) {
  if (!(kind.weight > 0 && std::isfinite(kind.weight))) {
    return WrongField(path + ".weight", "must be above 0");
  }
  if (!client::IsHeaderText(kind.tenant)) {
    return WrongField(path + ".tenant", "must be printable characters without spaces");
  }
  if (kind.timeout && *kind.timeout <= absl::ZeroDuration()) {
    return WrongField(path + ".timeout", "must be above 0");
  }
  if (!(kind.cancelled_part >= 0 && kind.cancelled_part <= 1)) {
    return WrongField(path + ".cancel", "must be from 0 to 1");
  }
  if (kind.cancel_within <= absl::ZeroDuration() ||
      kind.cancel_within == absl::InfiniteDuration()) {
    return WrongField(path + ".cancel_within", "must be above 0, and finite");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Validate(const Scenario& scenario) {
  if (scenario.requests.empty()) return WrongField("requests", "must not be empty");
  for (size_t i = 0; i < scenario.requests.size(); ++i) {
    const std::string path = absl::StrCat("requests[", i, "]");
    for (const auto check :
         {ValidateRows, ValidateElements, ValidateValues, ValidateStatistics, ValidateOutputType,
          ValidateScan, ValidateBins, ValidateRpc, ValidateView, ValidateGroups, ValidateAxes,
          ValidateMask, ValidateOrder, ValidateKeys, ValidateSums, ValidateProducts, ValidateBatch,
          ValidateCalls}) {
      if (absl::Status status = check(scenario.requests[i], path); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

bool HasYElements(const RequestKind& kind) {
  return (kind.operation == OperationKind::kHistogram && kind.y_bin_count > 0) ||
         (kind.operation == OperationKind::kRelation && kind.column_count == 0);
}

bool HasWeights(const RequestKind& kind) {
  return kind.operation == OperationKind::kHistogram && kind.is_weighted;
}

bool HasKeys(const RequestKind& kind) { return kind.operation == OperationKind::kKeyedReduction; }

const char* OperationName(OperationKind operation) {
  switch (operation) {
    case OperationKind::kReduce: return "reduce";
    case OperationKind::kScan: return "scan";
    case OperationKind::kHistogram: return "histogram";
    case OperationKind::kQuantiles: return "quantile";
    case OperationKind::kTop: return "topk";
    case OperationKind::kKeyedReduction: return "group";
    case OperationKind::kRelation: return "relate";
  }
  return "unknown";
}

const char* TransportName(ArrayTransport transport) {
  switch (transport) {
    case ArrayTransport::kInline: return "inline";
    case ArrayTransport::kStream: return "stream";
    case ArrayTransport::kResident: return "resident";
    case ArrayTransport::kShared: return "shared";
  }
  return "unknown";
}

}  // namespace gridfold::load
