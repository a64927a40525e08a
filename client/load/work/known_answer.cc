#include "client/load/work/known_answer.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "client/load/work/element_encoding.h"
#include "client/load/work/group_walk.h"

namespace gridfold::load {

using client::ElementType;
using client::ScanMode;
using client::ScanOperation;

namespace {

// Sums and products of integers have 64 bits; everything else is of the elements' type.
ElementType ScanTypeOf(const RequestKind& kind) {
  const ElementType type = kind.element_type;
  const bool grows =
      kind.scan_operation == ScanOperation::kSum || kind.scan_operation == ScanOperation::kProduct;
  if (!grows || type >= ElementType::kFloat16) return type;
  return type >= ElementType::kUint8 ? ElementType::kUint64 : ElementType::kInt64;
}

int64_t Combine(ScanOperation operation, int64_t left, int64_t right) {
  switch (operation) {
    case ScanOperation::kMin: return std::min(left, right);
    case ScanOperation::kMax: return std::max(left, right);
    case ScanOperation::kProduct: return left * right;
    case ScanOperation::kMean:  // Of no scenario.
    case ScanOperation::kSum: break;
  }
  return left + right;
}

int64_t Identity(ScanOperation operation) {
  switch (operation) {
    case ScanOperation::kMin: return INT64_MAX;
    case ScanOperation::kMax: return INT64_MIN;
    case ScanOperation::kProduct: return 1;
    case ScanOperation::kMean:  // Of no scenario.
    case ScanOperation::kSum: break;
  }
  return 0;
}

// Makes the numbers negative zeros that are zero where `is_negative` says so.
void SignZeros(ElementType type, const std::vector<int64_t>& numbers,
               const std::vector<bool>& is_negative, std::string& data) {
  const uint64_t element_bytes = client::ElementSizeBytes(type);
  for (size_t i = 0; i < numbers.size(); ++i) {
    // The sign is the highest bit of the last byte.
    if (numbers[i] == 0 && is_negative[i]) data[(i + 1) * element_bytes - 1] |= '\x80';
  }
}

// The sign of a floating-point product is that of its factors, also where it is zero.
void SignZeroProducts(const RequestKind& kind, const OperationValues& values,
                      const std::vector<int64_t>& results, KnownScan& known) {
  if (kind.scan_operation != ScanOperation::kProduct || kind.element_type < ElementType::kFloat16) {
    return;
  }
  GroupWalk walk(kind, values);
  std::vector<bool> running(walk.group_count());
  std::vector<bool> is_negative(results.size());
  for (uint64_t i = 0; i < results.size(); ++i) {
    const uint64_t group = walk.GroupOf(i);
    const bool before = running[group];
    running[group] = before != (values.counts(i) && values.elements[i] < 0);
    is_negative[i] = kind.scan_mode == ScanMode::kExclusive ? before : running[group];
  }
  SignZeros(known.element_type, results, is_negative, known.data);
}

KnownScan ComputeKnownScan(const RequestKind& kind, const OperationValues& values) {
  GroupWalk walk(kind, values);
  std::vector<int64_t> running(walk.group_count(), Identity(kind.scan_operation));
  std::vector<int64_t> results(values.elements.size());
  for (uint64_t i = 0; i < values.elements.size(); ++i) {
    int64_t& group = running[walk.GroupOf(i)];
    const int64_t before = group;
    if (values.counts(i)) group = Combine(kind.scan_operation, group, values.elements[i]);
    results[i] = kind.scan_mode == ScanMode::kExclusive ? before : group;
  }
  const ElementType type = ScanTypeOf(kind);
  KnownScan known{.element_type = type,
                  .data = EncodeElements(type, std::span<const int64_t>(results))};
  SignZeroProducts(kind, values, results, known);
  return known;
}

}  // namespace

KnownAnswer ComputeKnownAnswer(const RequestKind& kind, const OperationValues& values) {
  switch (kind.operation) {
    case OperationKind::kReduce: return ComputeKnownReduction(kind, values);
    case OperationKind::kScan: return ComputeKnownScan(kind, values);
    case OperationKind::kHistogram: return ComputeKnownHistogram(kind, values);
    case OperationKind::kQuantiles: return ComputeKnownQuantiles(kind, values);
    case OperationKind::kTop: return ComputeKnownTop(kind, values);
    case OperationKind::kKeyedReduction: return ComputeKnownKeyedReduction(kind, values);
    case OperationKind::kRelation: return ComputeKnownRelation(kind, values);
  }
  return {};
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

std::string SizeDifference(const KnownScan& known, uint64_t size_bytes) {
  return size_bytes == known.data.size() ? "" : absl::StrCat(size_bytes, " bytes of results");
}

std::string WholeDifference(const KnownScan& known, ElementType element_type,
                            std::span<const char> data) {
  const std::string difference = Difference(known, element_type, 0, data);
  return difference.empty() ? SizeDifference(known, data.size()) : difference;
}

}  // namespace gridfold::load
