#include "server/base/error_reason.h"

#include <cstdint>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "kernels/contract/invalid_field.h"
#include "server/base/fixed_limits.h"

namespace gridfold::server {

namespace {

constexpr char kReasonPayloadUrl[] = "gridfold/reason";
constexpr char kRetryDelayPayloadUrl[] = "gridfold/retry-delay-ms";

const char* DefaultReason(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument: return kReasonInvalidRequest;
    case absl::StatusCode::kOutOfRange: return kReasonIntegerOverflow;
    case absl::StatusCode::kResourceExhausted: return kReasonOutOfMemory;
    case absl::StatusCode::kUnimplemented: return kReasonUnknownMethod;
    case absl::StatusCode::kDeadlineExceeded: return kReasonDeadlineExceeded;
    case absl::StatusCode::kCancelled: return kReasonCancelled;
    case absl::StatusCode::kUnavailable: return kReasonDraining;
    case absl::StatusCode::kUnauthenticated: return kReasonUnauthenticated;
    case absl::StatusCode::kPermissionDenied: return kReasonPermissionDenied;
    default: return kReasonInternal;
  }
}

}  // namespace

absl::Status WithReason(absl::Status status, absl::string_view reason) {
  status.SetPayload(kReasonPayloadUrl, absl::Cord(reason));
  return status;
}

absl::Status WithRetryDelay(absl::Status status, std::chrono::milliseconds delay) {
  status.SetPayload(kRetryDelayPayloadUrl, absl::Cord(absl::StrCat(delay.count())));
  return status;
}

absl::Status QueueFull(absl::string_view message, std::chrono::milliseconds retry_delay) {
  return WithRetryDelay(WithReason(absl::ResourceExhaustedError(message), kReasonQueueFull),
                        retry_delay);
}

absl::Status CancelledByCaller() {
  return absl::CancelledError("the caller cancelled the request");
}

std::string ReasonOf(const absl::Status& status) {
  if (const absl::optional<absl::Cord> reason = status.GetPayload(kReasonPayloadUrl)) {
    return std::string(*reason);
  }
  if (kernels::IsAboveLimit(status)) return kReasonJobTooLarge;
  if (!kernels::FieldOf(status).empty()) return kReasonInvalidField;
  return DefaultReason(status.code());
}

std::optional<std::chrono::milliseconds> RetryDelayOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kRetryDelayPayloadUrl);
  int64_t delay_ms = 0;
  if (payload && absl::SimpleAtoi(std::string(*payload), &delay_ms)) {
    return std::chrono::milliseconds(delay_ms);
  }
  if (!status.ok() && ReasonOf(status) == kReasonOutOfMemory) return kRetryDelay;
  return std::nullopt;
}

}  // namespace gridfold::server
