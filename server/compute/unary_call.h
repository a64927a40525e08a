// One call that runs as a job, from its bytes to its answer. Used by services/compute_service.cc,
// services/array_service.cc and services/region_service.cc only.
//
// Start runs in a thread of gRPC: admission by size and deadline, decoding, validation, submission.
// Run and Finish run in a thread of the scheduler. OnCancel comes at any time after Start has
// returned, from gRPC; OnDone last, after Finish and OnCancel have returned, and deletes the call.
#ifndef GRIDFOLD_SERVER_COMPUTE_UNARY_CALL_H_
#define GRIDFOLD_SERVER_COMPUTE_UNARY_CALL_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/exception_guard.h"
#include "server/calls/call_environment.h"
#include "server/calls/call_report.h"
#include "server/calls/execution.h"
#include "server/calls/rpc_deadline.h"
#include "server/calls/rpc_report.h"
#include "server/calls/tenant.h"
#include "server/compute/batch_run.h"
#include "server/compute/dealt_run.h"
#include "server/compute/keyed_run.h"
#include "server/compute/paired_run.h"
#include "server/compute/planned_run.h"
#include "server/planning/batch_validation.h"
#include "server/planning/placement.h"
#include "server/planning/request_validation.h"
#include "server/scheduling/job_group.h"
#include "server/transport/send_watch.h"
#include "server/wire/arena_message.h"
#include "server/wire/detached_data.h"
#include "server/wire/message_codec.h"
#include "server/wire/rpc_status.h"
#include "server/wire/scan_answer.h"

namespace gridfold::server {

// The place in an answer that says how its job ran.
template <class Response>
requires requires(Response& response) { response.mutable_execution(); }
v1::ExecutionStatistics& ExecutionOf(Response& response) { return *response.mutable_execution(); }
inline v1::ExecutionStatistics& ExecutionOf(v1::MergeAccumulatorsResponse& response) {
  if (response.has_reduction()) return *response.mutable_reduction()->mutable_execution();
  if (response.has_histogram()) return *response.mutable_histogram()->mutable_execution();
  return *response.mutable_keyed_reduction()->mutable_execution();
}

inline v1::ExecutionStatistics& ExecutionOf(v1::SubtractAccumulatorsResponse& response) {
  return ExecutionOf(*response.mutable_remainder());
}
inline v1::ExecutionStatistics& ExecutionOf(ScanAnswer& answer) {
  return *answer.response.mutable_execution();
}
inline v1::ExecutionStatistics& ExecutionOf(ArenaMessage<v1::BatchComputeResponse>& response) {
  return *response->mutable_execution();
}

// None for what has no array, and for a batch, which has many.
inline std::optional<kernels::ElementType> ElementTypeOf(const PlannedMerge&) { return {}; }
inline std::optional<kernels::ElementType> ElementTypeOf(const PlannedSubtraction&) { return {}; }
inline std::optional<kernels::ElementType> ElementTypeOf(const PlannedBatch&) { return {}; }
inline std::optional<kernels::ElementType> ElementTypeOf(const PlannedCreation& planned) {
  return planned.description.element_type;
}
inline std::optional<kernels::ElementType> ElementTypeOf(const PlannedRegistration&) { return {}; }
inline std::optional<kernels::ElementType> ElementTypeOf(const PlannedKeyedReduction& planned) {
  return planned.plan.reduction.array.element_type;
}
inline std::optional<kernels::ElementType> ElementTypeOf(const PlannedPaired& planned) {
  return planned.plan.x.element_type;
}
template <class Planned>
std::optional<kernels::ElementType> ElementTypeOf(const Planned& planned) {
  return planned.plan.array.element_type;
}

// Whether several lanes may work on such a request.
template <class Planned>
concept CanBeDealt = requires(const Planned& planned, const Limits& limits) {
  Deal(planned, limits);
};

template <class Request, class Planned, class Response>
class UnaryCall final : public grpc::ServerUnaryReactor {
 public:
  UnaryCall(CallEnvironment& environment, Rpc rpc, grpc::CallbackServerContext& context,
            const grpc::ByteBuffer& request, grpc::ByteBuffer& response)
      : environment_(environment),
        report_(NewReport(rpc, environment, context)),
        context_(context),
        // The buffer belongs to this call, which releases it as soon as it is decoded.
        request_bytes_(const_cast<grpc::ByteBuffer&>(request)),
        response_bytes_(response),
        unsent_(environment.sends, context) {}

  grpc::ServerUnaryReactor* Start() {
    // gRPC would swallow an exception, and the call with it.
    const absl::Status status = CatchExceptions([this] { return Submit(); });
    if (!status.ok()) FinishWith(status);
    return this;
  }

  void OnCancel() override {
    if (group_ != nullptr) {
      group_->Cancel();
    } else if (job_ != nullptr) {
      environment_.scheduler.Cancel(job_);
    }
  }

  void OnDone() override {
    CallCounter* const calls = counted_ ? &environment_.calls : nullptr;
    if (job_ != nullptr) environment_.scheduler.GiveBackAnswerRoom(*job_);
    delete this;
    if (calls != nullptr) calls->Leave();
  }

 private:
  absl::Status Submit() {
    report_.request_bytes = request_bytes_.Length();
    JobWork work{.payload_bytes = report_.request_bytes,
                 .deadline = DeadlineOf(context_),
                 .rpc = report_.rpc};
    absl::StatusOr<Caller> caller = ReadCaller(context_, environment_.tokens, report_, work);
    if (!caller.ok()) return caller.status();
    caller_ = *std::move(caller);
    caller_.Charge(report_.request_bytes);
    if (absl::Status status = CheckMessageSize(report_.request_bytes, environment_.limits);
        !status.ok()) {
      return status;
    }
    if (absl::Status status = environment_.scheduler.CheckAdmission(work); !status.ok()) {
      return status;
    }
    if (absl::Status status = Prepare(work); !status.ok()) return status;
    answer_bytes_max_ = work.answer_bytes;
    if constexpr (CanBeDealt<Planned>) {
      auto dealt = Deal(*planned_, environment_.limits);
      if (!dealt.ok()) return dealt.status();
      dealt_ = *std::move(dealt);
    }
    if (dealt_ != nullptr) {
      MakeGroup(work);
    } else {
      work.run = [this](const JobContext& job_context) { return Run(job_context); };
      work.finish = [this](const absl::Status& status) { FinishWith(status); };
      job_ = std::make_shared<Job>(std::move(work));
    }
    // Only calls that may become jobs count: a stopping server does not wait for those it refuses.
    environment_.calls.Enter();
    counted_ = true;
    report_.admission_time = report_.Elapsed();
    const std::shared_ptr<JobGroup> group = group_;
    absl::Status status = group != nullptr ? group->Submit() : environment_.scheduler.Submit(job_);
    // Once the job is accepted, the call may already have ended and been deleted.
    if (!status.ok()) report_.admission_time.reset();
    return status;
  }

  // For several lanes.
  void MakeGroup(const JobWork& common) {
    group_ = JobGroup::Make(
        environment_.scheduler, dealt_->Begin(common),
        [this](const JobContext& job_context) { return EndRound(job_context); },
        [this](const absl::Status& status) { FinishWith(status); });
    job_ = group_->first_job();
  }

  absl::StatusOr<JobGroup::Parts> EndRound(const JobContext& job_context) {
    absl::StatusOr<JobGroup::Parts> next = dealt_->EndRound(job_context);
    if (!next.ok() || !next->empty()) return next;
    absl::StatusOr<Response> response = dealt_->MakeAnswer(job_context);
    TakeStatistics();
    absl::Status status = Answer(std::move(response));
    if (!status.ok()) return status;
    return JobGroup::Parts();
  }

  void TakeStatistics() {
    const DealtStatistics& statistics = dealt_->statistics();
    report_.queue_time = statistics.queue_time();
    report_.run = statistics.total();
    report_.device_count = statistics.device_count();
  }

  absl::Status Prepare(JobWork& work) {
    absl::Status status = DecodeRequest(request_bytes_, environment_.limits, request_.emplace(),
                                        detached_, DetachableArrayData());
    request_bytes_.Clear();
    if (!status.ok()) return status;
    absl::StatusOr<Planned> planned = PlanRequest(
        *request_, PlanningContext{environment_.limits,
                                   TenantArrays(environment_.arrays, work.tenant,
                                                caller_.resident_bytes_max(), report_.audit),
                                   TenantRegions(environment_.regions, work.tenant, report_.audit),
                                   &detached_});
    if (!planned.ok()) return planned.status();
    planned_ = *std::move(planned);
    report_.element_type = ElementTypeOf(*planned_);
    Place(*planned_, work);
    if constexpr (std::is_same_v<Planned, PlannedReduction>) work.batchable = Batchable();
    return absl::OkStatus();
  }

  // How a small reduction shares a launch with others.
  std::optional<BatchableWork> Batchable() {
    const std::optional<kernels::ReductionBatchKey> key =
        LaunchKeyOf(*planned_, kJobBatchedArrayBytesMax);
    if (!key) return std::nullopt;
    return BatchableWork{
        *key,
        {&planned_->plan, planned_->input.data},
        [this](absl::StatusOr<kernels::ReductionResult> result, const SharedLaunch& launch) {
          report_.queue_time = launch.queue_time;
          report_.run = launch.statistics;
          report_.run.strategy = "reduce/batch";
          report_.run.bytes_read = planned_->plan.array.size_bytes();
          if (!result.ok()) return Answer(result.status());
          return Answer(MakeResponse(*planned_, *std::move(result)));
        }};
  }

  absl::Status Run(const JobContext& job_context) {
    report_.queue_time = job_context.queue_time;
    return Answer(RunPlanned(*planned_, job_context.lane, job_context.stop, report_.run));
  }

  absl::Status Answer(absl::StatusOr<Response> response) {
    // The answer takes memory of its own.
    ReleaseRequest();
    if (!response.ok()) return response.status();
    if constexpr (requires { ExecutionOf(*response); }) Describe(ExecutionOf(*response));
    return EncodeResponse(*std::move(response), response_bytes_);
  }

  void ReleaseRequest() {
    dealt_.reset();
    planned_.reset();
    request_.reset();
    detached_.Clear();
  }

  void Describe(v1::ExecutionStatistics& execution) const {
    // Accumulators are folded on the processor, whatever the engine.
    constexpr bool kFolds =
        std::is_same_v<Planned, PlannedMerge> || std::is_same_v<Planned, PlannedSubtraction>;
    FillExecution(report_, kFolds ? "cpu" : environment_.engine_name, execution);
  }

  void FinishWith(const absl::Status& status) {
    if (dealt_ != nullptr && dealt_->statistics().device_count() > 0) TakeStatistics();
    // Its caller may be slow to take the answer.
    ReleaseRequest();
    const uint64_t answer_bytes = response_bytes_.Length();
    environment_.Report(report_, status, answer_bytes);
    if (status.ok() && answer_bytes + kSmallAnswerBytes < answer_bytes_max_) {
      environment_.scheduler.ShrinkAnswer(*job_, answer_bytes + kAnswerOverheadBytes);
    }
    unsent_.Begin(answer_bytes);
    // From here on gRPC may delete this call at any moment.
    Finish(ToGrpcStatus(status));
  }

  CallEnvironment& environment_;
  CallReport report_;
  grpc::CallbackServerContext& context_;
  grpc::ByteBuffer& request_bytes_;
  grpc::ByteBuffer& response_bytes_;
  Caller caller_;
  std::optional<Request> request_;
  DetachedData detached_;                      // From `request_`.
  std::optional<Planned> planned_;             // Points into both.
  std::unique_ptr<DealtRun<Response>> dealt_;  // Of a request for several lanes.
  std::shared_ptr<JobGroup> group_;            // Its parts.
  std::shared_ptr<Job> job_;                   // The only one, or the first part.
  uint64_t answer_bytes_max_ = 0;
  UnsentAnswer unsent_;
  bool counted_ = false;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_COMPUTE_UNARY_CALL_H_
