// The jobs of one request that several lanes work on: its parts, in one or more rounds.
//
// All parts of a round are submitted together, and each is a job like any other: it waits for its
// own lane, its tenant pays for it, and it fails by itself. No lane ever waits for another one, so
// there is no order in which lanes would have to be taken, and nothing to keep others from them.
// The part that ends last goes on with what follows the round, in its own lane's thread: the next
// round, or the answer.
//
// The first failure of a device, a deadline or a cancellation stops the other parts. An error of
// the data does not: where several parts have one, that of the first part is told, whichever ended
// first.
//
// Thread-safe.
#ifndef GRIDFOLD_SERVER_SCHEDULING_JOB_GROUP_H_
#define GRIDFOLD_SERVER_SCHEDULING_JOB_GROUP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/scheduling/job.h"
#include "server/scheduling/scheduler.h"

namespace gridfold::server {

class JobGroup : public std::enable_shared_from_this<JobGroup> {
 public:
  using Parts = std::vector<JobWork>;  // Whose `finish` is missing.

  using EndRound = std::function<absl::StatusOr<Parts>(const JobContext&)>;
  using FinishAll = std::function<void(const absl::Status&)>;

  // `parts` are the first round. `end_round` runs in the thread of the lane that has run the last
  // part of a round, and returns the parts of the next one, or none where the answer is there; it
  // may throw. `finish` is called exactly once where Submit returns OK, perhaps before it does,
  // when no part waits or runs any more; it must not block or throw.
  static std::shared_ptr<JobGroup> Make(Scheduler& scheduler, Parts parts, EndRound end_round,
                                        FinishAll finish);

  // Once. Errors: those of Scheduler::SubmitTogether.
  absl::Status Submit();

  // The first part of the first round, whose answer is that of all. To be asked before Submit.
  const std::shared_ptr<Job>& first_job() const { return first_job_; }

  // Nobody waits for the answer any longer.
  void Cancel();

 private:
  using Jobs = std::vector<std::shared_ptr<Job>>;

  JobGroup(Scheduler& scheduler, EndRound end_round, FinishAll finish);

  Jobs MakeJobs(Parts parts);
  absl::Status SubmitRound(Jobs jobs);
  absl::Status EndPart(const JobContext& context);
  void FinishPart(size_t part, const absl::Status& status);
  bool NoteError(size_t part, const absl::Status& status);
  void Forget();

  Scheduler& scheduler_;
  const EndRound end_round_;
  const FinishAll finish_;
  std::shared_ptr<Job> first_job_;

  std::mutex mutex_;
  // Guarded by mutex_.
  Jobs jobs_;              // Of this round.
  size_t running_ = 0;     // Of this round, those whose work is not done.
  size_t unfinished_ = 0;  // Of all rounds.
  bool cancelled_ = false;
  absl::Status error_;
  size_t error_part_ = 0;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_SCHEDULING_JOB_GROUP_H_
