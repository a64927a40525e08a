// Batches that several devices work on, or that have operations with a `gather`.
//
// Operations that several devices have parts of have theirs in each round. What one engine has to
// do of all of them in a round is one job, with the batch's other operations on its arrays in the
// first one.
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <variant>
#include <vector>

#include "server/compute/batch_run.h"
#include "server/compute/dealt_run.h"
#include "server/planning/placement.h"
#include "server/wire/rpc_status.h"

namespace gridfold::server {

namespace {

template <class Response>
Response BatchAnswer(Response answer) {
  return answer;
}
v1::ScanArrayResponse BatchAnswer(ScanAnswer answer) {
  if (answer.response.has_inline_array()) {
    answer.response.mutable_inline_array()->set_data(answer.data.data(), answer.data.size_bytes());
  }
  return std::move(answer.response);
}

// One operation on sharded arrays.
class DealtOperation {
 public:
  virtual ~DealtOperation() = default;
  virtual JobGroup::Parts Begin(const JobWork& common) = 0;
  virtual absl::StatusOr<JobGroup::Parts> EndRound(const JobContext& context) = 0;
  virtual absl::Status MakeAnswer(const JobContext& context, v1::BatchResult& result) = 0;
  virtual const DealtStatistics& statistics() const = 0;

  // That of the first part that has one.
  void NoteError(size_t part, absl::Status status) {
    const std::lock_guard lock(mutex_);
    if (!error_.ok() && error_part_ < part) return;
    error_ = std::move(status);
    error_part_ = part;
  }
  absl::Status error() const {
    const std::lock_guard lock(mutex_);
    return error_;
  }

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  absl::Status error_;
  size_t error_part_ = 0;
};

template <class Response>
class DealtOperationOf final : public DealtOperation {
 public:
  explicit DealtOperationOf(std::unique_ptr<DealtRun<Response>> run) : run_(std::move(run)) {}

  JobGroup::Parts Begin(const JobWork& common) override { return run_->Begin(common); }
  absl::StatusOr<JobGroup::Parts> EndRound(const JobContext& context) override {
    return run_->EndRound(context);
  }
  absl::Status MakeAnswer(const JobContext& context, v1::BatchResult& result) override {
    absl::StatusOr<Response> answer = run_->MakeAnswer(context);
    if (!answer.ok()) return answer.status();
    Give(BatchAnswer(*std::move(answer)), result);
    return absl::OkStatus();
  }
  const DealtStatistics& statistics() const override { return run_->statistics(); }

 private:
  std::unique_ptr<DealtRun<Response>> run_;
};

class DealtBatchRun final : public DealtRun<ArenaMessage<v1::BatchComputeResponse>> {
 public:
  explicit DealtBatchRun(const PlannedBatch& batch) : batch_(batch) {}

  absl::Status Add(size_t index, const Limits& limits) {
    return std::visit(
        [&](const auto& planned) -> absl::Status {
          if constexpr (requires { Deal(planned, limits); }) {
            auto run = Deal(planned, limits);
            if (!run.ok()) return run.status();
            dealt_.emplace(index, MakeOperation(*std::move(run)));
          }
          return absl::OkStatus();
        },
        batch_.operations[index]);
  }

  JobGroup::Parts Begin(const JobWork& common) override {
    common_ = common;
    common_.batchable.reset();
    AddResults(batch_, response_);
    Round round;
    for (const auto& [index, operation] : dealt_) AddParts(index, operation->Begin(common_), round);
    AddOthers(round);
    return MakeJobs(std::move(round));
  }

  absl::StatusOr<JobGroup::Parts> EndRound(const JobContext& context) override {
    Round round;
    for (auto next = dealt_.begin(); next != dealt_.end();) {
      const auto [index, operation] = *next;
      absl::StatusOr<JobGroup::Parts> parts = EndRoundOf(*operation, context);
      absl::Status status = parts.status();
      if (status.ok() && !parts->empty()) {
        AddParts(index, *std::move(parts), round);
        ++next;
        continue;
      }
      if (status.ok()) status = operation->MakeAnswer(context, ResultOf(index));
      if (!status.ok() && ConcernsTheBatch(status)) return status;
      if (!status.ok()) FillRpcStatus(status, *ResultOf(index).mutable_error());
      kernels::RunStatistics run = operation->statistics().total();
      run.strategy = "batch";
      statistics_.Add(context, run);
      next = dealt_.erase(next);
    }
    common_.answer_bytes = 0;  // The first round has taken the room.
    return MakeJobs(std::move(round));
  }

  absl::StatusOr<ArenaMessage<v1::BatchComputeResponse>> MakeAnswer(const JobContext&) override {
    return std::move(response_);
  }

 private:
  using Work = std::function<absl::Status(const JobContext&)>;
  struct Share {
    std::vector<Work> work;
    uint64_t resident_bytes = 0;
  };
  using Round = std::map<uint32_t, Share>;  // By engine.

  template <class Response>
  static std::shared_ptr<DealtOperation> MakeOperation(std::unique_ptr<DealtRun<Response>> run) {
    return std::make_shared<DealtOperationOf<Response>>(std::move(run));
  }

  v1::BatchResult& ResultOf(size_t index) {
    return *response_->mutable_results(static_cast<int>(index));
  }

  static absl::StatusOr<JobGroup::Parts> EndRoundOf(DealtOperation& operation,
                                                    const JobContext& context) {
    if (absl::Status error = operation.error(); !error.ok()) return error;
    return operation.EndRound(context);
  }

  void AddParts(size_t index, JobGroup::Parts parts, Round& round) {
    const std::shared_ptr<DealtOperation> operation = dealt_.at(index);
    for (size_t part = 0; part < parts.size(); ++part) {
      Share& share = round[*parts[part].engine];
      share.resident_bytes += parts[part].resident_bytes;
      share.work.push_back([operation, part, run = std::move(parts[part].run)](
                               const JobContext& context) -> absl::Status {
        absl::Status status = run(context);
        if (status.ok() || ConcernsTheBatch(status)) return status;
        operation->NoteError(part, std::move(status));
        return absl::OkStatus();
      });
    }
  }

  // The batch's other operations: each on the engine of its arrays, or that of the batch.
  void AddOthers(Round& round) {
    std::map<uint32_t, std::vector<bool>> left_out;  // By engine.
    for (size_t i = 0; i < batch_.operations.size(); ++i) {
      if (dealt_.count(i) > 0) continue;
      std::optional<uint32_t> engine = EngineOf(batch_.operations[i]);
      if (!engine) engine = batch_.engine;
      if (!engine) engine = round.begin()->first;
      left_out.try_emplace(*engine, batch_.operations.size(), true).first->second[i] = false;
    }
    for (auto& [engine, others] : left_out) {
      round[engine].work.push_back([this, others = std::move(others)](const JobContext& context) {
        kernels::RunStatistics run;
        absl::Status status =
            RunOperations(batch_, others, context.lane, context.stop, run, response_);
        statistics_.Add(context, run);
        return status;
      });
    }
  }

  JobGroup::Parts MakeJobs(Round round) {
    JobGroup::Parts jobs;
    for (auto& [engine, share] : round) {
      JobWork job = common_;
      job.payload_bytes = common_.payload_bytes / round.size();
      if (!jobs.empty()) job.answer_bytes = 0;
      job.engine = engine;
      job.resident_bytes = share.resident_bytes;
      job.run = [this, work = std::move(share.work)](const JobContext& context) {
        statistics_.Add(context, {.strategy = "batch"});
        for (const Work& part : work) {
          if (context.stop.stop_requested()) return absl::CancelledError("the job was cancelled");
          if (absl::Status status = part(context); !status.ok()) return status;
        }
        return absl::OkStatus();
      };
      jobs.push_back(std::move(job));
    }
    return jobs;
  }

  const PlannedBatch& batch_;
  std::map<size_t, std::shared_ptr<DealtOperation>> dealt_;  // By their places in the batch.
  JobWork common_;
  ArenaMessage<v1::BatchComputeResponse> response_;
};

// Whether the operation has parts, of several devices or in several rounds.
template <class Planned>
bool IsDealt(const Planned& planned) {
  bool is_dealt = false;
  if constexpr (requires { IsSharded(planned); }) is_dealt |= IsSharded(planned);
  if constexpr (requires { planned.gather; }) is_dealt |= planned.gather.has_value();
  return is_dealt;
}

// Whether one lane cannot run all operations where their arrays are.
bool IsDealt(const PlannedBatch& batch, bool has_several_engines) {
  return std::any_of(
      batch.operations.begin(), batch.operations.end(), [&](const PlannedOperation& operation) {
        const std::optional<uint32_t> engine =
            has_several_engines ? EngineOf(operation) : std::nullopt;
        return (engine && engine != batch.engine) ||
               std::visit([](const auto& planned) { return IsDealt(planned); }, operation);
      });
}

}  // namespace

absl::StatusOr<std::unique_ptr<DealtRun<ArenaMessage<v1::BatchComputeResponse>>>> Deal(
    const PlannedBatch& batch, const Limits& limits) {
  if (!IsDealt(batch, limits.engine_count > 1)) return nullptr;
  auto run = std::make_unique<DealtBatchRun>(batch);
  for (size_t i = 0; i < batch.operations.size(); ++i) {
    if (!std::visit([](const auto& planned) { return IsDealt(planned); }, batch.operations[i])) {
      continue;
    }
    if (absl::Status status = run->Add(i, limits); !status.ok()) return status;
  }
  return run;
}

}  // namespace gridfold::server
