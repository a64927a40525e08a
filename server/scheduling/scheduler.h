// Gives jobs to the lanes of one or several engines: in turns by tenant, within bounds.
//
// Each lane has a thread, which runs one job after the other and completes it; small jobs that wait
// when their turn comes, and are alike, it runs together, but it never waits for one. A job that
// finds no idle lane that may run it waits in a FairQueue, which says whose turn it is when a lane
// is free. What waits is bounded by the number of jobs and by their bytes, both checked in one step
// (job_admission.h). A job whose deadline cannot be met, as estimated from recent jobs, is refused.
// A job whose answer finds no room among those that have yet to be taken (answer_room.h) waits for
// that, on no lane. A waiting job that is cancelled leaves at once and gives back its place; one
// that cannot be in time any more is dropped before it starts; a running one is asked to stop.
// Every accepted job is finished exactly once. When an engine is lost, its lanes stop, the jobs
// that only it could run fail, and the others go on. Knows neither gRPC nor CUDA.
//
// One mutex guards everything and is held for about a microsecond, or half of one for each job of a
// batch: jobs are run and finished, and refusals put into words, without it.
//
// Thread-safe. The engines must outlive the scheduler.
#ifndef GRIDFOLD_SERVER_SCHEDULING_SCHEDULER_H_
#define GRIDFOLD_SERVER_SCHEDULING_SCHEDULER_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/engine.h"
#include "server/base/answer_grant.h"
#include "server/base/fixed_limits.h"
#include "server/base/limits.h"
#include "server/scheduling/cost_model.h"
#include "server/scheduling/deadline_model.h"
#include "server/scheduling/fair_queue.h"
#include "server/scheduling/job.h"
#include "server/scheduling/job_refusal.h"
#include "server/scheduling/scheduler_statistics.h"

namespace gridfold::server {

struct SchedulerOptions {
  Limits limits;
  std::function<JobClock::time_point()> now = JobClock::now;
  TenantWeights tenant_weights = {};
  // How long the thread of a lane without a job looks for one before it sleeps; one of an engine
  // looks on while others are at work.
  std::chrono::nanoseconds lane_spin{0};
  // Called once for each engine that is lost, by its place in the list, before the job that met the
  // failure is finished; `none_is_left` with the last one.
  std::function<void(uint32_t engine, bool none_is_left)> on_engine_lost = [](uint32_t, bool) {};
};

class Scheduler {
 public:
  // Makes Limits::lane_count lanes of each engine and starts their threads. Requires an engine.
  // Errors: those of Engine::CreateLane.
  static absl::StatusOr<std::unique_ptr<Scheduler>> Create(
      const std::vector<kernels::Engine*>& engines, SchedulerOptions options);
  // Stops every job and waits for the lanes.
  ~Scheduler();

  // Takes the job, or refuses it and leaves it alone. Errors: UNAVAILABLE while draining or when
  // the engine that it needs, or every engine, is lost; DEADLINE_EXCEEDED where the deadline has
  // passed or cannot be met; RESOURCE_EXHAUSTED with a retry delay when the queue is full, for
  // everybody or for this tenant.
  absl::Status Submit(std::shared_ptr<Job> job);

  // Takes all of these jobs, the parts of one request, or refuses them all and leaves them alone.
  // From then on each is a job like any other: no lane ever waits for another one. Errors: as
  // above, of the first that would be refused.
  absl::Status SubmitTogether(const std::vector<std::shared_ptr<Job>>& jobs);

  // What Submit would return now for a job with this work, whose `run` and `finish` may be missing:
  // spares preparing a job that would be refused.
  absl::Status CheckAdmission(const JobWork& work);

  // Room for an answer that is made without a job, as server/scheduling/answer_room.h shares it;
  // none where there is not as much.
  std::optional<AnswerGrant> TakeAnswerRoom(const AnswerSource& source, uint64_t bytes);
  void GiveBackAnswerRoom(AnswerGrant& grant);
  // The answer to a job that has run takes only so much of its room.
  void ShrinkAnswer(Job& job, uint64_t bytes);
  // The answer to the job, which has finished or was refused, has gone. Does nothing where the job
  // has failed: there is none.
  void GiveBackAnswerRoom(Job& job);

  // Nobody waits for the job any longer. Does nothing to a job that is finished.
  void Cancel(const std::shared_ptr<Job>& job);

  // Refuses new jobs from now on.
  void BeginDrain();

  // Refuses new jobs, drops the waiting ones and asks the running ones to stop.
  void StopAll();

  // Whether all accepted jobs were finished before `timeout` had passed.
  bool WaitUntilIdle(std::chrono::nanoseconds timeout);

  SchedulerStatistics GetStatistics() const;

 private:
  struct LaneThread {
    explicit LaneThread(uint32_t its_engine) : engine(its_engine) {
      started.reserve(kJobBatchJobsMax);
      batch.reserve(kJobBatchJobsMax);
    }

    const uint32_t engine;
    std::unique_ptr<kernels::Lane> lane;
    std::thread thread;
    // Guarded by mutex_.
    JobList jobs;             // What it runs, or will when it has woken up.
    bool ready = false;       // Waiting for a job, not only without one.
    bool looks = false;       // And awake.
    bool runs_small = false;  // A job that may share a launch, alone or with others.
    std::condition_variable wake;
    // Whether it has been given a job, for a thread that looks without the mutex.
    std::atomic<bool> called = false;
    // Its own thread's alone. While it has been at work without a break: since when, and what the
    // jobs that it runs were estimated to cost.
    std::optional<JobClock::time_point> busy_since;
    std::chrono::nanoseconds cost{0};
    // With room for the largest batch from the start.
    std::vector<Job*> started;  // Of `jobs`, those that there is no reason not to run.
    std::vector<BatchedJob> batch;
  };

  struct EngineLanes {
    kernels::Engine* engine;
    // Guarded by mutex_.
    EngineStatistics statistics;
    std::vector<LaneThread*> idle;     // Without a job. None of a lost engine.
    uint32_t lanes_of_small_jobs = 0;  // Those that run one, or several together.
  };

  explicit Scheduler(const std::vector<kernels::Engine*>& engines, SchedulerOptions options);

  void RunLane(LaneThread& lane);
  bool WaitForJob(LaneThread& lane);
  void LookForJob(const LaneThread& lane) const;
  bool LooksOn(const LaneThread& lane) const;
  void StartJobs(LaneThread& lane);
  void RunJobs(LaneThread& lane);
  bool CompleteAndTakeNext(LaneThread& lane);
  void CheckEngine(uint32_t engine);
  void Finish(Job& job, const absl::Status& status);

  // These require `mutex_`.
  std::optional<JobRefusal> CheckAdmission(const JobWork& work, std::chrono::nanoseconds cost,
                                           JobClock::time_point now, uint64_t job_count = 1);
  LaneThread* Accept(JobList& entry, JobClock::time_point now);
  std::chrono::nanoseconds EstimateCost(const JobWork& work, JobClock::time_point now) const;
  uint32_t LanesFor(const JobWork& work) const;
  EngineLanes* IdleEngineFor(const JobWork& work);
  EngineLanes* EngineOfSmallJobs();
  LaneThread& LeaveIdle(EngineLanes& engine);
  bool TakeNext(LaneThread& lane);
  void TakeAlike(LaneThread& lane);
  void LearnPace(LaneThread& lane, JobClock::time_point now);
  void CompleteAll(const LaneThread& lane, const JobList& jobs);
  void Complete(Job& job, std::chrono::nanoseconds used, JobClock::time_point now);
  void LearnEnd(const Job& job, JobClock::time_point now);
  bool GoOn(LaneThread& lane);
  LaneThread* StartOn(EngineLanes& engine);
  void StartResumed();
  absl::Status ReasonNotToRun(const Job& job, JobClock::time_point now) const;
  absl::Status FinalStatus(const Job& job, absl::Status status) const;
  void EndAll(const JobList& jobs, const absl::Status& status);
  void End(Job& job, const absl::Status& status);
  bool AllEnginesLost() const;

  const SchedulerOptions options_;
  std::vector<std::unique_ptr<LaneThread>> lanes_;

  mutable std::mutex mutex_;
  std::condition_variable idle_;
  std::vector<EngineLanes> engines_;
  FairQueue queue_;
  CostModel costs_;
  DeadlineModel deadlines_;
  SchedulerStatistics statistics_;  // But for what `engines_` and `queue_` have.
  uint64_t unfinished_ = 0;         // Accepted jobs whose finish has not returned.
  bool has_resumed_ = false;        // Jobs got room since StartResumed.
  bool draining_ = false;
  bool shutting_down_ = false;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_SCHEDULING_SCHEDULER_H_
