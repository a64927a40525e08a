// Calls whose arrays travel together: in the request where they fit in a message, else by way of
// arrays on the server.
#ifndef GRIDFOLD_CLIENT_LIBRARY_TOGETHER_CALL_H_
#define GRIDFOLD_CLIENT_LIBRARY_TOGETHER_CALL_H_

#include <cstdint>
#include <span>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "client/library/array_calls.h"
#include "client/library/array_route.h"
#include "client/library/call_budget.h"
#include "client/library/resident_upload.h"

namespace gridfold::client {

// Makes an array of the caller's memory one of the server's.
inline absl::Status MoveToServer(ResidentUpload& upload, ArrayInput& array) {
  const auto* const view = std::get_if<ArrayView>(&array.source());
  if (view == nullptr || view->bytes().empty()) return absl::OkStatus();
  absl::StatusOr<ArrayInput> moved = upload.Send(*view);
  if (!moved.ok()) return moved.status();
  array = *std::move(moved);
  return absl::OkStatus();
}

// Calls `once(call_options)` with `arrays` as they are, or as arrays on the server, where they are
// for as long as the call lasts. They are those that `once` asks about.
template <typename Result, typename Once>
absl::StatusOr<Result> CallTogether(ArrayCalls& calls, std::span<ArrayInput* const> arrays,
                                    const CallOptions& call_options, Once once) {
  uint64_t size_bytes = 0;
  for (const ArrayInput* const array : arrays) {
    if (const auto* const view = std::get_if<ArrayView>(&array->source())) {
      size_bytes += view->bytes().size();
    }
  }
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
  ResidentUpload upload(calls, budget, progress);
  for (ArrayInput* const array : arrays) {
    if (!is_moved) break;
    if (absl::Status status = MoveToServer(upload, *array); !status.ok()) return status;
  }
  absl::StatusOr<Result> result = once(budget.Rest());
  if (!result.ok()) return result;
  result->execution.transport = is_moved ? ArrayTransport::kResident : ArrayTransport::kInline;
  result->execution.streams = 1;
  return result;
}

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_TOGETHER_CALL_H_
