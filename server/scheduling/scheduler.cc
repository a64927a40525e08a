#include "server/scheduling/scheduler.h"

#include <algorithm>
#include <utility>

#include "server/base/error_reason.h"
#include "server/scheduling/job_admission.h"

namespace gridfold::server {

namespace {

using std::chrono::nanoseconds;

}  // namespace

absl::StatusOr<std::unique_ptr<Scheduler>> Scheduler::Create(
    const std::vector<kernels::Engine*>& engines, SchedulerOptions options) {
  std::unique_ptr<Scheduler> scheduler(new Scheduler(engines, std::move(options)));
  const Limits& limits = scheduler->options_.limits;
  for (uint32_t engine = 0; engine < engines.size(); ++engine) {
    for (uint32_t i = 0; i < limits.lane_count; ++i) {
      absl::StatusOr<std::unique_ptr<kernels::Lane>> lane =
          engines[engine]->CreateLane(limits.lane());
      if (!lane.ok()) return lane.status();
      auto& thread = scheduler->lanes_.emplace_back(std::make_unique<LaneThread>(engine));
      thread->lane = *std::move(lane);
      scheduler->engines_[engine].idle.push_back(thread.get());
    }
  }
  for (const std::unique_ptr<LaneThread>& lane : scheduler->lanes_) {
    lane->thread = std::thread([&self = *scheduler, &lane = *lane] { self.RunLane(lane); });
  }
  return scheduler;
}

Scheduler::Scheduler(const std::vector<kernels::Engine*>& engines, SchedulerOptions options)
    : options_(std::move(options)),
      queue_(static_cast<uint32_t>(engines.size()), options_.tenant_weights,
             options_.limits.answer_bytes_max) {
  const uint32_t lane_count = options_.limits.lane_count;
  for (kernels::Engine* const engine : engines) {
    engines_.push_back({.engine = engine, .statistics = {.lane_count = lane_count}, .idle = {}});
    engines_.back().idle.reserve(lane_count);
    statistics_.lane_count += lane_count;
  }
}

Scheduler::~Scheduler() {
  StopAll();
  {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return unfinished_ == 0; });
    shutting_down_ = true;
  }
  for (const std::unique_ptr<LaneThread>& lane : lanes_) {
    lane->wake.notify_one();
    if (lane->thread.joinable()) lane->thread.join();
  }
}

absl::Status Scheduler::Submit(std::shared_ptr<Job> job) {
  Job& accepted = *job;
  JobList entry;
  entry.push_back(std::move(job));
  std::optional<JobRefusal> refusal;
  LaneThread* lane = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const JobClock::time_point now = options_.now();
    accepted.cost_ = EstimateCost(accepted.work_, now);
    refusal = CheckAdmission(accepted.work_, accepted.cost_, now);
    if (!refusal) {
      lane = Accept(entry, now);
      if (has_resumed_) StartResumed();
    }
  }
  if (refusal) return refusal->ToStatus(options_.limits);
  if (lane != nullptr) lane->wake.notify_one();
  return absl::OkStatus();
}

absl::Status Scheduler::SubmitTogether(const std::vector<std::shared_ptr<Job>>& jobs) {
  std::vector<JobList> entries(jobs.size());
  for (size_t i = 0; i < jobs.size(); ++i) entries[i].push_back(jobs[i]);
  std::vector<LaneThread*> called;
  called.reserve(jobs.size());
  std::optional<JobRefusal> refusal;
  {
    const std::lock_guard lock(mutex_);
    const JobClock::time_point now = options_.now();
    for (size_t i = 0; i < jobs.size() && !refusal; ++i) {
      Job& job = *jobs[i];
      job.cost_ = EstimateCost(job.work_, now);
      refusal = CheckAdmission(job.work_, job.cost_, now, jobs.size());
    }
    for (size_t i = 0; i < jobs.size() && !refusal; ++i) {
      LaneThread* const lane = Accept(entries[i], now);
      if (lane != nullptr) called.push_back(lane);
    }
    if (has_resumed_) StartResumed();
  }
  if (refusal) return refusal->ToStatus(options_.limits);
  for (LaneThread* const lane : called) lane->wake.notify_one();
  return absl::OkStatus();
}

// The lane that has the job now, and is to be woken up; null where the job waits.
Scheduler::LaneThread* Scheduler::Accept(JobList& entry, JobClock::time_point now) {
  Job& job = *entry.front();
  EngineLanes* const engine = IdleEngineFor(job.work_);
  queue_.Push(entry);
  job.state_ = Job::State::kQueued;
  job.accepted_at_ = now;
  ++statistics_.accepted;
  ++unfinished_;
  LaneThread* const lane = engine == nullptr ? nullptr : StartOn(*engine);
  if (lane == nullptr) {
    const Backlog& backlog = queue_.backlog();
    statistics_.queued_high_water = std::max(statistics_.queued_high_water, backlog.jobs);
    statistics_.queued_bytes_high_water =
        std::max(statistics_.queued_bytes_high_water, backlog.bytes);
  }
  return lane;
}

// Gives a lane of the engine its next job; null where no job may run there now.
Scheduler::LaneThread* Scheduler::StartOn(EngineLanes& engine) {
  LaneThread& lane = LeaveIdle(engine);
  if (!TakeNext(lane)) {
    engine.idle.push_back(&lane);
    return nullptr;
  }
  lane.called.store(true, std::memory_order_relaxed);
  return &lane;
}

// Jobs that waited for room, not for a lane, find the lanes asleep. Others may get room while lanes
// take these.
void Scheduler::StartResumed() {
  do {
    has_resumed_ = false;
    for (EngineLanes& engine : engines_) {
      while (!engine.idle.empty()) {
        LaneThread* const lane = StartOn(engine);
        if (lane == nullptr) break;
        lane->wake.notify_one();
      }
    }
  } while (has_resumed_);
}

std::optional<AnswerGrant> Scheduler::TakeAnswerRoom(const AnswerSource& source, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  std::optional<AnswerGrant> grant = queue_.TakeAnswerRoom(source, bytes);
  if (!grant) ++statistics_.answers_refused;
  return grant;
}

// Most answers are small, and no job waits for room.
void Scheduler::GiveBackAnswerRoom(AnswerGrant& grant) {
  if (queue_.GiveBackSmall(grant) && queue_.answers().waiting_jobs() == 0) return;
  const std::lock_guard lock(mutex_);
  if (queue_.GiveBackAnswerRoom(grant)) StartResumed();
}

void Scheduler::ShrinkAnswer(Job& job, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  queue_.ShrinkAnswer(job, bytes);
  if (queue_.ResumeReady()) StartResumed();
}

void Scheduler::GiveBackAnswerRoom(Job& job) { GiveBackAnswerRoom(job.answer_); }

absl::Status Scheduler::CheckAdmission(const JobWork& work) {
  std::optional<JobRefusal> refusal;
  {
    const std::lock_guard lock(mutex_);
    const JobClock::time_point now = options_.now();
    refusal = CheckAdmission(work, EstimateCost(work, now), now);
  }
  return refusal ? refusal->ToStatus(options_.limits) : absl::OkStatus();
}

std::optional<JobRefusal> Scheduler::CheckAdmission(const JobWork& work, nanoseconds cost,
                                                    JobClock::time_point now, uint64_t job_count) {
  const AdmissionFacts facts{
      .now = now,
      .cost = cost,
      .job_count = job_count,
      .is_draining = draining_,
      .lane_count = LanesFor(work),
      .lane_is_idle = IdleEngineFor(work) != nullptr && queue_.HasAnswerRoom(work),
      .pace = deadlines_.pace(),
      .wait_part = deadlines_.wait_part()};
  std::optional<JobRefusal> refusal = FindRefusal(work, facts, queue_, options_.limits);
  if (refusal) statistics_.refused.Count(refusal->cause);
  return refusal;
}

nanoseconds Scheduler::EstimateCost(const JobWork& work, JobClock::time_point now) const {
  return costs_.Estimate(work.rpc, work.payload_bytes + work.resident_bytes, now)
      .value_or(nanoseconds(0));
}

// That may run it now or later; 0 where the engine that it needs is lost, or all are.
uint32_t Scheduler::LanesFor(const JobWork& work) const {
  uint32_t lanes = 0;
  for (uint32_t engine = 0; engine < engines_.size(); ++engine) {
    const EngineStatistics& statistics = engines_[engine].statistics;
    if (!statistics.lost && work.engine.value_or(engine) == engine) lanes += statistics.lane_count;
  }
  return lanes;
}

// The engine with an idle lane that is to run it; null where it has to wait. That is the least
// loaded one, but for small jobs: they go where others are, and wait there as long as these fill
// all lanes, since jobs that share a launch take one engine less time than several engines take
// with a launch for each job.
Scheduler::EngineLanes* Scheduler::IdleEngineFor(const JobWork& work) {
  if (work.engine) {
    EngineLanes& needed = engines_[*work.engine];
    return needed.idle.empty() ? nullptr : &needed;
  }
  if (EngineLanes* const small = work.batchable ? EngineOfSmallJobs() : nullptr) {
    if (!small->idle.empty()) return small;
    const uint64_t lanes = small->statistics.lane_count;
    const uint64_t jobs_max =
        std::min(lanes * kJobBatchJobsMax, options_.limits.queued_jobs_max / 2);
    if (small->lanes_of_small_jobs == lanes && queue_.backlog().jobs < jobs_max) return nullptr;
  }
  EngineLanes& engine = *std::max_element(
      engines_.begin(), engines_.end(),
      [](const EngineLanes& a, const EngineLanes& b) { return a.idle.size() < b.idle.size(); });
  return engine.idle.empty() ? nullptr : &engine;
}

// The first engine that runs a small job; null where none does.
Scheduler::EngineLanes* Scheduler::EngineOfSmallJobs() {
  const auto engine =
      std::find_if(engines_.begin(), engines_.end(), [](const EngineLanes& candidate) {
        return candidate.lanes_of_small_jobs > 0 && !candidate.statistics.lost;
      });
  return engine == engines_.end() ? nullptr : &*engine;
}

// The lane that was last at work, whose caches are warm, of those that look for a job; else of
// those that sleep, rather than one that is still telling the caller of its last job.
Scheduler::LaneThread& Scheduler::LeaveIdle(EngineLanes& engine) {
  const auto last = [&engine](bool LaneThread::*is) {
    return std::find_if(engine.idle.rbegin(), engine.idle.rend(),
                        [is](const LaneThread* candidate) { return candidate->*is; });
  };
  auto lane = last(&LaneThread::looks);
  if (lane == engine.idle.rend()) lane = last(&LaneThread::ready);
  if (lane == engine.idle.rend()) lane = engine.idle.rbegin();
  LaneThread& left = **lane;
  engine.idle.erase(std::next(lane).base());
  return left;
}

void Scheduler::Cancel(const std::shared_ptr<Job>& job) {
  absl::Status status;
  JobList removed;
  {
    const std::lock_guard lock(mutex_);
    if (job->state_ == Job::State::kNew || job->state_ == Job::State::kDone) return;
    if (job->stop_cause_ == Job::StopCause::kNone) job->stop_cause_ = Job::StopCause::kCaller;
    if (job->state_ == Job::State::kQueued) {
      queue_.Remove(*job, removed);
      status = FinalStatus(*job, absl::CancelledError());
      End(*job, status);
      if (queue_.ResumeReady() || has_resumed_) StartResumed();
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
    queue_.RemoveAll(dropped);
    for (const std::shared_ptr<Job>& job : dropped) job->stop_cause_ = Job::StopCause::kShutdown;
    EndAll(dropped, Draining());
    for (const std::unique_ptr<LaneThread>& lane : lanes_) {
      for (const std::shared_ptr<Job>& job : lane->jobs) {
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
  SchedulerStatistics statistics;
  statistics.engines.reserve(engines_.size());
  const std::lock_guard lock(mutex_);
  std::vector<EngineStatistics> engines = std::move(statistics.engines);
  for (const EngineLanes& engine : engines_) engines.push_back(engine.statistics);
  statistics = statistics_;
  statistics.engines = std::move(engines);
  statistics.queued = queue_.backlog().jobs;
  statistics.queued_bytes = queue_.backlog().bytes;
  statistics.answer_bytes = queue_.answers().taken_bytes();
  statistics.answer_bytes_high_water = queue_.answers().taken_bytes_high_water();
  statistics.queued_for_answers = queue_.answers().waiting_jobs();
  return statistics;
}

// Lanes know only that they were stopped; here it is said why.
absl::Status Scheduler::FinalStatus(const Job& job, absl::Status status) const {
  if (!absl::IsCancelled(status)) return status;
  if (job.stop_cause_ == Job::StopCause::kShutdown) return Draining();
  if (job.work_.deadline <= options_.now()) return DeadlinePassed();
  return CancelledByCaller();
}

void Scheduler::EndAll(const JobList& jobs, const absl::Status& status) {
  for (const std::shared_ptr<Job>& job : jobs) End(*job, status);
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
  if (!status.ok()) has_resumed_ |= queue_.GiveBackAnswerRoom(job);
}

void Scheduler::Finish(Job& job, const absl::Status& status) {
  job.work_.finish(status);
  const std::lock_guard lock(mutex_);
  if (--unfinished_ == 0) idle_.notify_all();
}

}  // namespace gridfold::server
