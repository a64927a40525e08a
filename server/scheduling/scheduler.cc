#include "server/scheduling/scheduler.h"

#include <algorithm>
#include <utility>

#include "server/base/error_reason.h"
#include "server/base/exception_guard.h"
#include "server/scheduling/job_admission.h"

namespace gridfold::server {

namespace {

using std::chrono::nanoseconds;

// Leaves the core to whoever shares it, for some hundred nanoseconds.
void Pause() {
#ifdef __x86_64__
  for (int i = 0; i < 8; ++i) __builtin_ia32_pause();
#endif
}

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
      EngineLanes* const engine = IdleEngineFor(accepted.work_);
      queue_.Push(entry);
      accepted.state_ = Job::State::kQueued;
      accepted.accepted_at_ = now;
      ++statistics_.accepted;
      ++unfinished_;
      if (engine != nullptr) {
        lane = StartOn(*engine);
      }
      if (lane == nullptr) {
        const Backlog& backlog = queue_.backlog();
        statistics_.queued_high_water = std::max(statistics_.queued_high_water, backlog.jobs);
        statistics_.queued_bytes_high_water =
            std::max(statistics_.queued_bytes_high_water, backlog.bytes);
      }
    }
  }
  if (refusal) return refusal->ToStatus(options_.limits);
  if (lane != nullptr) lane->wake.notify_one();
  return absl::OkStatus();
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

// Jobs that waited for room, not for a lane, find the lanes asleep.
void Scheduler::StartResumed() {
  for (EngineLanes& engine : engines_) {
    while (!engine.idle.empty()) {
      LaneThread* const lane = StartOn(engine);
      if (lane == nullptr) break;
      lane->wake.notify_one();
    }
  }
}

std::optional<AnswerGrant> Scheduler::TakeAnswerRoom(const AnswerSource& source, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  std::optional<AnswerGrant> grant = queue_.TakeAnswerRoom(source, bytes);
  if (!grant) ++statistics_.answers_refused;
  return grant;
}

void Scheduler::GiveBackAnswerRoom(AnswerGrant& grant) {
  const std::lock_guard lock(mutex_);
  if (queue_.GiveBackAnswerRoom(grant)) StartResumed();
}

void Scheduler::ShrinkAnswer(Job& job, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  queue_.ShrinkAnswer(job, bytes);
  if (queue_.ResumeReady()) StartResumed();
}

void Scheduler::GiveBackAnswerRoom(Job& job) {
  const std::lock_guard lock(mutex_);
  if (queue_.GiveBackAnswerRoom(job)) StartResumed();
}

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
                                                    JobClock::time_point now) {
  const AdmissionFacts facts{
      .now = now,
      .cost = cost,
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

// The least loaded engine with an idle lane that may run it; null where there is none.
Scheduler::EngineLanes* Scheduler::IdleEngineFor(const JobWork& work) {
  if (work.engine) {
    EngineLanes& needed = engines_[*work.engine];
    return needed.idle.empty() ? nullptr : &needed;
  }
  EngineLanes& engine = *std::max_element(
      engines_.begin(), engines_.end(),
      [](const EngineLanes& a, const EngineLanes& b) { return a.idle.size() < b.idle.size(); });
  return engine.idle.empty() ? nullptr : &engine;
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
      const bool has_resumed = std::exchange(has_resumed_, false);
      if (queue_.ResumeReady() || has_resumed) StartResumed();
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

void Scheduler::RunLane(LaneThread& lane) {
  while (WaitForJob(lane)) {
    bool goes_on = true;
    while (goes_on) {
      StartJobs(lane);
      RunJobs(lane);
      CheckEngine(lane.engine);
      goes_on = CompleteAndTakeNext(lane);
    }
  }
}

// False when there will be no more.
bool Scheduler::WaitForJob(LaneThread& lane) {
  lane.busy_since.reset();
  std::unique_lock lock(mutex_);
  lane.ready = true;
  lane.looks = options_.lane_spin > nanoseconds(0);
  while (lane.looks) {
    lock.unlock();
    LookForJob(lane);
    lock.lock();
    lane.looks = lane.jobs.empty() && LooksOn(lane);
  }
  lane.wake.wait(lock, [&] { return shutting_down_ || !lane.jobs.empty(); });
  lane.ready = false;
  lane.called.store(false, std::memory_order_relaxed);
  return !lane.jobs.empty();
}

// Spares a job that comes soon the time that it takes to wake a thread.
void Scheduler::LookForJob(const LaneThread& lane) const {
  const auto end = std::chrono::steady_clock::now() + options_.lane_spin;
  while (!lane.called.load(std::memory_order_relaxed) && std::chrono::steady_clock::now() < end) {
    Pause();
  }
}

// Whether a lane that has found no job goes on: one does while its engine is at work.
bool Scheduler::LooksOn(const LaneThread& lane) const {
  const EngineLanes& engine = engines_[lane.engine];
  return !shutting_down_ && engine.statistics.lanes_busy > 0 &&
         std::none_of(engine.idle.begin(), engine.idle.end(),
                      [&lane](const LaneThread* other) { return other != &lane && other->looks; });
}

// Those that came while the lane was waking up, or telling its last callers, can still share.
void Scheduler::StartJobs(LaneThread& lane) {
  lane.started.clear();
  const std::lock_guard lock(mutex_);
  TakeAlike(lane);
  const JobClock::time_point now = options_.now();
  for (const std::shared_ptr<Job>& job : lane.jobs) {
    job->outcome_ = ReasonNotToRun(*job, now);
    if (!job->outcome_.ok()) continue;
    job->started_at_ = now;
    lane.started.push_back(job.get());
  }
  LearnPace(lane, now);
  if (lane.started.size() > 1) {
    ++statistics_.batches;
    statistics_.batched_jobs += lane.started.size();
  }
}

// A lane's pace is learnt from one start to the next: what was dropped between counts before it.
void Scheduler::LearnPace(LaneThread& lane, JobClock::time_point now) {
  if (lane.started.empty()) return;
  if (lane.busy_since) deadlines_.LearnLane(lane.cost, now - *lane.busy_since);
  lane.busy_since = now;
  lane.cost = nanoseconds(0);
  for (const Job* const job : lane.started) lane.cost += job->cost_;
}

void Scheduler::RunJobs(LaneThread& lane) {
  if (lane.started.size() == 1) {
    Job& job = *lane.started.front();
    // No exception of a job may end the program, nor cost another job anything.
    job.outcome_ = CatchExceptions([&] {
      return job.work_.run(
          {*lane.lane, job.stop_source_.get_token(), job.started_at_ - job.accepted_at_});
    });
    return;
  }
  lane.batch.clear();
  for (Job* const job : lane.started) {
    lane.batch.push_back({&*job->work_.batchable, job->stop_source_.get_token(),
                          job->started_at_ - job->accepted_at_, &job->outcome_});
  }
  RunTogether(lane.batch, *lane.lane);
}

absl::Status Scheduler::ReasonNotToRun(const Job& job, JobClock::time_point now) const {
  if (job.stop_cause_ != Job::StopCause::kNone) return absl::CancelledError();
  if (engines_[job.engine_].statistics.lost) return EngineLost();
  if (job.work_.deadline == JobClock::time_point::max()) return absl::OkStatus();
  if (job.work_.deadline <= now) return DeadlinePassed();
  // Where others wait, one that would probably be late costs one that could be in time.
  const nanoseconds cost = EstimateCost(job.work_, now);
  const nanoseconds time_needed =
      queue_.backlog().jobs > 0 ? cost : nanoseconds(cost / kDeadlineOptimism);
  return job.work_.deadline - now < time_needed ? DeadlineUnmeetable(time_needed)
                                                : absl::OkStatus();
}

// Jobs that may run elsewhere stay in the queue while there is an elsewhere.
void Scheduler::CheckEngine(uint32_t index) {
  EngineLanes& engine = engines_[index];
  if (engine.engine->Healthy()) return;
  JobList dropped;
  bool none_is_left = false;
  {
    const std::lock_guard lock(mutex_);
    if (engine.statistics.lost) return;
    engine.statistics.lost = true;
    engine.idle.clear();
    none_is_left = AllEnginesLost();
    if (none_is_left) {
      queue_.RemoveAll(dropped);
    } else {
      queue_.RemoveNeeding(index, dropped);
    }
    EndAll(dropped, EngineLost());
    has_resumed_ = false;
    StartResumed();
  }
  options_.on_engine_lost(index, none_is_left);
  for (const std::shared_ptr<Job>& job : dropped) Finish(*job, EngineLost());
}

bool Scheduler::AllEnginesLost() const {
  return std::all_of(engines_.begin(), engines_.end(),
                     [](const EngineLanes& engine) { return engine.statistics.lost; });
}

// The lane is free for other jobs before the caller hears of this one, so that a caller who asks
// again at once does not find its own last job in the way. False where the lane has none.
bool Scheduler::CompleteAndTakeNext(LaneThread& lane) {
  JobList completed;
  bool has_next = false;
  {
    const std::lock_guard lock(mutex_);
    completed.splice(completed.end(), lane.jobs);
    CompleteAll(lane, completed);
    --statistics_.lanes_busy;
    --engines_[lane.engine].statistics.lanes_busy;
    if (completed.size() == 1) has_next = GoOn(lane);
    if (std::exchange(has_resumed_, false)) StartResumed();
  }
  for (const std::shared_ptr<Job>& job : completed) Finish(*job, job->outcome_);
  if (completed.size() > 1) {
    // Telling so many callers takes a while, in which another lane may take the next job.
    const std::lock_guard lock(mutex_);
    has_next = GoOn(lane);
  }
  return has_next;
}

// The jobs that shared a launch are charged for its time in equal parts, to the nanosecond: what
// does not divide is the first ones'. A job that was dropped used no lane, and pays no more than
// every job does.
void Scheduler::CompleteAll(const LaneThread& lane, const JobList& jobs) {
  const JobClock::time_point now = options_.now();
  const auto sharers = static_cast<int64_t>(lane.started.size());
  nanoseconds part(0);
  nanoseconds rest(0);
  if (sharers > 0) {
    const nanoseconds taken =
        std::max<nanoseconds>(now - lane.started[0]->started_at_, kJobCostMin);
    part = taken / sharers;
    rest = taken % sharers;
  }
  for (const std::shared_ptr<Job>& job : jobs) {
    if (job->started_at_ == JobClock::time_point::max()) {
      Complete(*job, kJobCostMin, now);
      continue;
    }
    const nanoseconds extra = std::min(rest, nanoseconds(1));
    rest -= extra;
    statistics_.lane_time += part + extra;
    Complete(*job, part + extra, now);
  }
}

// A job whose turn came ends, and has used so much of its lane's time.
void Scheduler::Complete(Job& job, nanoseconds used, JobClock::time_point now) {
  if (job.outcome_.ok()) {
    costs_.Learn(job.work_.rpc, job.work_.payload_bytes + job.work_.resident_bytes, used, now);
  }
  queue_.Settle(job, used);
  if (job.started_at_ < now) LearnEnd(job, now);
  job.outcome_ = FinalStatus(job, std::move(job.outcome_));
  --statistics_.running;
  End(job, job.outcome_);
}

// Of a job that waited for a good part of its time: whether it was worth running.
void Scheduler::LearnEnd(const Job& job, JobClock::time_point now) {
  if (job.work_.deadline == JobClock::time_point::max()) return;
  const nanoseconds time = job.work_.deadline - job.accepted_at_;
  if (job.started_at_ - job.accepted_at_ < time / kDeadlineWaitPart) return;
  // A caller gives up a little before the deadline that the server knows of.
  const bool gave_up = job.stop_cause_ == Job::StopCause::kCaller;
  deadlines_.LearnEnd(job.work_.deadline > now && !gave_up);
}

// Takes the lane's next job. False where the lane has none.
bool Scheduler::GoOn(LaneThread& lane) {
  if (TakeNext(lane)) return true;
  EngineLanes& engine = engines_[lane.engine];
  if (!engine.statistics.lost) engine.idle.push_back(&lane);
  return false;
}

// The job that is next on this lane, which has none; none where the queue has nothing for it.
bool Scheduler::TakeNext(LaneThread& lane) {
  EngineStatistics& engine = engines_[lane.engine].statistics;
  if (engine.lost || !queue_.Take(lane.engine, lane.jobs)) return false;
  lane.jobs.back()->state_ = Job::State::kRunning;
  ++engine.lanes_busy;
  ++statistics_.lanes_busy;
  ++statistics_.running;
  statistics_.lanes_busy_high_water =
      std::max(statistics_.lanes_busy_high_water, statistics_.lanes_busy);
  return true;
}

// Further jobs that may share the launch of the lane's job.
void Scheduler::TakeAlike(LaneThread& lane) {
  if (engines_[lane.engine].statistics.lost) return;
  const uint64_t bytes_max = std::min(kJobBatchBytesMax, options_.limits.message_bytes_max);
  uint64_t bytes = lane.jobs.front()->work_.payload_bytes;
  while (bytes < bytes_max && lane.jobs.size() < kJobBatchJobsMax &&
         queue_.TakeAlike(*lane.jobs.back(), bytes_max - bytes, lane.jobs)) {
    Job& job = *lane.jobs.back();
    job.state_ = Job::State::kRunning;
    bytes += job.work_.payload_bytes;
    ++statistics_.running;
  }
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
