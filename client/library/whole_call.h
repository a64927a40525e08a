// An operation on an array of the caller's memory that is not cut into parts.
#ifndef GRIDFOLD_CLIENT_LIBRARY_WHOLE_CALL_H_
#define GRIDFOLD_CLIENT_LIBRARY_WHOLE_CALL_H_

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "client/library/array_calls.h"
#include "client/library/array_route.h"
#include "client/library/call_budget.h"
#include "client/library/resident_upload.h"

namespace gridfold::client {

// Calls `once(array_input, call_options)` with the array in the request, in a region, or on the
// server, where it is for as long as the call lasts. `other_bytes` are those of the request beside
// the array.
template <typename Result, typename Once>
absl::StatusOr<Result> CallWhole(ArrayCalls& calls, const ArrayView& array, uint64_t other_bytes,
                                 const CallOptions& call_options, Once once) {
  const ClientOptions& client_options = calls.transport().options();
  const CallBudget budget(call_options, client_options.default_timeout);
  const uint64_t size_bytes = array.bytes().size();
  ArrayTransport way = call_options.transport.value_or(client_options.transport);
  if (size_bytes == 0 || (way == ArrayTransport::kAuto && size_bytes <= kInlineBytesMax)) {
    way = ArrayTransport::kInline;
  }
  if (way != ArrayTransport::kInline) {
    const absl::StatusOr<ServerLimits> limits = calls.Limits(budget.Rest());
    if (!limits.ok()) return limits.status();
    way = ChooseRoute(
        {.wanted = way,
         .size_bytes = size_bytes,
         .fits_message = FitsMessage(size_bytes + other_bytes, 0, *limits, client_options)});
  }
  ProgressTally progress(call_options, size_bytes);
  absl::StatusOr<Result> result;
  if (way == ArrayTransport::kRegion) {
    BorrowedRegion borrowed(calls.regions(), size_bytes + kRegionAlignmentBytes);
    const size_t thread_count = calls.transport().part_connection_count();
    result = borrowed.Run(budget.Rest(), [&](const SharedRegion& region) {
      uint64_t offset_bytes = 0;
      return once(CopyInto(region, array, thread_count, offset_bytes), budget.Rest());
    });
  } else if (way == ArrayTransport::kResident) {
    ResidentUpload upload(calls, budget, progress);
    const absl::StatusOr<ArrayInput> input = upload.Send(array);
    if (!input.ok()) return input.status();
    result = once(*input, budget.Rest());
  } else {
    result = once(array, budget.Rest());
  }
  if (!result.ok()) return result;
  result->execution.transport = way;
  result->execution.streams = 1;
  return result;
}

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_WHOLE_CALL_H_
