// One call of ScanStream: batches of what has arrived are scanned, and their results sent, in
// order. While one batch of results is sent the next one is computed, and no more: a caller who
// does not take results is not read from any further. Used by compute_service.cc only.
//
// Threads and end as those of FoldStreamCall.
#ifndef GRIDFOLD_SERVER_SCAN_STREAM_CALL_H_
#define GRIDFOLD_SERVER_SCAN_STREAM_CALL_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "server/call_environment.h"
#include "server/call_report.h"
#include "server/job.h"
#include "server/stream_intake.h"
#include "server/stream_jobs.h"
#include "server/stream_scan.h"

namespace gridfold::server {

class ScanStreamCall final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  ScanStreamCall(CallEnvironment& environment, grpc::CallbackServerContext& context);

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Start();

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override { delete this; }

 private:
  // What is to be done without the lock.
  struct Step {
    bool cancel = false;
    bool finish = false;
    bool read = false;
    bool write = false;
    bool run = false;
    absl::Status status{};  // With `finish`.
  };

  absl::Status TakeMessage();
  absl::Status TakeHeader(const std::string& header);
  void Proceed(const absl::Status& status);
  absl::Status SubmitBatch();
  absl::Status RunBatch(const JobContext& job_context);
  void OnBatchDone(const absl::Status& status);
  void FinishWith(const absl::Status& status);

  // These require `mutex_`.
  Step NextStep(const absl::Status& status);
  bool ShouldRun() const;
  bool ShouldRead() const;
  void BeginWrite();

  CallEnvironment& environment_;
  grpc::CallbackServerContext& context_;
  JobWork work_;  // What the jobs of all batches have in common.
  StreamJobs jobs_;
  grpc::ByteBuffer message_;   // Of the read under way.
  grpc::ByteBuffer results_;   // Of the write under way.
  grpc::ByteBuffer computed_;  // A job's results.

  std::mutex mutex_;
  // Guarded by `mutex_`; what a job uses belongs to it while it runs.
  CallReport report_;
  StreamIntake intake_;
  std::unique_ptr<StreamScan> scan_;       // Once the header has come.
  std::optional<grpc::ByteBuffer> ready_;  // Results that wait for the write before them.
  uint64_t response_bytes_ = 0;
  absl::Status error_;  // The first one, which the call ends with.
  bool reading_ = false;
  bool writing_ = false;
  bool running_ = false;
  bool has_ended_ = false;      // The caller sends nothing more.
  bool is_last_batch_ = false;  // The job that runs, or has run, takes all that is left.
  bool is_finished_ = false;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_SCAN_STREAM_CALL_H_
