// A job: work for a lane, with what the scheduler needs to know about it, and its completion.
#ifndef GRIDFOLD_SERVER_SCHEDULING_JOB_H_
#define GRIDFOLD_SERVER_SCHEDULING_JOB_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "kernels/contract/engine.h"
#include "server/base/answer_grant.h"
#include "server/base/job_clock.h"
#include "server/base/priority.h"
#include "server/base/rpc.h"
#include "server/scheduling/job_batch.h"

namespace gridfold::server {

// What a job is given when it runs.
struct JobContext {
  kernels::Lane& lane;
  std::stop_token stop;                 // Requested when nobody waits for the result any longer.
  std::chrono::nanoseconds queue_time;  // From acceptance until a lane took the job.
  uint32_t engine = 0;                  // The lane's, as an index of the scheduler's list.
};

struct JobWork {
  // Input that the job holds in memory while it waits.
  uint64_t payload_bytes = 0;
  // The job does not start after this, nor where its end would come after it.
  JobClock::time_point deadline = JobClock::time_point::max();
  // Whose job it is: tenants share the lanes. Empty where nobody is named, a tenant like others.
  std::string tenant = {};
  Priority priority = Priority::kNormal;
  // The job's cost is learnt by its RPC and the bytes that it works on: its payload, and these in
  // an engine's memory.
  Rpc rpc = Rpc::kReduceArray;
  uint64_t resident_bytes = 0;
  // The most that its answer takes until the caller has taken it; 0 for one that takes no room. And
  // the connection that the answer goes to, by any number of its own.
  uint64_t answer_bytes = 0;
  uint64_t connection = 0;
  // The engine that must run it, as an index of the scheduler's list; none: any of them.
  std::optional<uint32_t> engine = std::nullopt;
  // Goes on with work that has begun: the job is taken though the queue is full, or draining.
  bool continues = false;
  // Where the job may share a launch with others that wait: how, in place of `run`.
  std::optional<BatchableWork> batchable = std::nullopt;
  // Runs in a thread of the scheduler, at most once. May throw.
  std::function<absl::Status(const JobContext&)> run = {};
  // Called exactly once for an accepted job, in a thread of the scheduler or of whoever cancels or
  // stops it, and never while a lock is held. Must not block and must not throw.
  std::function<void(const absl::Status&)> finish = {};
};

struct WaitingTenant;

// Shared by the scheduler and whoever may cancel it. All but the work belongs to the scheduler.
class Job {
 public:
  // `cost` is what it is thought to cost, until a scheduler estimates that.
  explicit Job(JobWork work, std::chrono::nanoseconds cost = {})
      : work_(std::move(work)), cost_(cost) {}
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

 private:
  friend class AnswerRoom;
  friend class FairQueue;
  friend class Scheduler;

  enum class State { kNew, kQueued, kRunning, kDone };
  enum class StopCause { kNone, kCaller, kShutdown };

  JobWork work_;
  std::stop_source stop_source_;
  // Guarded by the scheduler's mutex.
  State state_ = State::kNew;
  StopCause stop_cause_ = StopCause::kNone;
  JobClock::time_point accepted_at_;
  JobClock::time_point started_at_ = JobClock::time_point::max();
  std::chrono::nanoseconds cost_;  // As estimated; 0 where nothing is known.
  // Those of the queue that the job waits in, or was taken from.
  WaitingTenant* tenant_ = nullptr;
  uint64_t sequence_ = 0;
  std::list<std::shared_ptr<Job>>::iterator position_;
  uint32_t engine_ = 0;                  // That runs it.
  AnswerGrant answer_;                   // Its room, from before it runs until its answer has gone.
  AnswerConnection* held_by_ = nullptr;  // Whose answers it waits behind.
  // The lane's own, while it runs the job: what the job ends with.
  absl::Status outcome_;
};

using JobList = std::list<std::shared_ptr<Job>>;

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_SCHEDULING_JOB_H_
