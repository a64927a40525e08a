// What the calls that compute on a stream share: while one batch of what has arrived is computed,
// the next messages are read, up to a bound; then all that has arrived becomes the next batch, so
// small messages batch themselves. A caller who sends faster than that is held back by the
// transport, as long as nothing is read.
//
// Messages are taken apart in threads of gRPC, batches run in those of the scheduler. Whatever
// happens in any of them ends in Proceed, which one thread at a time goes through: it alone reads
// on, starts jobs and ends the call, so nothing begins after the end. The first error ends the
// call, when its job has ended; OnDone comes last and deletes it.
//
// `Reactor` is one of gRPC's that reads. `Computation` is made from the header of the first message
// and has `element_type()`, `state_bytes()`, the memory that it holds beside what has arrived, and
// `CheckExpected(i)`, an error that names array i where the request has no such array.
#ifndef GRIDFOLD_SERVER_STREAMS_STREAM_CALL_H_
#define GRIDFOLD_SERVER_STREAMS_STREAM_CALL_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/types/element_type.h"
#include "server/arrays/array_store.h"
#include "server/base/error_reason.h"
#include "server/base/exception_guard.h"
#include "server/calls/call_environment.h"
#include "server/calls/call_report.h"
#include "server/calls/rpc_deadline.h"
#include "server/calls/rpc_report.h"
#include "server/calls/tenant.h"
#include "server/scheduling/job.h"
#include "server/streams/stream_intake.h"
#include "server/streams/stream_jobs.h"
#include "server/transport/send_watch.h"
#include "server/wire/rpc_status.h"

namespace gridfold::server {

template <class Reactor, class Computation>
class StreamCall : public Reactor, private IdleWatch::Waiter {
 public:
  Reactor* Start();

  void OnReadDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override {
    environment_.idle_streams.Forget(*this);
    delete this;
  }

 protected:
  // Messages have `array_count` fields of bulk data.
  StreamCall(CallEnvironment& environment, Rpc rpc, grpc::CallbackServerContext& context,
             size_t array_count)
      : environment_(environment),
        report_(NewReport(rpc, environment, context)),
        intake_(environment, array_count),
        context_(context),
        work_{.deadline = DeadlineOf(context), .rpc = rpc},
        jobs_(environment),
        unsent_(environment.sends, context) {}

  // Something has happened, with or without an error: does what is to be done next. The call may be
  // gone afterwards, but for a method that gRPC has called.
  void Proceed(const absl::Status& status) { Proceed(std::unique_lock(mutex_), status); }

  // Those of the caller, once the call has started.
  TenantArrays arrays() const {
    return {environment_.arrays, caller_.tenant, caller_.resident_bytes_max()};
  }

  // A part of the answer is handed to the transport; it was taken.
  void BeginSend(uint64_t bytes) { unsent_.Begin(bytes); }
  void EndSend() {
    unsent_.End();
    jobs_.AnswerGone();
  }

  // Requires `mutex_`. Bytes of which nothing can be computed wait for those of other arrays, which
  // may never come: an error that names the field where they are too many.
  absl::Status CheckWaiting(const char* field) const {
    const uint64_t waiting_bytes = TotalBytes(intake_.sizes());
    const uint64_t most = environment_.limits.message_bytes_max;
    if (waiting_bytes <= most) return absl::OkStatus();
    return kernels::InvalidField(
        field,
        absl::StrCat(waiting_bytes, " bytes wait for those of other arrays, where ", most, " may"));
  }

  CallEnvironment& environment_;
  std::mutex mutex_;
  // Guarded by `mutex_`; what a job uses belongs to it while it runs.
  CallReport report_;
  StreamIntake intake_;
  std::unique_ptr<Computation> computation_;  // Once the header has come.
  uint64_t response_bytes_ = 0;
  absl::Status error_;          // The first one, which the call ends with.
  bool is_last_batch_ = false;  // The job that runs, or has run, takes all that is left.

 private:
  // What is to be done without the lock.
  struct Step {
    bool cancel = false;
    bool finish = false;
    bool read = false;
    bool run = false;
  };

  // In a thread of gRPC, without the lock. Errors: INVALID_ARGUMENT, field named.
  virtual absl::StatusOr<std::unique_ptr<Computation>> MakeComputation(
      const std::string& header) const = 0;

  // As a job: computes on StreamIntake::batch() and takes away what it has used.
  virtual absl::Status RunBatch(const JobContext& job_context) = 0;

  // The most that the answer to the batch takes, which the next job makes; 0 where it makes none.
  virtual uint64_t AnswerBytesMax() const = 0;

  // After a job that has succeeded, as part of it.
  virtual void SendResults() {}

  // These require `mutex_`.

  // Whether what has arrived is worth a job, where more may come and none runs. An error where no
  // job ever could use it.
  virtual absl::StatusOr<bool> HasBatch() const = 0;
  // Whether one job can take the whole batch.
  virtual bool TakesWholeBatch() const { return true; }
  // Whether there is a place for the results of another batch.
  virtual bool HasPlaceForResults() const { return true; }
  // Results are on their way: the call cannot end.
  virtual bool IsSending() const { return false; }

  absl::Status TakeMessage();
  absl::Status TakeHeader(const std::string& header);
  absl::Status SubmitBatch();
  void OnBatchDone(const absl::Status& status);
  void OnIdle() override;
  void Proceed(std::unique_lock<std::mutex> lock, const absl::Status& status);
  void Take(const Step& step);

  // These require `mutex_`.
  Step NextStep();
  Step EndStep();
  bool HasEnough();
  // Whether the request has a use for the arrays of a message.
  absl::Status CheckArrays(const StreamMessage& message) const;
  void WatchCaller();

  grpc::CallbackServerContext& context_;
  Caller caller_;
  JobWork work_;  // What the jobs of all batches have in common.
  StreamJobs jobs_;
  UnsentAnswer unsent_;
  grpc::ByteBuffer message_;  // Of the read under way.
  // Guarded by `mutex_`.
  bool proceeding_ = false;  // A thread goes through Proceed.
  bool has_news_ = false;    // For that thread.
  bool reading_ = false;
  bool running_ = false;
  bool has_ended_ = false;  // The caller sends nothing more.
  bool is_finished_ = false;
  bool waits_for_caller_ = false;  // And could do nothing else.
};

template <class Reactor, class Computation>
Reactor* StreamCall<Reactor, Computation>::Start() {
  Proceed(CatchExceptions([this] {
    absl::StatusOr<Caller> caller = ReadCaller(context_, environment_.tokens, report_, work_);
    if (!caller.ok()) return caller.status();
    caller_ = *std::move(caller);
    return intake_.Enter(caller_.tenant);
  }));
  return this;
}

template <class Reactor, class Computation>
void StreamCall<Reactor, Computation>::OnReadDone(bool ok) {
  absl::Status status;
  if (ok) {
    status = CatchExceptions([this] { return TakeMessage(); });
  } else {
    status = context_.IsCancelled() ? CancelledByCaller() : intake_.CheckBegun();
  }
  std::unique_lock lock(mutex_);
  reading_ = false;
  WatchCaller();
  has_ended_ |= !ok;
  if (!ok && status.ok()) status = intake_.CheckEnd();
  Proceed(std::move(lock), status);
}

template <class Reactor, class Computation>
void StreamCall<Reactor, Computation>::OnCancel() {
  jobs_.Cancel();
  Proceed(CancelledByCaller());
}

template <class Reactor, class Computation>
absl::Status StreamCall<Reactor, Computation>::TakeMessage() {
  if (absl::Status status = environment_.scheduler.CheckAdmission(work_); !status.ok()) {
    return status;
  }
  const uint64_t size_bytes = message_.Length();
  caller_.Charge(size_bytes);
  const absl::StatusOr<StreamMessage> message = intake_.Open(message_);
  if (!message.ok()) return message.status();
  if (message->header) {
    if (absl::Status status = TakeHeader(*message->header); !status.ok()) return status;
  }
  const std::lock_guard lock(mutex_);
  if (is_finished_) return absl::OkStatus();
  report_.request_bytes += size_bytes;
  if (absl::Status status = CheckArrays(*message); !status.ok()) return status;
  return intake_.Add(*message);
}

template <class Reactor, class Computation>
absl::Status StreamCall<Reactor, Computation>::CheckArrays(const StreamMessage& message) const {
  for (size_t i = 0; i < message.arrays.size(); ++i) {
    if (message.arrays[i].empty()) continue;
    if (absl::Status status = computation_->CheckExpected(i); !status.ok()) return status;
  }
  return absl::OkStatus();
}

template <class Reactor, class Computation>
absl::Status StreamCall<Reactor, Computation>::TakeHeader(const std::string& header) {
  absl::StatusOr<std::unique_ptr<Computation>> computation = MakeComputation(header);
  if (!computation.ok()) return computation.status();
  const std::lock_guard lock(mutex_);
  if (is_finished_) return absl::OkStatus();
  computation_ = *std::move(computation);
  report_.element_type = computation_->element_type();
  intake_.SetElementSize(kernels::ElementSize(computation_->element_type()));
  return intake_.HoldState(computation_->state_bytes());
}

// A thread that finds another one here leaves it its news, and may have lost the call when it has
// given up the lock. The one that is here has the call until it has finished it, or gone.
template <class Reactor, class Computation>
void StreamCall<Reactor, Computation>::Proceed(std::unique_lock<std::mutex> lock,
                                               const absl::Status& status) {
  if (is_finished_) return;
  if (error_.ok()) error_ = status;
  has_news_ = true;
  if (proceeding_) return;
  proceeding_ = true;
  while (std::exchange(has_news_, false)) {
    const Step step = NextStep();
    WatchCaller();
    lock.unlock();
    Take(step);
    if (step.finish) return;
    lock.lock();
  }
  proceeding_ = false;
}

// Each message begins the time anew.
template <class Reactor, class Computation>
void StreamCall<Reactor, Computation>::WatchCaller() {
  const bool waits = reading_ && !running_ && !is_finished_ && !IsSending();
  if (waits == waits_for_caller_) return;
  waits_for_caller_ = waits;
  if (waits) {
    environment_.idle_streams.Begin(*this);
  } else {
    environment_.idle_streams.End(*this);
  }
}

template <class Reactor, class Computation>
void StreamCall<Reactor, Computation>::OnIdle() {
  std::unique_lock lock(mutex_);
  if (waits_for_caller_) Proceed(std::move(lock), environment_.idle_streams.Error());
}

// After a finish gRPC may delete the call at any moment.
template <class Reactor, class Computation>
void StreamCall<Reactor, Computation>::Take(const Step& step) {
  if (step.cancel) jobs_.Cancel();
  if (step.read) this->StartRead(&message_);
  if (step.run) {
    const absl::Status submitted = CatchExceptions([this] { return SubmitBatch(); });
    if (!submitted.ok()) OnBatchDone(submitted);
  }
  if (step.finish) {
    environment_.Report(report_, error_, response_bytes_);
    unsent_.Begin(response_bytes_);
    this->Finish(ToGrpcStatus(error_));
  }
}

template <class Reactor, class Computation>
auto StreamCall<Reactor, Computation>::NextStep() -> Step {
  const bool has_enough = error_.ok() && !running_ && HasEnough();
  if (!error_.ok() || (is_last_batch_ && !running_)) return EndStep();
  const bool run = has_enough && HasPlaceForResults();
  if (run) {
    intake_.BeginBatch();
    running_ = true;
    is_last_batch_ = has_ended_ && TakesWholeBatch();
  }
  // What is too little for a batch must become more, whatever else happens.
  const bool needs_more = !running_ && !has_enough;
  const bool read = !reading_ && !has_ended_ && (needs_more || intake_.HasRoom());
  reading_ |= read;
  return {.read = read, .run = run};
}

// The call ends as soon as it can.
template <class Reactor, class Computation>
auto StreamCall<Reactor, Computation>::EndStep() -> Step {
  if (running_) return {.cancel = true};
  if (IsSending()) return {};
  is_finished_ = true;
  // The caller may be slow to take the answer.
  computation_.reset();
  intake_.ReleaseAll();
  return {.finish = true};
}

template <class Reactor, class Computation>
bool StreamCall<Reactor, Computation>::HasEnough() {
  if (has_ended_) return true;
  if (computation_ == nullptr) return false;
  const absl::StatusOr<bool> has_batch = HasBatch();
  if (!has_batch.ok()) error_ = has_batch.status();
  return has_batch.ok() && *has_batch;
}

template <class Reactor, class Computation>
absl::Status StreamCall<Reactor, Computation>::SubmitBatch() {
  JobWork work = work_;
  work.payload_bytes = intake_.batch_bytes();
  work.answer_bytes = AnswerBytesMax();
  work.run = [this](const JobContext& job_context) {
    report_.AddQueueTime(job_context.queue_time);
    return RunBatch(job_context);
  };
  work.finish = [this](const absl::Status& status) { OnBatchDone(status); };
  return jobs_.Submit(std::move(work), report_);
}

template <class Reactor, class Computation>
void StreamCall<Reactor, Computation>::OnBatchDone(const absl::Status& status) {
  if (status.ok()) SendResults();
  std::unique_lock lock(mutex_);
  running_ = false;
  intake_.EndBatch();
  Proceed(std::move(lock), status);
}

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_STREAMS_STREAM_CALL_H_
