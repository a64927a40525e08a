#include "client/load/work/known_answer.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "client/load/work/element_encoding.h"
#include "client/load/work/matrix_walk.h"

namespace gridfold::load {

using client::ElementType;
using client::ScanMode;
using client::ScanOperation;

namespace {

// Sums of integers have 64 bits; everything else is of the elements' type.
ElementType ScanTypeOf(const RequestKind& kind) {
  const ElementType type = kind.element_type;
  if (kind.scan_operation != ScanOperation::kSum || type >= ElementType::kFloat16) return type;
  return type >= ElementType::kUint8 ? ElementType::kUint64 : ElementType::kInt64;
}

int64_t Combine(ScanOperation operation, int64_t left, int64_t right) {
  switch (operation) {
    case ScanOperation::kMin: return std::min(left, right);
    case ScanOperation::kMax: return std::max(left, right);
    default: return left + right;
  }
}

KnownScan ComputeKnownScan(const RequestKind& kind, std::span<const int32_t> values) {
  const MatrixWalk walk(kind, values.size());
  const int64_t start = kind.scan_operation == ScanOperation::kMin   ? INT64_MAX
                        : kind.scan_operation == ScanOperation::kMax ? INT64_MIN
                                                                     : 0;
  std::vector<int64_t> running(walk.group_count(), start);
  std::vector<int64_t> results(values.size());
  for (uint64_t i = 0; i < values.size(); ++i) {
    int64_t& group = running[walk.GroupOf(i)];
    const int64_t before = group;
    group = Combine(kind.scan_operation, group, values[i]);
    results[i] = kind.scan_mode == ScanMode::kExclusive ? before : group;
  }
  const ElementType type = ScanTypeOf(kind);
  return {.element_type = type, .data = EncodeElements(type, std::span<const int64_t>(results))};
}

KnownHistogram ComputeKnownHistogram(const RequestKind& kind, std::span<const int32_t> values) {
  const client::EvenBins bins = BinsOf(kind);
  const double low = *bins.lower_bound;
  const double high = *bins.upper_bound;
  const double step = (high - low) / static_cast<double>(bins.bin_count);
  KnownHistogram known;
  for (uint64_t i = 0; i < bins.bin_count; ++i) {
    known.edges.push_back(low + static_cast<double>(i) * step);
  }
  known.edges.push_back(high);
  known.counts.resize(bins.bin_count);
  for (const int32_t value : values) {
    if (value < low) {
      ++known.underflow_count;
    } else if (value > high) {
      ++known.overflow_count;
    } else {
      const auto above = std::upper_bound(known.edges.begin(), known.edges.end() - 1, value);
      ++known.counts[static_cast<size_t>(above - known.edges.begin()) - 1];
    }
  }
  return known;
}

}  // namespace

client::EvenBins BinsOf(const RequestKind& kind) {
  const auto [low, high] = kind.bin_range.value_or(
      std::pair(static_cast<double>(kind.value_min), static_cast<double>(kind.value_max)));
  return {.bin_count = kind.bin_count, .lower_bound = low, .upper_bound = high};
}

KnownAnswer ComputeKnownAnswer(const RequestKind& kind, std::span<const int32_t> values) {
  switch (kind.operation) {
    case OperationKind::kReduce: return ComputeKnownReduction(kind, values);
    case OperationKind::kScan: return ComputeKnownScan(kind, values);
    case OperationKind::kHistogram: return ComputeKnownHistogram(kind, values);
  }
  return {};
}

std::string Difference(const KnownHistogram& known, const client::HistogramResult& result) {
  if (result.channels.size() != 1 || result.bins.size() != 1) return "not one channel";
  const client::HistogramCounts& channel = result.channels[0];
  if (result.bins[0].edges != known.edges) return "the edges are wrong";
  if (channel.counts != known.counts) return "the counts are wrong";
  if (channel.underflow_count != known.underflow_count ||
      channel.overflow_count != known.overflow_count || channel.nan_count != 0) {
    return "the counts outside the bins are wrong";
  }
  return "";
}

std::string Difference(const KnownScan& known, ElementType element_type, uint64_t first_element,
                       std::span<const char> data) {
  if (element_type != known.element_type) {
    return absl::StrCat("the results are ", std::string(client::ElementTypeName(element_type)));
  }
  const uint64_t element_bytes = client::ElementSizeBytes(element_type);
  const uint64_t offset = first_element * element_bytes;
  if (first_element > known.data.size() / element_bytes ||
      data.size() > known.data.size() - offset) {
    return "there are too many results";
  }
  const auto end = data.begin() + static_cast<ptrdiff_t>(data.size());
  const auto wrong = std::mismatch(data.begin(), end, known.data.data() + offset).first;
  if (wrong == end) return "";
  return absl::StrCat("result ",
                      first_element + static_cast<uint64_t>(wrong - data.begin()) / element_bytes,
                      " is wrong");
}

}  // namespace gridfold::load
