// The waiting jobs of all tenants, and whose turn it is.
//
// Tenants share each engine's time by weight, by start-time fair queueing: P. Goyal, H. M. Vin and
// H. Cheng, "Start-time Fair Queuing", SIGCOMM 1996; with several lanes at once, W. Jin, J. S.
// Chase and J. Kaur, "Interposed Proportional Sharing for a Storage Service Utility", SIGMETRICS
// 2004. On each engine a tenant with waiting jobs has a start tag, and the least one is served; its
// job's cost, divided by the tenant's weight, is then added to it. The engine's virtual time is the
// tag that was served last. A tenant that comes, or comes back, begins there or at its own tag, the
// later of both: idleness earns nothing, and a tenant with one job is served before those whose
// jobs the lanes run now are served again. When a job ends, its tenant pays for the time it took
// instead of what was estimated.
//
// Within a tenant the more urgent jobs come first, and of those the older ones: priorities and
// deadlines are the caller's own word, and order nobody else's jobs. Not the earliest deadline
// first: jobs without a deadline could wait for ever, and under overload the jobs that are about to
// be late would be served for nothing before those that could still be in time.
//
// A job whose answer finds no room (answer_room.h) waits for that first, while those behind it go
// on; then it comes before them again.
//
// Pushing and taking a job costs O(engines * log(tenants)) and, once a tenant is known, no memory:
// jobs move from list to list with their nodes. At most kIdleTenantsMax tenants are remembered that
// have neither waiting nor running jobs. Not thread-safe, but for GiveBackSmall.
#ifndef GRIDFOLD_SERVER_SCHEDULING_FAIR_QUEUE_H_
#define GRIDFOLD_SERVER_SCHEDULING_FAIR_QUEUE_H_

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/base/limits.h"
#include "server/scheduling/answer_room.h"
#include "server/scheduling/job.h"

namespace gridfold::server {

struct WaitingTenant;

// Jobs that wait, in numbers.
struct Backlog {
  uint64_t jobs = 0;
  uint64_t bytes = 0;
  std::chrono::nanoseconds cost{0};  // As estimated.
};

class FairQueue {
 public:
  // What a tenant has in the queue, and what comes before a job that it might add.
  struct Standing {
    Backlog own;           // All that the tenant has waiting.
    uint64_t weight = 1;   // The tenant's.
    uint64_t weights = 1;  // Of all tenants that wait, with this one.
    // Of the tenant's jobs for the same engines that are not less urgent; of all tenants' jobs for
    // those engines.
    std::chrono::nanoseconds cost_ahead{0};
    std::chrono::nanoseconds cost_of_all{0};
  };

  // `answer_bytes_max` bounds the room for answers.
  FairQueue(uint32_t engine_count, TenantWeights weights,
            uint64_t answer_bytes_max = Limits{}.answer_bytes_max);
  // All jobs have ended.
  ~FairQueue();
  FairQueue(const FairQueue&) = delete;
  FairQueue& operator=(const FairQueue&) = delete;

  // Moves the only job of `entry`, whose cost is estimated, to the waiting ones. Changes nothing
  // where it throws.
  void Push(JobList& entry);

  // Moves the job whose turn it is on `engine`, with room for its answer, to the end of `to`. False
  // where no job waits that this engine may run, and whose answer has room. Sets `has_resumed`
  // where jobs, which may need other engines, have got room meanwhile.
  bool Take(uint32_t engine, JobList& to, bool& has_resumed);

  // Moves a further job to the end of `to` that may share the launch of `taken`, the last that was
  // taken: of the tenant whose turn it is on the same engine, one of the next kJobBatchSearchMax
  // jobs, of at most `bytes_max`. False where there is none.
  bool TakeAlike(const Job& taken, uint64_t bytes_max, JobList& to);

  // A job that was taken has ended, and used so much of the engine's time.
  void Settle(const Job& job, std::chrono::nanoseconds used);

  // Whether the answer to a job with this work would have room now.
  bool HasAnswerRoom(const JobWork& work) const;
  // Room for an answer that is made without a job; none where there is not as much.
  std::optional<AnswerGrant> TakeAnswerRoom(const AnswerSource& source, uint64_t bytes);
  // The answer takes only so much.
  void ShrinkAnswer(Job& job, uint64_t bytes);
  // The answer has gone, or there will be none. Whether a job that waited for the room may run now.
  bool GiveBackAnswerRoom(Job& job);
  bool GiveBackAnswerRoom(AnswerGrant& grant);
  // Gives back a grant of a small answer, or that is none; false where it is another one. Where
  // jobs wait for room, ResumeReady is to be called then. Thread-safe.
  bool GiveBackSmall(AnswerGrant& grant) { return answers_.GiveBackSmall(grant); }
  // Room has become free, or a job that waited for some has left: whether another may run now.
  bool ResumeReady();
  const AnswerRoom& answers() const { return answers_; }

  // Move waiting jobs to the end of `to`: one; all that need `engine`; all.
  void Remove(const Job& job, JobList& to);
  void RemoveNeeding(uint32_t engine, JobList& to);
  void RemoveAll(JobList& to);

  const Backlog& backlog() const { return backlog_; }
  Standing StandingOf(const JobWork& work) const;

 private:
  using Tenant = WaitingTenant;
  using Turns = std::multimap<double, Tenant*>;  // By start tag; equals in the order they came.
  friend struct WaitingTenant;

  // A tenant's place among those that wait for an engine.
  struct Turn {
    double tag_s = 0;
    bool waits = false;
    Turns::iterator place;     // While it waits.
    Turns::node_type at_rest;  // While it does not: saves making it again.
  };

  struct EngineTurns {
    Turns waiting;  // Tenants that have a job for this engine.
    double virtual_time_s = 0;
    double tag_max_s = 0;  // Of all tenants.
    uint64_t running = 0;
  };

  Tenant& FindOrAdd(const std::string& name);
  Tenant& Add(const std::string& name);
  uint64_t WeightOf(const std::string& name) const;
  size_t SlotOf(const JobWork& work) const { return work.engine.value_or(engines_.size()); }
  // Calls `body` for each engine that may run the jobs of a slot.
  template <class Body>
  void ForEnginesOf(size_t slot, Body body);

  JobList& FirstJobs(Tenant& tenant, uint32_t engine);
  void Serve(Job& job, uint32_t engine, JobList& to);
  void Detach(const Job& job, JobList& to);
  void Hold(Job& job);
  bool Resume(JobList& jobs);
  void ResumeAll();
  void StopWaitingWithout(Tenant& tenant, size_t slot);
  JobList& ListOf(const Job& job);
  void StartWaiting(Tenant& tenant, uint32_t engine);
  void Wait(Turn& turn, uint32_t engine);
  void StopWaiting(Turn& turn, uint32_t engine);
  void AddToTag(Tenant& tenant, uint32_t engine, std::chrono::nanoseconds cost);
  void RestIfIdle(Tenant& tenant);
  void Count(const Job& job, int sign);

  const TenantWeights weights_;
  AnswerRoom answers_;
  std::vector<EngineTurns> engines_;
  // As estimated, of the waiting jobs by needed engine; the last ones need none.
  std::vector<std::chrono::nanoseconds> slot_costs_;
  Backlog backlog_;
  uint64_t waiting_weights_ = 0;
  uint64_t next_sequence_ = 0;
  // Tenants with waiting or running jobs; the others, the longest idle first.
  std::list<Tenant> active_;
  std::list<Tenant> idle_;
  std::unordered_map<std::string_view, std::list<Tenant>::iterator> by_name_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_SCHEDULING_FAIR_QUEUE_H_
