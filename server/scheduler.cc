#include "server/scheduler.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/error_reason.h"
#include "server/exception_guard.h"

namespace gridfold::server {

namespace {

absl::Status QueueFull(absl::string_view what) {
  return WithRetryDelay(
      WithReason(absl::ResourceExhaustedError(absl::StrCat("the queue is full: ", what)),
                 kReasonQueueFull),
      kRetryDelay);
}

absl::Status Draining() {
  return WithReason(absl::UnavailableError("the server is stopping"), kReasonDraining);
}

absl::Status EngineLost() {
  return WithReason(absl::UnavailableError("the engine has failed and needs a restart"),
                    kReasonEngineLost);
}

absl::Status DeadlinePassed() {
  return absl::DeadlineExceededError("the deadline passed before the job was complete");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Scheduler>> Scheduler::Create(kernels::Engine& engine,
                                                             SchedulerOptions options) {
  std::unique_ptr<Scheduler> scheduler(new Scheduler(engine, std::move(options)));
  const Limits& limits = scheduler->options_.limits;
  for (uint32_t i = 0; i < limits.lane_count; ++i) {
    absl::StatusOr<std::unique_ptr<kernels::Lane>> lane = engine.CreateLane(limits.lane());
    if (!lane.ok()) return lane.status();
    scheduler->lanes_.push_back(*std::move(lane));
  }
  scheduler->statistics_.lane_count = limits.lane_count;
  for (const std::unique_ptr<kernels::Lane>& lane : scheduler->lanes_) {
    scheduler->threads_.emplace_back([&self = *scheduler, &lane = *lane] { self.RunLane(lane); });
  }
  return scheduler;
}

Scheduler::Scheduler(const kernels::Engine& engine, SchedulerOptions options)
    : engine_(engine), options_(std::move(options)) {}

Scheduler::~Scheduler() {
  StopAll();
  {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return unfinished_ == 0; });
    shutting_down_ = true;
  }
  work_available_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

absl::Status Scheduler::Submit(std::shared_ptr<Job> job) {
  {
    const std::lock_guard lock(mutex_);
    const uint64_t payload_bytes = job->work_.payload_bytes;
    if (absl::Status status = AdmissionStatus(job->work_); !status.ok()) return status;
    const bool lane_is_idle = statistics_.lanes_busy < statistics_.lane_count;
    JobList& list = lane_is_idle ? starting_ : queued_;
    Job& accepted = *job;
    // First what may throw, so that nothing is half done.
    accepted.position_ = list.insert(list.end(), std::move(job));
    accepted.state_ = lane_is_idle ? Job::State::kRunning : Job::State::kQueued;
    accepted.accepted_at_ = options_.now();
    ++statistics_.accepted;
    ++unfinished_;
    if (lane_is_idle) {
      ++statistics_.lanes_busy;
      statistics_.lanes_busy_high_water =
          std::max(statistics_.lanes_busy_high_water, statistics_.lanes_busy);
    } else {
      ++statistics_.queued;
      statistics_.queued_bytes += payload_bytes;
      statistics_.queued_high_water = std::max(statistics_.queued_high_water, statistics_.queued);
      statistics_.queued_bytes_high_water =
          std::max(statistics_.queued_bytes_high_water, statistics_.queued_bytes);
    }
  }
  work_available_.notify_one();
  return absl::OkStatus();
}

absl::Status Scheduler::CheckAdmission(const JobWork& work) {
  const std::lock_guard lock(mutex_);
  return AdmissionStatus(work);
}

absl::Status Scheduler::AdmissionStatus(const JobWork& work) {
  RefusedJobs& refused = statistics_.refused;
  if (draining_) {
    ++refused.draining;
    return Draining();
  }
  if (engine_lost_) {
    ++refused.engine_lost;
    return EngineLost();
  }
  if (work.deadline <= options_.now()) {
    ++refused.deadline;
    return DeadlinePassed();
  }
  if (statistics_.lanes_busy < statistics_.lane_count) return absl::OkStatus();
  const Limits& limits = options_.limits;
  if (statistics_.queued >= limits.queued_jobs_max) {
    ++refused.queue_jobs;
    return QueueFull(absl::StrCat(limits.queued_jobs_max, " jobs are waiting"));
  }
  if (work.payload_bytes > limits.queued_bytes_max - statistics_.queued_bytes) {
    ++refused.queue_bytes;
    return QueueFull(absl::StrCat("of ", limits.queued_bytes_max, " bytes that may wait, ",
                                  statistics_.queued_bytes, " are taken"));
  }
  return absl::OkStatus();
}

void Scheduler::Cancel(const std::shared_ptr<Job>& job) {
  absl::Status status;
  {
    const std::lock_guard lock(mutex_);
    if (job->state_ == Job::State::kNew || job->state_ == Job::State::kDone) return;
    if (job->stop_cause_ == Job::StopCause::kNone) job->stop_cause_ = Job::StopCause::kCaller;
    if (job->state_ == Job::State::kQueued) {
      JobList removed;
      LeaveQueue(*job, removed);
      status = FinalStatus(*job, absl::CancelledError());
      End(*job, status);
    }
  }
  if (status.ok()) {
    job->stop_source_.request_stop();
  } else {
    Finish(*job, status);
  }
}

void Scheduler::BeginDrain() {
  const std::lock_guard lock(mutex_);
  draining_ = true;
}

void Scheduler::StopAll() {
  JobList dropped;
  std::vector<std::stop_source> stop_sources;
  {
    const std::lock_guard lock(mutex_);
    draining_ = true;
    while (!queued_.empty()) {
      Job& job = *queued_.front();
      job.stop_cause_ = Job::StopCause::kShutdown;
      LeaveQueue(job, dropped);
      End(job, Draining());
    }
    for (const JobList* list : {&starting_, &running_}) {
      for (const std::shared_ptr<Job>& job : *list) {
        if (job->stop_cause_ == Job::StopCause::kNone) job->stop_cause_ = Job::StopCause::kShutdown;
        stop_sources.push_back(job->stop_source_);
      }
    }
  }
  for (std::stop_source& stop_source : stop_sources) stop_source.request_stop();
  for (const std::shared_ptr<Job>& job : dropped) Finish(*job, Draining());
}

bool Scheduler::WaitUntilIdle(std::chrono::nanoseconds timeout) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, timeout, [this] { return unfinished_ == 0; });
}

SchedulerStatistics Scheduler::GetStatistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

void Scheduler::RunLane(kernels::Lane& lane) {
  while (std::shared_ptr<Job> job = TakeStarting()) {
    while (job != nullptr) {
      absl::Status status = RunJob(*job, lane);
      CheckEngine();
      job = CompleteAndTakeNext(job, std::move(status));
    }
  }
}

// The next job for an idle lane; none when there will be no more.
std::shared_ptr<Job> Scheduler::TakeStarting() {
  std::unique_lock lock(mutex_);
  work_available_.wait(lock, [this] { return shutting_down_ || !starting_.empty(); });
  if (starting_.empty()) return nullptr;
  running_.splice(running_.end(), starting_, starting_.begin());
  return running_.back();
}

absl::Status Scheduler::RunJob(Job& job, kernels::Lane& lane) {
  std::chrono::nanoseconds queue_time;
  {
    const std::lock_guard lock(mutex_);
    if (absl::Status status = ReasonNotToRun(job); !status.ok()) return status;
    queue_time = options_.now() - job.accepted_at_;
  }
  // No exception of a job may end the program, nor cost another job anything.
  return CatchExceptions([&] {
    return job.work_.run({lane, job.stop_source_.get_token(), queue_time});
  });
}

absl::Status Scheduler::ReasonNotToRun(const Job& job) const {
  if (job.stop_cause_ != Job::StopCause::kNone) return absl::CancelledError();
  if (engine_lost_) return EngineLost();
  if (job.work_.deadline <= options_.now()) return DeadlinePassed();
  return absl::OkStatus();
}

void Scheduler::CheckEngine() {
  if (engine_.Healthy()) return;
  {
    const std::lock_guard lock(mutex_);
    if (engine_lost_) return;
    engine_lost_ = true;
  }
  options_.on_engine_lost();
}

// The lane is free for other jobs before the caller hears of this one, so that a caller who asks
// again at once does not find its own last job in the way.
std::shared_ptr<Job> Scheduler::CompleteAndTakeNext(const std::shared_ptr<Job>& job,
                                                    absl::Status status) {
  std::shared_ptr<Job> next;
  {
    const std::lock_guard lock(mutex_);
    status = FinalStatus(*job, std::move(status));
    running_.erase(job->position_);
    --statistics_.lanes_busy;
    End(*job, status);
    if (!queued_.empty()) {
      next = queued_.front();
      LeaveQueue(*next, running_);
      next->state_ = Job::State::kRunning;
      ++statistics_.lanes_busy;
    }
  }
  Finish(*job, status);
  return next;
}

// Lanes know only that they were stopped; here it is said why.
absl::Status Scheduler::FinalStatus(const Job& job, absl::Status status) const {
  if (!absl::IsCancelled(status)) return status;
  if (job.stop_cause_ == Job::StopCause::kShutdown) return Draining();
  if (job.work_.deadline <= options_.now()) return DeadlinePassed();
  return CancelledByCaller();
}

void Scheduler::LeaveQueue(Job& job, JobList& to) {
  to.splice(to.end(), queued_, job.position_);
  --statistics_.queued;
  statistics_.queued_bytes -= job.work_.payload_bytes;
}

void Scheduler::End(Job& job, const absl::Status& status) {
  job.state_ = Job::State::kDone;
  if (status.ok()) {
    ++statistics_.succeeded;
    statistics_.bytes_processed += job.work_.payload_bytes;
  } else if (absl::IsCancelled(status)) {
    ++statistics_.cancelled.caller;
  } else if (absl::IsDeadlineExceeded(status)) {
    ++statistics_.cancelled.deadline;
  } else if (absl::IsUnavailable(status) && job.stop_cause_ == Job::StopCause::kShutdown) {
    ++statistics_.cancelled.shutdown;
  } else {
    ++statistics_.failed;
  }
}

void Scheduler::Finish(Job& job, const absl::Status& status) {
  job.work_.finish(status);
  const std::lock_guard lock(mutex_);
  if (--unfinished_ == 0) idle_.notify_all();
}

}  // namespace gridfold::server
