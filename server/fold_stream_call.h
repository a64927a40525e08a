// One call of ReduceStream or HistogramStream: while one batch of what has arrived is computed, the
// next messages are read, up to a bound; then all that has arrived becomes the next batch, so small
// messages batch themselves. A caller who sends faster than that is held back by the transport, as
// long as nothing is read. Used by compute_service.cc only.
//
// Messages are taken apart in threads of gRPC, batches run in those of the scheduler. A call that
// has failed ends when its job has; OnDone comes last and deletes it.
#ifndef GRIDFOLD_SERVER_FOLD_STREAM_CALL_H_
#define GRIDFOLD_SERVER_FOLD_STREAM_CALL_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/call_environment.h"
#include "server/call_report.h"
#include "server/job.h"
#include "server/stream_fold.h"
#include "server/stream_intake.h"
#include "server/stream_jobs.h"

namespace gridfold::server {

class FoldStreamCall final : public grpc::ServerReadReactor<grpc::ByteBuffer> {
 public:
  using MakeFold = absl::StatusOr<std::unique_ptr<StreamFold>> (*)(const std::string& header,
                                                                   const Limits& limits);

  // Messages have `array_count` fields of bulk data; their header makes the fold.
  FoldStreamCall(CallEnvironment& environment, Rpc rpc, grpc::CallbackServerContext& context,
                 grpc::ByteBuffer& response, MakeFold make_fold, size_t array_count);

  grpc::ServerReadReactor<grpc::ByteBuffer>* Start();

  void OnReadDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override { delete this; }

 private:
  // What is to be done without the lock.
  struct Step {
    bool cancel = false;
    bool finish = false;
    bool read = false;
    bool run = false;
    absl::Status error{};  // With `finish`.
  };

  absl::Status TakeMessage();
  absl::Status TakeHeader(const std::string& header);
  void Proceed(const absl::Status& status);
  absl::Status SubmitBatch();
  absl::Status RunBatch(const JobContext& job_context);
  absl::Status Answer(const JobContext& job_context);
  void OnBatchDone(const absl::Status& status);
  void FinishWith(const absl::Status& status);

  // These require `mutex_`.
  Step NextStep(const absl::Status& status);
  bool ShouldRun() const;
  bool ShouldRead() const;
  absl::Status CheckHeldBytes() const;
  void ReleaseAll();

  CallEnvironment& environment_;
  grpc::CallbackServerContext& context_;
  grpc::ByteBuffer& response_;
  const MakeFold make_fold_;
  JobWork work_;  // What the jobs of all batches have in common.
  StreamJobs jobs_;
  grpc::ByteBuffer message_;  // Of the read under way.

  std::mutex mutex_;
  // Guarded by `mutex_`; what a job uses belongs to it while it runs.
  CallReport report_;
  StreamIntake intake_;
  std::unique_ptr<StreamFold> fold_;  // Once the header has come.
  absl::Status error_;                // The first one, which the call ends with.
  bool reading_ = false;
  bool running_ = false;
  bool has_ended_ = false;      // The caller sends nothing more.
  bool is_last_batch_ = false;  // The job that runs makes the answer.
  bool is_finished_ = false;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_FOLD_STREAM_CALL_H_
