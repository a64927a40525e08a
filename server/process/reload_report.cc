#include "server/process/reload_report.h"

#include <exception>
#include <string>

#include "server/process/event_log.h"

namespace gridfold::server {

bool ReloadReport::Try(const std::function<absl::StatusOr<bool>()>& reload) {
  absl::StatusOr<bool> changed = false;
  try {
    changed = reload();
  } catch (const std::exception& exception) {
    changed = absl::InternalError(exception.what());
  }
  if (changed.ok()) {
    last_error_ = absl::OkStatus();
    if (*changed) ++reloads_;
    return *changed;
  }
  ++failures_;
  if (changed.status() != last_error_) {
    last_error_ = changed.status();
    LogEvent(LogLevel::kError, failure_event_, {{"message", last_error_.message()}});
  }
  return false;
}

}  // namespace gridfold::server
