// What the threads of lanes do: they wait for jobs, run them, and learn from them.
#include <algorithm>
#include <utility>

#include "server/base/error_reason.h"
#include "server/base/exception_guard.h"
#include "server/scheduling/scheduler.h"

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

// Whether a job came; false when there will be no more.
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

// Looking for a job for a while spares one that comes soon the time that it takes to wake a thread.
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

// Jobs that came while the lane was waking up, or telling its last callers, can still share.
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
      return job.work_.run({*lane.lane, job.stop_source_.get_token(),
                            job.started_at_ - job.accepted_at_, lane.engine});
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
    if (std::exchange(lane.runs_small, false)) --engines_[lane.engine].lanes_of_small_jobs;
    if (completed.size() == 1) has_next = GoOn(lane);
    if (has_resumed_) StartResumed();
  }
  for (const std::shared_ptr<Job>& job : completed) Finish(*job, job->outcome_);
  if (completed.size() > 1) {
    // Telling so many callers takes a while, in which another lane may take the next job.
    const std::lock_guard lock(mutex_);
    has_next = GoOn(lane);
    if (has_resumed_) StartResumed();
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

// A job that waited for a good part of its time teaches whether it was worth running.
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
  EngineLanes& engine = engines_[lane.engine];
  if (engine.statistics.lost || !queue_.Take(lane.engine, lane.jobs, has_resumed_)) return false;
  lane.jobs.back()->state_ = Job::State::kRunning;
  lane.runs_small = lane.jobs.back()->work_.batchable.has_value();
  if (lane.runs_small) ++engine.lanes_of_small_jobs;
  ++engine.statistics.lanes_busy;
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

}  // namespace gridfold::server
