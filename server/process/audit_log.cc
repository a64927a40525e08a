#include "server/process/audit_log.h"

#include <algorithm>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/base/error_reason.h"
#include "server/base/fixed_limits.h"
#include "server/process/event_log.h"

namespace gridfold::server {

namespace {

constexpr char kStandardError[] = "stderr";

}  // namespace

void AuditNotes::AddObject(absl::string_view kind, absl::string_view name) {
  std::string object = absl::StrCat(kind, ":", name);
  if (std::find(objects_.begin(), objects_.end(), object) != objects_.end()) return;
  if (objects_.size() < kAuditedObjectsMax) {
    objects_.push_back(std::move(object));
  } else {
    ++further_objects_;
  }
}

absl::StatusOr<std::unique_ptr<AuditLog>> AuditLog::Open(const std::string& destination) {
  auto log = absl::WrapUnique(new AuditLog());
  if (destination == kStandardError) return log;
  absl::StatusOr<std::unique_ptr<LineWriter>> file = LineWriter::Append(
      destination, kAuditBufferBytes,
      [](uint64_t lines) {
        return JsonLine({{"time", LogTime()}, {"dropped_lines", lines}});
      },
      [destination](const absl::Status& status) {
        if (status.ok()) {
          LogEvent(LogLevel::kInfo, "audit_log_reopened", {{"file", destination}});
        } else {
          LogEvent(LogLevel::kError, "audit_log_not_reopened", {{"message", status.message()}});
        }
      });
  if (!file.ok()) {
    return absl::Status(file.status().code(),
                        absl::StrCat("--audit-log: ", file.status().message()));
  }
  log->file_ = *std::move(file);
  return log;
}

AuditLog::~AuditLog() { Flush(kLogFlushTimeout); }

void AuditLog::Record(const AuditNotes& notes, const AuditedCall& call,
                      const absl::Status& status) {
  std::string line =
      JsonLine({{"time", LogTime()},
                {"peer", notes.peer},
                {"tenant", notes.tenant},
                {"token", notes.token_id},
                {"certificate", notes.certificate},
                {"rpc", call.rpc},
                {"id", call.id},
                {"request_bytes", call.request_bytes},
                {"response_bytes", call.response_bytes},
                {"code", absl::StatusCodeToString(status.code())},
                {"reason", status.ok() ? "" : ReasonOf(status)},
                {"duration_us",
                 std::chrono::duration_cast<std::chrono::microseconds>(call.duration).count()}});
  line.pop_back();
  absl::StrAppend(&line, ",\"objects\":[",
                  absl::StrJoin(notes.objects(), ",",
                                [](std::string* out, const std::string& object) {
                                  out->append(JsonText(object));
                                }),
                  "]");
  if (notes.further_objects() > 0) {
    absl::StrAppend(&line, ",\"further_objects\":", notes.further_objects());
  }
  line += "}";
  if (file_ == nullptr) {
    WriteLogLine(line);
  } else {
    file_->Write(line);
  }
}

void AuditLog::Reopen() {
  if (file_ != nullptr) file_->Reopen();
}

void AuditLog::Flush(std::chrono::milliseconds limit) {
  if (file_ != nullptr) file_->Flush(limit);
}

}  // namespace gridfold::server
