// What an absl::Status says beyond code and message: a reason that programs can act on, and how
// long to wait before a retry. Both are payloads, so that statuses pass through code that knows
// neither gRPC nor its error details; wire/rpc_status.h turns them into such details.
#ifndef GRIDFOLD_SERVER_BASE_ERROR_REASON_H_
#define GRIDFOLD_SERVER_BASE_ERROR_REASON_H_

#include <chrono>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace gridfold::server {

// The reasons of google.rpc.ErrorInfo that callers may see. Part of the contract: never renamed.
inline constexpr char kReasonInvalidField[] = "INVALID_FIELD";
inline constexpr char kReasonInvalidRequest[] = "INVALID_REQUEST";
inline constexpr char kReasonIntegerOverflow[] = "INTEGER_OVERFLOW";
inline constexpr char kReasonQueueFull[] = "QUEUE_FULL";
inline constexpr char kReasonUnauthenticated[] = "UNAUTHENTICATED";
inline constexpr char kReasonPermissionDenied[] = "PERMISSION_DENIED";
inline constexpr char kReasonTenantQuota[] = "TENANT_QUOTA";
inline constexpr char kReasonOutOfMemory[] = "OUT_OF_MEMORY";
inline constexpr char kReasonArrayNotFound[] = "ARRAY_NOT_FOUND";
inline constexpr char kReasonArrayExists[] = "ARRAY_ALREADY_EXISTS";
inline constexpr char kReasonArrayQuota[] = "ARRAY_QUOTA";
inline constexpr char kReasonRegionNotFound[] = "REGION_NOT_FOUND";
inline constexpr char kReasonRegionExists[] = "REGION_ALREADY_EXISTS";
inline constexpr char kReasonRegionQuota[] = "REGION_QUOTA";
inline constexpr char kReasonRegionsDisabled[] = "REGIONS_DISABLED";
inline constexpr char kReasonRegionUnsupported[] = "REGION_UNSUPPORTED";
inline constexpr char kReasonRegionBroken[] = "REGION_BROKEN";
inline constexpr char kReasonJobTooLarge[] = "JOB_TOO_LARGE";
inline constexpr char kReasonUnknownMethod[] = "UNKNOWN_METHOD";
inline constexpr char kReasonDeadlineExceeded[] = "DEADLINE_EXCEEDED";
inline constexpr char kReasonDeadlineUnmeetable[] = "DEADLINE_UNMEETABLE";
inline constexpr char kReasonStreamIdle[] = "STREAM_IDLE";
inline constexpr char kReasonCancelled[] = "CANCELLED";
inline constexpr char kReasonDraining[] = "DRAINING";
inline constexpr char kReasonEngineLost[] = "ENGINE_LOST";
inline constexpr char kReasonInternal[] = "INTERNAL";

// Returns `status` with a reason in place of the default for its code.
absl::Status WithReason(absl::Status status, absl::string_view reason);

// Returns `status` with a retry delay of at least 1 ms.
absl::Status WithRetryDelay(absl::Status status, std::chrono::milliseconds delay);

// The error where something is full for now: RESOURCE_EXHAUSTED, for kReasonQueueFull, with a retry
// delay.
absl::Status QueueFull(absl::string_view message, std::chrono::milliseconds retry_delay);

// The error of a call whose caller has gone.
absl::Status CancelledByCaller();

// The reason that was set, else JOB_TOO_LARGE where a job asks for more than a limit allows, else
// INVALID_FIELD where a field is named, else the default for the code: of RESOURCE_EXHAUSTED
// OUT_OF_MEMORY, as engines say it. `status` is not OK.
std::string ReasonOf(const absl::Status& status);

// The delay that was set, else kRetryDelay for kReasonOutOfMemory: memory that an engine did not
// get may be free later. Nothing for other errors.
std::optional<std::chrono::milliseconds> RetryDelayOf(const absl::Status& status);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_BASE_ERROR_REASON_H_
