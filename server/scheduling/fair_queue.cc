#include "server/scheduling/fair_queue.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace gridfold::server {

namespace {

double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

struct WaitingTenant {
  // Jobs that need the same engine, or that need none.
  struct Slot {
    std::array<JobList, kPriorityCount> jobs;
    std::array<std::chrono::nanoseconds, kPriorityCount> cost{};  // As estimated.

    bool empty() const {
      return std::all_of(jobs.begin(), jobs.end(),
                         [](const JobList& list) { return list.empty(); });
    }
  };

  WaitingTenant(std::string a_name, uint64_t a_weight, uint32_t engine_count)
      : name(std::move(a_name)),
        weight(a_weight),
        slots(size_t{engine_count} + 1),
        turns(engine_count) {}

  // Whether there is something for this engine.
  bool HasJobsFor(uint32_t engine) const { return !slots[engine].empty() || !slots.back().empty(); }

  const std::string name;
  const uint64_t weight;
  Backlog backlog;
  uint64_t running = 0;
  std::vector<Slot> slots;             // By needed engine; the last one needs none.
  std::vector<FairQueue::Turn> turns;  // By engine.
  std::list<WaitingTenant>::iterator self;
};

FairQueue::FairQueue(uint32_t engine_count, TenantWeights weights, uint64_t answer_bytes_max)
    : weights_(std::move(weights)),
      answers_(answer_bytes_max, weights_),
      engines_(engine_count),
      slot_costs_(size_t{engine_count} + 1) {}

FairQueue::~FairQueue() = default;

void FairQueue::Push(JobList& entry) {
  Job& job = *entry.front();
  Tenant& tenant = FindOrAdd(job.work_.tenant);
  // Nothing throws from here on.
  const size_t slot = SlotOf(job.work_);
  JobList& jobs = tenant.slots[slot].jobs[static_cast<size_t>(job.work_.priority)];
  job.tenant_ = &tenant;
  job.sequence_ = next_sequence_++;
  job.position_ = entry.begin();
  jobs.splice(jobs.end(), entry);
  if (tenant.backlog.jobs == 0) waiting_weights_ += tenant.weight;
  Count(job, 1);
  ForEnginesOf(slot, [&](uint32_t engine) { StartWaiting(tenant, engine); });
}

bool FairQueue::Take(uint32_t engine, JobList& to, bool& has_resumed) {
  const Turns& waiting = engines_[engine].waiting;
  while (!waiting.empty()) {
    Job& job = *FirstJobs(*waiting.begin()->second, engine).front();
    if (answers_.Grant(job)) {
      Serve(job, engine, to);
      return true;
    }
    Hold(job);
    // Whoever gives back a small answer's room without a lock may not have seen it waiting.
    if (job.work_.answer_bytes <= kSmallAnswerBytes) has_resumed |= ResumeReady();
  }
  return false;
}

void FairQueue::Hold(Job& job) {
  Tenant& tenant = *job.tenant_;
  answers_.Hold(job, ListOf(job));
  StopWaitingWithout(tenant, SlotOf(job.work_));
}

// Where they were before those that came later. False where there are none.
bool FairQueue::Resume(JobList& jobs) {
  if (jobs.empty()) return false;
  while (!jobs.empty()) {
    Job& job = *jobs.front();
    JobList& list = ListOf(job);
    const auto later = std::find_if(list.begin(), list.end(), [&job](const auto& other) {
      return other->sequence_ > job.sequence_;
    });
    list.splice(later, jobs, jobs.begin());
    ForEnginesOf(SlotOf(job.work_), [&](uint32_t engine) { StartWaiting(*job.tenant_, engine); });
  }
  return true;
}

void FairQueue::ResumeAll() {
  JobList held;
  answers_.ReleaseAll(held);
  Resume(held);
}

bool FairQueue::HasAnswerRoom(const JobWork& work) const {
  return work.answer_bytes == 0 ||
         answers_.HasRoom({.tenant = work.tenant, .connection = work.connection},
                          work.answer_bytes);
}

std::optional<AnswerGrant> FairQueue::TakeAnswerRoom(const AnswerSource& source, uint64_t bytes) {
  return answers_.Take(source, bytes);
}

void FairQueue::ShrinkAnswer(Job& job, uint64_t bytes) { answers_.Shrink(job.answer_, bytes); }

bool FairQueue::GiveBackAnswerRoom(Job& job) { return GiveBackAnswerRoom(job.answer_); }

bool FairQueue::GiveBackAnswerRoom(AnswerGrant& grant) {
  answers_.GiveBack(grant);
  return ResumeReady();
}

bool FairQueue::ResumeReady() {
  if (answers_.waiting_jobs() == 0) return false;
  JobList ready;
  answers_.TakeReady(ready);
  return Resume(ready);
}

bool FairQueue::TakeAlike(const Job& taken, uint64_t bytes_max, JobList& to) {
  const uint32_t engine = taken.engine_;
  EngineTurns& turns = engines_[engine];
  if (turns.waiting.empty() || !taken.work_.batchable) return false;
  const auto is_alike = [&](const JobWork& work) {
    return work.batchable && work.batchable->key == taken.work_.batchable->key &&
           work.payload_bytes <= bytes_max;
  };
  const JobList& jobs = FirstJobs(*turns.waiting.begin()->second, engine);
  uint64_t looked_at = 0;
  for (const std::shared_ptr<Job>& job : jobs) {
    if (is_alike(job->work_)) {
      if (!answers_.Grant(*job)) return false;
      Serve(*job, engine, to);
      return true;
    }
    if (++looked_at == kJobBatchSearchMax) return false;
  }
  return false;
}

// Takes a job of the tenant whose turn it is.
void FairQueue::Serve(Job& job, uint32_t engine, JobList& to) {
  Tenant& tenant = *job.tenant_;
  EngineTurns& turns = engines_[engine];
  turns.virtual_time_s = std::max(turns.virtual_time_s, tenant.turns[engine].tag_s);
  job.engine_ = engine;
  ++tenant.running;
  ++turns.running;
  Detach(job, to);
  AddToTag(tenant, engine, std::max(job.cost_, kJobCostMin));
}

void FairQueue::Settle(const Job& job, std::chrono::nanoseconds used) {
  Tenant& tenant = *job.tenant_;
  EngineTurns& turns = engines_[job.engine_];
  AddToTag(tenant, job.engine_, used - std::max(job.cost_, kJobCostMin));
  --tenant.running;
  --turns.running;
  // Who has the engine to themselves owes nobody anything.
  if (turns.running == 0 && turns.waiting.empty()) turns.virtual_time_s = turns.tag_max_s;
  RestIfIdle(tenant);
}

void FairQueue::Remove(const Job& job, JobList& to) {
  Detach(job, to);
  RestIfIdle(*job.tenant_);
}

void FairQueue::RemoveNeeding(uint32_t engine, JobList& to) {
  ResumeAll();
  for (auto next = active_.begin(); next != active_.end();) {
    Tenant& tenant = *next++;
    for (JobList& jobs : tenant.slots[engine].jobs) {
      while (!jobs.empty()) Detach(*jobs.front(), to);
    }
    RestIfIdle(tenant);
  }
}

void FairQueue::RemoveAll(JobList& to) {
  ResumeAll();
  for (auto next = active_.begin(); next != active_.end();) {
    Tenant& tenant = *next++;
    for (Tenant::Slot& slot : tenant.slots) {
      for (JobList& jobs : slot.jobs) {
        while (!jobs.empty()) Detach(*jobs.front(), to);
      }
    }
    RestIfIdle(tenant);
  }
}

FairQueue::Standing FairQueue::StandingOf(const JobWork& work) const {
  const size_t slot = SlotOf(work);
  Standing standing;
  standing.cost_of_all = slot_costs_[slot];
  const auto found = by_name_.find(work.tenant);
  if (found == by_name_.end()) {
    standing.weight = WeightOf(work.tenant);
    standing.weights = waiting_weights_ + standing.weight;
    return standing;
  }
  const Tenant& tenant = *found->second;
  standing.own = tenant.backlog;
  standing.weight = tenant.weight;
  standing.weights = waiting_weights_ + (tenant.backlog.jobs == 0 ? tenant.weight : 0);
  for (size_t priority = 0; priority <= static_cast<size_t>(work.priority); ++priority) {
    standing.cost_ahead += tenant.slots[slot].cost[priority];
  }
  return standing;
}

FairQueue::Tenant& FairQueue::FindOrAdd(const std::string& name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return Add(name);
  Tenant& tenant = *found->second;
  if (tenant.backlog.jobs == 0 && tenant.running == 0) {
    active_.splice(active_.end(), idle_, tenant.self);
  }
  return tenant;
}

FairQueue::Tenant& FairQueue::Add(const std::string& name) {
  std::list<Tenant> added;
  Tenant& tenant = added.emplace_back(name, WeightOf(name), static_cast<uint32_t>(engines_.size()));
  tenant.self = added.begin();
  for (Turn& turn : tenant.turns) {
    Turns place;
    place.emplace(0, &tenant);
    turn.at_rest = place.extract(place.begin());
  }
  by_name_.emplace(tenant.name, tenant.self);
  active_.splice(active_.end(), added);
  return tenant;
}

uint64_t FairQueue::WeightOf(const std::string& name) const {
  const auto found = weights_.find(name);
  return found == weights_.end() ? kTenantWeightDefault : found->second;
}

template <class Body>
void FairQueue::ForEnginesOf(size_t slot, Body body) {
  if (slot < engines_.size()) {
    body(static_cast<uint32_t>(slot));
    return;
  }
  for (uint32_t engine = 0; engine < engines_.size(); ++engine) body(engine);
}

// The list whose first job is the tenant's next one on this engine. Requires that there is one.
JobList& FairQueue::FirstJobs(Tenant& tenant, uint32_t engine) {
  for (size_t priority = 0;; ++priority) {
    JobList& needing = tenant.slots[engine].jobs[priority];
    JobList& any = tenant.slots.back().jobs[priority];
    if (needing.empty() && any.empty()) continue;
    if (needing.empty()) return any;
    if (any.empty()) return needing;
    return needing.front()->sequence_ < any.front()->sequence_ ? needing : any;
  }
}

JobList& FairQueue::ListOf(const Job& job) {
  return job.tenant_->slots[SlotOf(job.work_)].jobs[static_cast<size_t>(job.work_.priority)];
}

void FairQueue::Detach(const Job& job, JobList& to) {
  Tenant& tenant = *job.tenant_;
  if (job.held_by_ != nullptr) {
    answers_.Release(job, to);
  } else {
    to.splice(to.end(), ListOf(job), job.position_);
    StopWaitingWithout(tenant, SlotOf(job.work_));
  }
  Count(job, -1);
  if (tenant.backlog.jobs == 0) waiting_weights_ -= tenant.weight;
}

// The tenant has one job less in a slot.
void FairQueue::StopWaitingWithout(Tenant& tenant, size_t slot) {
  if (!tenant.slots[slot].empty()) return;
  ForEnginesOf(slot, [&](uint32_t engine) {
    if (!tenant.HasJobsFor(engine)) StopWaiting(tenant.turns[engine], engine);
  });
}

void FairQueue::StartWaiting(Tenant& tenant, uint32_t engine) {
  Turn& turn = tenant.turns[engine];
  if (turn.waits) return;
  turn.tag_s = std::max(turn.tag_s, engines_[engine].virtual_time_s);
  Wait(turn, engine);
}

void FairQueue::Wait(Turn& turn, uint32_t engine) {
  turn.at_rest.key() = turn.tag_s;
  turn.place = engines_[engine].waiting.insert(std::move(turn.at_rest));
  turn.waits = true;
}

void FairQueue::StopWaiting(Turn& turn, uint32_t engine) {
  turn.at_rest = engines_[engine].waiting.extract(turn.place);
  turn.waits = false;
}

void FairQueue::AddToTag(Tenant& tenant, uint32_t engine, std::chrono::nanoseconds cost) {
  Turn& turn = tenant.turns[engine];
  turn.tag_s += Seconds(cost) / static_cast<double>(tenant.weight);
  engines_[engine].tag_max_s = std::max(engines_[engine].tag_max_s, turn.tag_s);
  if (!turn.waits) return;
  StopWaiting(turn, engine);
  Wait(turn, engine);
}

void FairQueue::RestIfIdle(Tenant& tenant) {
  if (tenant.backlog.jobs > 0 || tenant.running > 0) return;
  idle_.splice(idle_.end(), active_, tenant.self);
  if (idle_.size() <= kIdleTenantsMax) return;
  by_name_.erase(idle_.front().name);
  idle_.pop_front();
}

void FairQueue::Count(const Job& job, int sign) {
  const size_t slot = SlotOf(job.work_);
  for (Backlog* backlog : {&backlog_, &job.tenant_->backlog}) {
    backlog->jobs += static_cast<uint64_t>(sign);
    backlog->bytes += static_cast<uint64_t>(sign) * job.work_.payload_bytes;
    backlog->cost += sign * job.cost_;
  }
  slot_costs_[slot] += sign * job.cost_;
  job.tenant_->slots[slot].cost[static_cast<size_t>(job.work_.priority)] += sign * job.cost_;
}

}  // namespace gridfold::server
