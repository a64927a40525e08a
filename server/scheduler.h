// Gives jobs to lanes: first come, first served, within bounds.
//
// Each lane has a thread, which runs one job after the other and completes it. A job that finds all
// lanes busy waits in a queue bounded by the number of jobs and by their bytes, both checked in one
// step. A waiting job that is cancelled leaves at once and gives back its place; one whose deadline
// passes is dropped before it starts; a running one is asked to stop. Every accepted job is
// finished exactly once. Knows neither gRPC nor CUDA.
//
// Thread-safe. The engine must outlive the scheduler.
#ifndef GRIDFOLD_SERVER_SCHEDULER_H_
#define GRIDFOLD_SERVER_SCHEDULER_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/engine.h"
#include "server/job.h"
#include "server/limits.h"

namespace gridfold::server {

// Jobs that were not taken, by what stood in the way.
struct RefusedJobs {
  uint64_t queue_jobs = 0;   // So many were waiting already.
  uint64_t queue_bytes = 0;  // With so many bytes.
  uint64_t draining = 0;
  uint64_t engine_lost = 0;
  uint64_t deadline = 0;  // It had passed before the job came.

  uint64_t by_queue() const { return queue_jobs + queue_bytes; }
};

// Jobs that were taken and then dropped or stopped, by why nobody waits for them any more.
struct CancelledJobs {
  uint64_t caller = 0;
  uint64_t deadline = 0;
  uint64_t shutdown = 0;

  uint64_t total() const { return caller + deadline + shutdown; }
};

// What the scheduler has done, and is doing. At any moment
// accepted == succeeded + failed + cancelled.total() + queued + lanes_busy.
struct SchedulerStatistics {
  uint64_t accepted = 0;
  RefusedJobs refused;
  uint64_t succeeded = 0;
  uint64_t failed = 0;
  CancelledJobs cancelled;
  uint64_t bytes_processed = 0;
  uint64_t queued = 0;
  uint64_t queued_bytes = 0;
  uint32_t lanes_busy = 0;
  uint32_t lane_count = 0;
  // The most that there have been at a time.
  uint64_t queued_high_water = 0;
  uint64_t queued_bytes_high_water = 0;
  uint32_t lanes_busy_high_water = 0;
};

struct SchedulerOptions {
  Limits limits;
  std::function<JobClock::time_point()> now = JobClock::now;
  // Called once, before the job that met the failure is finished, when the engine is lost.
  std::function<void()> on_engine_lost = [] {};
};

class Scheduler {
 public:
  // Makes the lanes and starts their threads. Errors: those of Engine::CreateLane.
  static absl::StatusOr<std::unique_ptr<Scheduler>> Create(kernels::Engine& engine,
                                                           SchedulerOptions options);
  // Stops every job and waits for the lanes.
  ~Scheduler();

  // Takes the job, or refuses it and leaves it alone. Errors: UNAVAILABLE while draining or when
  // the engine is lost; DEADLINE_EXCEEDED; RESOURCE_EXHAUSTED with a retry delay when the queue is
  // full.
  absl::Status Submit(std::shared_ptr<Job> job);

  // What Submit would say now to a job with this work, of which `run` and `finish` may be missing:
  // spares preparing one that has no chance.
  absl::Status CheckAdmission(const JobWork& work);

  // Nobody waits for the job any more. Does nothing to a job that is finished.
  void Cancel(const std::shared_ptr<Job>& job);

  // Refuses new jobs from now on.
  void BeginDrain();

  // Refuses new jobs, drops the waiting ones and asks the running ones to stop.
  void StopAll();

  // Whether all accepted jobs were finished before `timeout` had passed.
  bool WaitUntilIdle(std::chrono::nanoseconds timeout);

  SchedulerStatistics GetStatistics() const;

 private:
  using JobList = std::list<std::shared_ptr<Job>>;

  explicit Scheduler(const kernels::Engine& engine, SchedulerOptions options);

  void RunLane(kernels::Lane& lane);
  absl::Status RunJob(Job& job, kernels::Lane& lane);
  std::shared_ptr<Job> TakeStarting();
  std::shared_ptr<Job> CompleteAndTakeNext(const std::shared_ptr<Job>& job, absl::Status status);
  void CheckEngine();
  void Finish(Job& job, const absl::Status& status);

  // These require `mutex_`.
  absl::Status AdmissionStatus(const JobWork& work);
  absl::Status ReasonNotToRun(const Job& job) const;
  absl::Status FinalStatus(const Job& job, absl::Status status) const;
  void LeaveQueue(Job& job, JobList& to);
  void End(Job& job, const absl::Status& status);

  const kernels::Engine& engine_;
  const SchedulerOptions options_;
  std::vector<std::unique_ptr<kernels::Lane>> lanes_;

  mutable std::mutex mutex_;
  std::condition_variable work_available_;
  std::condition_variable idle_;
  // A job is in one list at a time: waiting for a lane; given one of the idle lanes, whose thread
  // has yet to wake up; on a lane.
  JobList queued_;
  JobList starting_;
  JobList running_;
  SchedulerStatistics statistics_;
  uint64_t unfinished_ = 0;  // Accepted jobs whose finish has not returned.
  bool draining_ = false;
  bool engine_lost_ = false;
  bool shutting_down_ = false;

  std::vector<std::thread> threads_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_SCHEDULER_H_
