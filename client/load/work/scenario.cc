#include "client/load/work/scenario.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"

namespace gridfold::load {
namespace {

using client::ElementType;

// What is generated is kept with four bytes an element while it is prepared.
constexpr uint64_t kElementCountMax = uint64_t{1} << 34;

// Of all integers up to the end, the type holds each exactly.
std::pair<int64_t, int64_t> ExactRange(ElementType type) {
  switch (type) {
    case ElementType::kInt8: return {-128, 127};
    case ElementType::kUint8: return {0, 255};
    case ElementType::kInt16: return {-32768, 32767};
    case ElementType::kUint16: return {0, 65535};
    case ElementType::kFloat16: return {-2048, 2048};
    case ElementType::kBfloat16: return {-256, 256};
    case ElementType::kFloat32: return {-(1 << 24), 1 << 24};
    case ElementType::kUint32:
    case ElementType::kUint64: return {0, std::numeric_limits<int32_t>::max()};
    default: return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
  }
}

bool IsInteger(ElementType type) { return type <= ElementType::kUint64; }

bool IsBitwise(client::Statistic statistic) { return statistic >= client::Statistic::kBitwiseAnd; }

absl::Status Wrong(const std::string& path, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

absl::Status ValidateElements(const RequestKind& kind, const std::string& path) {
  std::vector<uint64_t> counts = kind.elements.choices;
  if (kind.elements.log_uniform) {
    const auto [low, high] = *kind.elements.log_uniform;
    if (low > high) return Wrong(path + ".elements", "the first bound is above the second");
    counts = {low, high};
  }
  if (counts.empty()) return Wrong(path + ".elements", "must not be empty");
  for (const uint64_t count : counts) {
    if (count < 1 || count > kElementCountMax) {
      return Wrong(path + ".elements", "must be from 1 to 2^34");
    }
    // Drawn counts are cut to whole rows, but need one.
    const bool fits = kind.elements.log_uniform
                          ? count >= kind.column_count
                          : kind.column_count == 0 || count % kind.column_count == 0;
    if (!fits) return Wrong(path + ".elements", "must be a multiple of columns");
  }
  return absl::OkStatus();
}

absl::Status ValidateValues(const RequestKind& kind, const std::string& path) {
  const auto [low, high] = ExactRange(kind.element_type);
  if (kind.value_min > kind.value_max) {
    return Wrong(path + ".values", "the first is above the second");
  }
  if (kind.value_min < low || kind.value_max > high) {
    return Wrong(
        path + ".values",
        absl::StrCat("must be from ", low, " to ", high, ", which ",
                     std::string(client::ElementTypeName(kind.element_type)), " holds exactly"));
  }
  return absl::OkStatus();
}

absl::Status ValidateOperation(const RequestKind& kind, const std::string& path) {
  if (kind.operation == OperationKind::kReduce) {
    if (kind.statistics.empty()) return Wrong(path + ".statistics", "must not be empty");
    for (const client::Statistic statistic : kind.statistics) {
      if (statistic == client::Statistic::kProduct) {
        return Wrong(path + ".statistics", "product is not among what can be verified");
      }
      if (IsBitwise(statistic) && !IsInteger(kind.element_type)) {
        return Wrong(path + ".statistics", "bitwise statistics need integers");
      }
    }
  }
  if (kind.operation == OperationKind::kScan) {
    if (kind.scan_operation == client::ScanOperation::kProduct) {
      return Wrong(path + ".scan", "must be sum, min or max");
    }
    if (kind.scan_mode == client::ScanMode::kExclusive &&
        kind.scan_operation != client::ScanOperation::kSum) {
      return Wrong(path + ".mode", "exclusive scans must be sums");
    }
  }
  if (kind.operation == OperationKind::kHistogram) {
    if (kind.bin_count < 1) return Wrong(path + ".bins", "must be at least 1");
    if (kind.bin_range &&
        !(std::isfinite(kind.bin_range->first) && std::isfinite(kind.bin_range->second) &&
          kind.bin_range->first < kind.bin_range->second)) {
      return Wrong(path + ".range", "must be two finite numbers, the first below the second");
    }
    if (!kind.bin_range && kind.value_min == kind.value_max) {
      return Wrong(path + ".range", "must be given where all values are the same");
    }
  }
  return absl::OkStatus();
}

uint64_t ElementCountMax(const ElementCounts& elements) {
  if (elements.log_uniform) return elements.log_uniform->second;
  return *std::max_element(elements.choices.begin(), elements.choices.end());
}

// Running sums of floating-point elements are known as long as float64 holds them exactly.
absl::Status ValidateScanSums(const RequestKind& kind, const std::string& path) {
  if (kind.operation != OperationKind::kScan || IsInteger(kind.element_type) ||
      kind.scan_operation != client::ScanOperation::kSum) {
    return absl::OkStatus();
  }
  const double largest = static_cast<double>(ElementCountMax(kind.elements)) *
                         static_cast<double>(std::max(-kind.value_min, kind.value_max));
  if (largest < std::ldexp(1.0, 53)) return absl::OkStatus();
  return Wrong(path + ".values", "sums of so many must stay below 2^53");
}

absl::Status ValidateShape(const RequestKind& kind, const std::string& path) {
  if (kind.group_by != GroupBy::kAll) {
    if (kind.column_count == 0) return Wrong(path + ".group_by", "needs columns");
    if (kind.operation == OperationKind::kHistogram) {
      return Wrong(path + ".group_by", "histograms have no groups");
    }
  }
  const bool is_stream = kind.transport == ArrayTransport::kStream;
  if (is_stream && kind.column_count > 0 && kind.operation != OperationKind::kReduce) {
    return Wrong(path + ".columns", "streams of scans and histograms have one dimension");
  }
  return absl::OkStatus();
}

absl::Status ValidateCalls(const RequestKind& kind, const std::string& path) {
  if (!(kind.weight > 0 && std::isfinite(kind.weight))) {
    return Wrong(path + ".weight", "must be above 0");
  }
  if (kind.timeout && *kind.timeout <= absl::ZeroDuration()) {
    return Wrong(path + ".timeout", "must be above 0");
  }
  if (!(kind.cancelled_part >= 0 && kind.cancelled_part <= 1)) {
    return Wrong(path + ".cancel", "must be from 0 to 1");
  }
  if (kind.cancel_within <= absl::ZeroDuration()) {
    return Wrong(path + ".cancel_within", "must be above 0");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Validate(const Scenario& scenario) {
  if (scenario.requests.empty()) return Wrong("requests", "must not be empty");
  for (size_t i = 0; i < scenario.requests.size(); ++i) {
    const std::string path = absl::StrCat("requests[", i, "]");
    for (const auto check : {ValidateElements, ValidateValues, ValidateOperation, ValidateScanSums,
                             ValidateShape, ValidateCalls}) {
      if (absl::Status status = check(scenario.requests[i], path); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

const char* OperationName(OperationKind operation) {
  switch (operation) {
    case OperationKind::kReduce: return "reduce";
    case OperationKind::kScan: return "scan";
    case OperationKind::kHistogram: return "histogram";
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
