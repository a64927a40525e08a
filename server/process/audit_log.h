// Who did what (--audit-log): for each call that ends one JSON object, in a line of its own, with
//
//   time, peer, tenant, token (the first digits of its hash), certificate (the caller's name in
//   it), rpc, id (as in the log), request_bytes, response_bytes, code, reason (of an error),
//   duration_us, objects (the arrays and regions that the call named, as "array:x" and "region:y")
//
// Lines wait in a bounded buffer; those beyond it are dropped, counted, and told of in the place
// where they are missing: {"time": ..., "dropped_lines": N}. Thread-safe.
#ifndef GRIDFOLD_SERVER_PROCESS_AUDIT_LOG_H_
#define GRIDFOLD_SERVER_PROCESS_AUDIT_LOG_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/process/line_writer.h"

namespace gridfold::server {

// Who called, and what the call touched: what a call notes for the audit log. Not thread-safe.
class AuditNotes {
 public:
  std::string peer;
  std::string certificate;
  std::string tenant;
  std::string token_id;

  // `kind` is "array" or "region". Once for each; those beyond kAuditedObjectsMax are counted.
  void AddObject(absl::string_view kind, absl::string_view name);
  const std::vector<std::string>& objects() const { return objects_; }
  uint64_t further_objects() const { return further_objects_; }

 private:
  std::vector<std::string> objects_;
  uint64_t further_objects_ = 0;
};

struct AuditedCall {
  const char* rpc = "";
  uint64_t id = 0;
  uint64_t request_bytes = 0;
  uint64_t response_bytes = 0;
  std::chrono::nanoseconds duration{0};
};

class AuditLog {
 public:
  // `destination` is "stderr", for lines between those of the log, or a file that lines are
  // appended to. Errors: those of LineWriter::Append.
  static absl::StatusOr<std::unique_ptr<AuditLog>> Open(const std::string& destination);
  // Waits for the lines to be written, for kLogFlushTimeout at most.
  ~AuditLog();

  void Record(const AuditNotes& notes, const AuditedCall& call, const absl::Status& status);

  // Opens the file by its name again. Does not block.
  void Reopen();

  // Of a file of its own; those of standard error are the log's.
  uint64_t dropped_lines() const { return file_ == nullptr ? 0 : file_->dropped_lines(); }

  void Flush(std::chrono::milliseconds limit);

 private:
  AuditLog() = default;

  std::unique_ptr<LineWriter> file_;  // None for standard error.
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PROCESS_AUDIT_LOG_H_
