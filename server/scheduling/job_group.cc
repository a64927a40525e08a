#include "server/scheduling/job_group.h"

#include <utility>

#include "absl/memory/memory.h"

namespace gridfold::server {

namespace {

// Of the elements, or of the request: the other parts' errors decide which one is told.
bool IsOfTheData(const absl::Status& status) {
  return absl::IsOutOfRange(status) || absl::IsInvalidArgument(status);
}

}  // namespace

JobGroup::JobGroup(Scheduler& scheduler, EndRound end_round, FinishAll finish)
    : scheduler_(scheduler), end_round_(std::move(end_round)), finish_(std::move(finish)) {}

std::shared_ptr<JobGroup> JobGroup::Make(Scheduler& scheduler, Parts parts, EndRound end_round,
                                         FinishAll finish) {
  std::shared_ptr<JobGroup> group =
      absl::WrapUnique(new JobGroup(scheduler, std::move(end_round), std::move(finish)));
  group->jobs_ = group->MakeJobs(std::move(parts));
  group->first_job_ = group->jobs_.front();
  return group;
}

JobGroup::Jobs JobGroup::MakeJobs(Parts parts) {
  Jobs jobs;
  for (size_t part = 0; part < parts.size(); ++part) {
    JobWork& work = parts[part];
    work.run = [group = shared_from_this(), run = std::move(work.run)](const JobContext& context) {
      absl::Status status = run(context);
      return status.ok() ? group->EndPart(context) : status;
    };
    work.finish = [group = shared_from_this(), part](const absl::Status& status) {
      group->FinishPart(part, status);
    };
    jobs.push_back(std::make_shared<Job>(std::move(work)));
  }
  return jobs;
}

absl::Status JobGroup::Submit() {
  absl::Status status = SubmitRound(jobs_);
  if (status.ok()) return status;
  const std::lock_guard lock(mutex_);
  Forget();
  return status;
}

// Jobs keep the group for as long as there are any.
void JobGroup::Forget() {
  jobs_.clear();
  first_job_.reset();
}

absl::Status JobGroup::SubmitRound(Jobs jobs) {
  const size_t count = jobs.size();
  {
    const std::lock_guard lock(mutex_);
    if (cancelled_) return absl::CancelledError("the job was cancelled");
    running_ = count;
    unfinished_ += count;
    jobs_ = jobs;
  }
  absl::Status status = scheduler_.SubmitTogether(jobs);
  const std::lock_guard lock(mutex_);
  if (!status.ok()) unfinished_ -= count;
  return status;
}

void JobGroup::Cancel() {
  Jobs jobs;
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    jobs = jobs_;
  }
  for (const std::shared_ptr<Job>& job : jobs) scheduler_.Cancel(job);
}

// A part's work is done, in the thread of its lane.
absl::Status JobGroup::EndPart(const JobContext& context) {
  {
    const std::lock_guard lock(mutex_);
    if (--running_ > 0) return absl::OkStatus();
  }
  absl::StatusOr<Parts> next = end_round_(context);
  if (!next.ok()) return next.status();
  if (next->empty()) return absl::OkStatus();
  for (JobWork& work : *next) work.continues = true;
  return SubmitRound(MakeJobs(*std::move(next)));
}

void JobGroup::FinishPart(size_t part, const absl::Status& status) {
  bool is_last = false;
  bool stops_others = false;
  absl::Status error;
  {
    const std::lock_guard lock(mutex_);
    if (!status.ok()) stops_others = NoteError(part, status);
    is_last = --unfinished_ == 0;
    error = error_;
    if (is_last) Forget();
  }
  if (is_last) {
    finish_(error);
  } else if (stops_others) {
    Cancel();
  }
}

// Whether the others are to stop.
bool JobGroup::NoteError(size_t part, const absl::Status& status) {
  const bool is_first = error_.ok();
  const bool is_before = IsOfTheData(status) && IsOfTheData(error_) && part < error_part_;
  if (is_first || is_before) {
    error_ = status;
    error_part_ = part;
  }
  return is_first && !IsOfTheData(status);
}

}  // namespace gridfold::server
