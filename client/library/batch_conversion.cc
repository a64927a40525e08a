#include "client/library/batch_conversion.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/library/histogram_conversion.h"
#include "client/library/keyed_conversion.h"
#include "client/library/reduction_conversion.h"
#include "client/library/scan_conversion.h"
#include "client/library/shared_conversion.h"
#include "client/library/status_conversion.h"

namespace gridfold::client {
namespace {

uint32_t FieldOf(const Batch::Reduction&) { return v1::BatchOperation::kReductionFieldNumber; }
uint32_t FieldOf(const Batch::Scan&) { return v1::BatchOperation::kScanFieldNumber; }
uint32_t FieldOf(const Batch::Histogram&) { return v1::BatchOperation::kHistogramFieldNumber; }

uint32_t FieldOf(const Batch::KeyedReduction&) {
  return v1::BatchOperation::kKeyedReductionFieldNumber;
}

template <typename Operation>
WireMessage Asked(const Operation& operation) {
  return ToWire(operation.array, operation.options);
}
WireMessage Asked(const Batch::KeyedReduction& operation) {
  return ToWire(operation.keys, operation.values, operation.options);
}

absl::Status NoSuchResult() {
  return absl::InternalError("the server's answer is not what the operation asked for");
}

// The entry of an operation, of its kind.
struct ResultReader {
  v1::BatchResult& result;

  BatchResult::Entry operator()(const Batch::Reduction&) const {
    using Entry = absl::StatusOr<ReductionResult>;
    if (result.has_error()) return Entry(Error());
    if (!result.has_reduction()) return Entry(NoSuchResult());
    return FromProto(result.reduction());
  }
  BatchResult::Entry operator()(const Batch::Scan&) const {
    using Entry = absl::StatusOr<ScanResult>;
    if (result.has_error()) return Entry(Error());
    if (!result.has_scan()) return Entry(NoSuchResult());
    return FromProto(std::move(*result.mutable_scan()));
  }
  BatchResult::Entry operator()(const Batch::Histogram& histogram) const {
    using Entry = absl::StatusOr<HistogramResult>;
    if (result.has_error()) return Entry(Error());
    if (!result.has_histogram()) return Entry(NoSuchResult());
    return FromProto(result.histogram(), histogram.options);
  }
  BatchResult::Entry operator()(const Batch::KeyedReduction&) const {
    using Entry = absl::StatusOr<KeyedReductionResult>;
    if (result.has_error()) return Entry(Error());
    if (!result.has_keyed_reduction()) return Entry(NoSuchResult());
    return FromProto(result.keyed_reduction());
  }

 private:
  absl::Status Error() const {
    absl::Status error = ToAbslStatus(result.error());
    return error.ok() ? NoSuchResult() : error;
  }
};

}  // namespace

WireMessage ToWire(const Batch::Operation& operation) {
  return std::visit([](const auto& asked) { return Asked(asked); }, operation);
}

WireMessage ToWire(const Batch& batch) {
  WireMessage message;
  for (const Batch::Operation& operation : batch.operations()) {
    WireMessage wire;
    const uint32_t field = std::visit([](const auto& asked) { return FieldOf(asked); }, operation);
    wire.AppendMessage(field, ToWire(operation));
    message.AppendMessage(v1::BatchComputeRequest::kOperationsFieldNumber, std::move(wire));
  }
  return message;
}

bool IsRepeatable(const Batch& batch) {
  return std::all_of(batch.operations().begin(), batch.operations().end(),
                     [](const Batch::Operation& operation) {
                       const auto* const scan = std::get_if<Batch::Scan>(&operation);
                       return scan == nullptr ||
                              std::holds_alternative<InlineDestination>(scan->options.destination);
                     });
}

absl::StatusOr<BatchResult> FromProto(v1::BatchComputeResponse& response, const Batch& batch) {
  const size_t count = batch.operations().size();
  if (static_cast<size_t>(response.results_size()) != count) {
    return absl::InternalError(absl::StrCat("the server's answer holds ", response.results_size(),
                                            " results for ", count, " operations"));
  }
  std::vector<BatchResult::Entry> entries;
  entries.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    v1::BatchResult& result = *response.mutable_results(static_cast<int>(i));
    entries.push_back(std::visit(ResultReader{result}, batch.operations()[i]));
  }
  return BatchResult(std::move(entries), FromProto(response.execution()));
}

}  // namespace gridfold::client
