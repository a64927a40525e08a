// Statistics of two arrays, which travel together: in the request where they fit in a message, else
// by way of arrays on the server.
#include <optional>
#include <utility>
#include <variant>

#include "client/library/array_calls.h"
#include "client/library/array_route.h"
#include "client/library/call_budget.h"
#include "client/library/paired_conversion.h"
#include "client/library/resident_upload.h"
#include "gridfold/client.h"

namespace gridfold::client {
namespace {

absl::StatusOr<RelateResult> Once(Transport& transport, const ArrayInput& x,
                                  const RelateOptions& options, const CallOptions& call_options) {
  v1::RelateArraysResponse response;
  absl::Status status = transport.Call("/gridfold.v1.ComputeService/RelateArrays",
                                       ToWire(x, options), call_options, response);
  if (!status.ok()) return status;
  return FromProto(response, options);
}

// Bytes in the caller's memory; 0 of other arrays.
uint64_t BytesOf(const ArrayInput& array) {
  const auto* const view = std::get_if<ArrayView>(&array.source());
  return view == nullptr ? 0 : view->bytes().size();
}

uint64_t BytesOf(const std::optional<ArrayInput>& array) { return array ? BytesOf(*array) : 0; }

// Makes an array of the caller's memory one of the server's.
absl::Status Move(ResidentUpload& upload, ArrayInput& array) {
  const auto* const view = std::get_if<ArrayView>(&array.source());
  if (view == nullptr || view->bytes().empty()) return absl::OkStatus();
  absl::StatusOr<ArrayInput> moved = upload.Send(*view);
  if (!moved.ok()) return moved.status();
  array = *std::move(moved);
  return absl::OkStatus();
}

absl::StatusOr<RelateResult> ByResident(ArrayCalls& calls, ArrayInput x, RelateOptions options,
                                        const CallBudget& budget, ProgressTally& progress) {
  ResidentUpload upload(calls, budget, progress);
  absl::Status status = Move(upload, x);
  if (status.ok() && options.y) status = Move(upload, *options.y);
  if (status.ok() && options.weights) status = Move(upload, *options.weights);
  if (!status.ok()) return status;
  return Once(calls.transport(), x, options, budget.Rest());
}

}  // namespace

absl::StatusOr<RelateResult> Client::RelateArrays(const ArrayInput& x, const RelateOptions& options,
                                                  const CallOptions& call_options) {
  ArrayCalls& calls = *array_calls_;
  const uint64_t size_bytes = BytesOf(x) + BytesOf(options.y) + BytesOf(options.weights);
  const ClientOptions& client_options = calls.transport().options();
  const CallBudget budget(call_options, client_options.default_timeout);
  ProgressTally progress(call_options, size_bytes);
  ArrayTransport way = call_options.transport.value_or(client_options.transport);
  if (way == ArrayTransport::kAuto && size_bytes > kInlineBytesMax) {
    const absl::StatusOr<ServerLimits> limits = calls.Limits(budget.Rest());
    if (!limits.ok()) return limits.status();
    if (!FitsMessage(size_bytes, 0, *limits, client_options)) way = ArrayTransport::kResident;
  }
  const bool is_moved = way == ArrayTransport::kResident && size_bytes > 0;
  absl::StatusOr<RelateResult> result = is_moved
                                            ? ByResident(calls, x, options, budget, progress)
                                            : Once(calls.transport(), x, options, budget.Rest());
  if (!result.ok()) return result;
  result->execution.transport = is_moved ? ArrayTransport::kResident : ArrayTransport::kInline;
  result->execution.streams = 1;
  return result;
}

}  // namespace gridfold::client
