// Room for answers that are being made or on their way to their callers, and the jobs that wait for
// some. A caller who takes no answers holds memory of the server for nothing, so what all of them
// hold is bounded; room is taken before a lane makes an answer and given back when it has gone.
//
// The room has four parts. The first is for small answers, whoever's they are, and is given back
// without a lock (small_answers.h). Those that it has no room for share the others with the larger
// ones. The second part is open to everybody. The third is for tenants that hold little of all that
// is shared: each has a share of it by weight. The fourth is for connections that hold little, of
// whichever tenant: callers who name no tenant are one, and one that takes no answers does not shut
// out the others. The shares count one tenant, or connection, more than those that hold something,
// so that whoever comes finds some room.
//
// Where the open part is full, a job waits. Tenants take turns at what becomes free of it, and so
// do the connections of a tenant; nobody overtakes whoever is next, so that a large answer is not
// kept waiting by small ones. One that is larger than the open part has its turn when that is
// empty: no answer is too large to be made. A connection's jobs wait in their order; only small
// answers pass those that wait.
//
//   std::optional<AnswerGrant> grant = room.Take({.tenant = "a", .connection = 1}, bytes);
//   ...                           // The answer is made, sent and taken.
//   room.GiveBack(*grant);
//   room.TakeReady(jobs);         // Those that waited for it.
//
// Not thread-safe, but for GiveBackSmall.
#ifndef GRIDFOLD_SERVER_SCHEDULING_ANSWER_ROOM_H_
#define GRIDFOLD_SERVER_SCHEDULING_ANSWER_ROOM_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>

#include "server/base/answer_grant.h"
#include "server/base/limits.h"
#include "server/scheduling/job.h"
#include "server/scheduling/small_answers.h"

namespace gridfold::server {

class AnswerRoom {
 public:
  AnswerRoom(uint64_t bytes_max, TenantWeights weights);
  // All grants are given back, and no job waits.
  ~AnswerRoom();
  AnswerRoom(const AnswerRoom&) = delete;
  AnswerRoom& operator=(const AnswerRoom&) = delete;

  // Room for `bytes` of an answer; none where there is not as much, or others come first.
  std::optional<AnswerGrant> Take(const AnswerSource& source, uint64_t bytes);
  // Whether Take would return some.
  bool HasRoom(const AnswerSource& source, uint64_t bytes) const {
    return small_.HasRoom(bytes) || FindRoom(source, bytes).has_value();
  }

  // The answer has turned out to take only `bytes`: gives back the rest of the grant.
  void Shrink(AnswerGrant& grant, uint64_t bytes);
  // Of a whole grant, which is none afterwards.
  void GiveBack(AnswerGrant& grant);
  // Gives back a grant of a small answer, or that is none; false where it is another one. The
  // grant must be the caller's alone. Thread-safe.
  bool GiveBackSmall(AnswerGrant& grant);

  // Grants the job the room that it needs, unless it has it: whether it has it now.
  bool Grant(Job& job);
  // Moves a job that was not granted any from `from` to those that wait.
  void Hold(Job& job, JobList& from);
  // Moves a job that waits to the end of `to`.
  void Release(const Job& job, JobList& to);
  // Moves the jobs that have their room now, which is granted, to the end of `to`.
  void TakeReady(JobList& to);
  // Moves all jobs that wait to the end of `to`.
  void ReleaseAll(JobList& to);

  uint64_t taken_bytes() const { return taken_bytes_ + small_.taken_bytes(); }
  uint64_t taken_bytes_high_water() const { return taken_bytes_high_water_; }
  // Thread-safe.
  uint64_t waiting_jobs() const { return waiting_jobs_; }

 private:
  using Tenant = AnswerTenant;
  using Connection = AnswerConnection;
  using Part = AnswerGrant::Part;

  static AnswerSource SourceOf(const Job& job);
  Connection& FindOrAdd(const AnswerSource& source);
  uint64_t WeightOf(const std::string& tenant) const;
  std::optional<AnswerGrant> TakeSmall(uint64_t bytes);
  std::optional<Part> FindRoom(const AnswerSource& source, uint64_t bytes) const;
  bool FitsOpenPart(uint64_t bytes) const;
  bool FitsTenantShare(uint64_t held, uint64_t weight, uint64_t bytes) const;
  bool FitsConnectionShare(uint64_t held, uint64_t bytes) const;
  uint64_t PartMax(Part part) const { return part_max_[static_cast<size_t>(part)]; }
  uint64_t& Taken(Part part) { return part_taken_[static_cast<size_t>(part)]; }
  uint64_t Taken(Part part) const { return part_taken_[static_cast<size_t>(part)]; }
  AnswerGrant Add(Connection& connection, Part part, uint64_t bytes);
  void Subtract(const AnswerGrant& grant, uint64_t bytes);
  void GrantShare(Connection& connection, JobList& to);
  void GrantFirst(Connection& connection, const AnswerGrant& grant, JobList& to);
  void NoteHighWater();
  void StopWaiting(Connection& connection);
  void ForgetIfIdle(Connection& connection);

  const TenantWeights weights_;
  SmallAnswers small_;
  std::array<uint64_t, AnswerGrant::kSharedPartCount> part_max_;
  std::array<uint64_t, AnswerGrant::kSharedPartCount> part_taken_{};
  uint64_t taken_bytes_ = 0;  // Of these.
  uint64_t taken_bytes_high_water_ = 0;
  std::atomic<uint64_t> waiting_jobs_ = 0;
  uint64_t holding_weights_ = 0;      // Of the tenants that hold something.
  uint64_t holding_connections_ = 0;  // Of all tenants.
  std::unordered_map<std::string, Tenant> tenants_;
  std::list<Tenant*> turns_;  // Tenants with jobs that wait, the next one first.
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_SCHEDULING_ANSWER_ROOM_H_
