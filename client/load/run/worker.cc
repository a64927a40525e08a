#include "client/load/run/worker.h"

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <utility>

#include "gridfold/error_details.h"

namespace gridfold::load {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;
// Between looks at what else there is to do than take answers: where calls are to be cancelled at
// random times, and where not.
constexpr int64_t kFrequentErrandPeriodNs = 1 * kNsPerMs;
constexpr int64_t kErrandPeriodNs = 10 * kNsPerMs;
// How long a thread sleeps at most before it looks whether the run is over.
constexpr int64_t kSleepMaxNs = 20 * kNsPerMs;
// Before a closed loop asks a server again that cannot be reached.
constexpr int64_t kUnavailablePauseNs = 10 * kNsPerMs;
// One answer in so many is verified where a sample is.
constexpr uint64_t kSamplePeriod = 16;

// Whether the error came from the server, as far as one can tell.
bool IsWordOfServer(const absl::Status& error) {
  if (client::ErrorReason(error)) return true;
  return error.code() != absl::StatusCode::kUnavailable &&
         error.code() != absl::StatusCode::kDeadlineExceeded &&
         error.code() != absl::StatusCode::kCancelled;
}

int64_t ErrandPeriodNs(const Scenario& scenario) {
  const bool are_cancelled =
      std::any_of(scenario.requests.begin(), scenario.requests.end(),
                  [](const RequestKind& kind) { return kind.cancelled_part > 0; });
  return are_cancelled ? kFrequentErrandPeriodNs : kErrandPeriodNs;
}

// Calls that a worker may have under way: the shares of all workers come to the plan's number.
int InFlightMax(const Worker::Assignment& assignment) {
  const int most = assignment.plan.in_flight_max;
  const bool has_one_more = assignment.index < most % assignment.worker_count;
  return most / assignment.worker_count + (has_one_more ? 1 : 0);
}

timespec ToTimespec(std::chrono::steady_clock::time_point time) {
  const int64_t ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  return {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
}

}  // namespace

Worker::Worker(Assignment assignment)
    : assignment_(std::move(assignment)),
      control_(assignment_.control),
      in_flight_max_(InFlightMax(assignment_)),
      errand_period_ns_(ErrandPeriodNs(assignment_.workload.scenario())),
      recorder_(assignment_.workload.kind_count()),
      random_(assignment_.plan.seed * 1'000'003 + static_cast<uint64_t>(assignment_.index)),
      is_sending_over_(!assignment_.plan.is_open_loop) {
  for (const auto& channel : assignment_.channels) stubs_.emplace_back(channel);
  threads_.emplace_back([this] { TakeAnswers(); });
  if (assignment_.plan.is_open_loop) threads_.emplace_back([this] { SendOnSchedule(); });
}

Worker::~Worker() {
  for (std::thread& thread : threads_) thread.join();
}

std::vector<double> Worker::ProcessorSeconds() const {
  std::vector<double> seconds;
  for (std::thread& thread : threads_) {
    clockid_t clock = {};
    timespec time = {};
    if (pthread_getcpuclockid(thread.native_handle(), &clock) != 0) continue;
    if (clock_gettime(clock, &time) != 0) continue;
    seconds.push_back(static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9);
  }
  return seconds;
}

void Worker::SendOnSchedule() {
  prctl(PR_SET_TIMERSLACK, 1);  // Else the system wakes the thread up to 50 µs late.
  ArrivalSchedule schedule(assignment_.profile, assignment_.plan.arrivals, assignment_.index,
                           assignment_.worker_count, random_());
  int64_t intended_ns = schedule.NextNs();
  for (; SleepUntil(intended_ns) && control_.TakeFromBudget(); intended_ns = schedule.NextNs()) {
    Call* const call = WaitForIdleCall();
    if (call == nullptr) break;
    Send(*call, intended_ns);
  }
  // A late generator does not get around the calls that it owes.
  uint64_t unsent = 0;
  for (; control_.is_stopped() && intended_ns < control_.window_end_ns();
       intended_ns = schedule.NextNs()) {
    unsent += control_.IsInWindow(intended_ns);
  }
  recorder_.AddUnsent(unsent);
  is_sending_over_.store(true, std::memory_order_release);
}

// False where the run is over before.
bool Worker::SleepUntil(int64_t time_ns) const {
  while (!control_.is_stopped()) {
    const int64_t now_ns = control_.NowNs();
    if (now_ns >= time_ns) return true;
    const int64_t wake_ns = std::min(time_ns, now_ns + kSleepMaxNs);
    const timespec wake = ToTimespec(control_.start() + std::chrono::nanoseconds(wake_ns));
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, nullptr);
  }
  return false;
}

// nullptr where the run is over before there is one.
Call* Worker::WaitForIdleCall() {
  const absl::MutexLock lock(&mutex_);
  if (idle_calls_.empty() && calls_.size() < static_cast<size_t>(in_flight_max_)) {
    calls_.push_back(std::make_unique<Call>(queue_, calls_.size()));
    return calls_.back().get();
  }
  if (idle_calls_.empty()) held_back_.fetch_add(1, std::memory_order_relaxed);
  const auto has_idle = +[](std::vector<Call*>* calls) { return !calls->empty(); };
  while (!mutex_.AwaitWithTimeout(absl::Condition(has_idle, &idle_calls_),
                                  absl::Nanoseconds(kSleepMaxNs))) {
    if (control_.is_stopped()) return nullptr;
  }
  Call* const call = idle_calls_.back();
  idle_calls_.pop_back();
  return call;
}

void Worker::Send(Call& call, std::optional<int64_t> intended_ns) {
  const PreparedRequest& request = assignment_.workload.Draw(random_);
  const uint64_t generation = call.generation();
  in_flight_.fetch_add(1, std::memory_order_relaxed);
  sent_.fetch_add(1, std::memory_order_relaxed);
  call.Prepare(request, DrawVerification());
  const int64_t now_ns = control_.NowNs();
  call.Begin({.stub = &stubs_[next_stub_++ % stubs_.size()],
              .token = assignment_.token,
              .timeout = assignment_.plan.timeout,
              .intended_ns = intended_ns.value_or(now_ns),
              .sent_ns = now_ns});
  PlanCancellation(call, request.kind, generation);
}

bool Worker::DrawVerification() {
  switch (assignment_.plan.verify) {
    case Verify::kNone: return false;
    case Verify::kSample: return random_() % kSamplePeriod == 0;
    case Verify::kAll: return true;
  }
  return false;
}

void Worker::PlanCancellation(Call& call, const RequestKind& kind, uint64_t generation) {
  if (kind.cancelled_part == 0) return;
  std::uniform_real_distribution<double> uniform(0, 1);
  if (uniform(random_) >= kind.cancelled_part) return;
  const auto delay_ns =
      static_cast<int64_t>(uniform(random_) * absl::ToDoubleNanoseconds(kind.cancel_within));
  const absl::MutexLock lock(&mutex_);
  cancellations_.push(
      {.time_ns = control_.NowNs() + delay_ns, .call = &call, .generation = generation});
}

size_t Worker::PlaceInRun(size_t place) const {
  return place * static_cast<size_t>(assignment_.worker_count) +
         static_cast<size_t>(assignment_.index);
}

void Worker::BeginPlaces() {
  const auto place_count = static_cast<size_t>(std::ceil(assignment_.level.max()));
  for (size_t place = 0; PlaceInRun(place) < place_count; ++place) {
    Call* call = nullptr;
    {
      const absl::MutexLock lock(&mutex_);
      call = calls_.emplace_back(std::make_unique<Call>(queue_, place)).get();
    }
    GoOn(*call, control_.NowNs());
  }
}

void Worker::GoOn(Call& call, int64_t now_ns) {
  if (control_.is_stopped()) return;
  const double level = assignment_.profile.At(static_cast<double>(now_ns) / 1e9);
  if (static_cast<double>(PlaceInRun(call.place())) >= level) {
    parked_.push_back({&call, now_ns + kSleepMaxNs});
  } else if (control_.TakeFromBudget()) {
    Send(call, std::nullopt);
  }
}

void Worker::TakeAnswers() {
  if (!assignment_.plan.is_open_loop) BeginPlaces();
  void* tag = nullptr;
  bool ok = false;
  while (!MayEnd()) {
    const auto wake =
        std::chrono::system_clock::now() + std::chrono::nanoseconds(errand_period_ns_);
    const bool is_event = queue_.AsyncNext(&tag, &ok, wake) == grpc::CompletionQueue::GOT_EVENT;
    const int64_t now_ns = control_.NowNs();
    if (is_event) {
      const Call::Tag& event = *static_cast<Call::Tag*>(tag);
      if (ok && event.event != Call::Event::kUnaryEnd && event.event != Call::Event::kEnd) {
        progress_.fetch_add(1, std::memory_order_relaxed);
      }
      if (event.call->OnEvent(event.event, ok, now_ns)) OnEnded(*event.call, now_ns);
    }
    if (now_ns >= next_errand_ns_) RunErrands(now_ns);
  }
  queue_.Shutdown();
  while (queue_.Next(&tag, &ok)) {
  }
  is_over_.store(true, std::memory_order_release);
}

bool Worker::MayEnd() const {
  return (control_.is_stopped() || control_.IsBudgetSpent()) &&
         is_sending_over_.load(std::memory_order_acquire) && in_flight() == 0;
}

void Worker::OnEnded(Call& call, int64_t now_ns) {
  in_flight_.fetch_sub(1, std::memory_order_relaxed);
  const Outcome outcome = call.TakeOutcome();
  recorder_.Record(outcome, control_.IsInWindow(outcome.intended_ns),
                   control_.IsInWindow(outcome.ended_ns));
  const bool is_failed = outcome.ending == Outcome::Ending::kFailed;
  if (outcome.ending == Outcome::Ending::kAnswered ||
      (is_failed && IsWordOfServer(outcome.error))) {
    progress_.fetch_add(1, std::memory_order_relaxed);
  }
  if (assignment_.plan.is_open_loop) {
    const absl::MutexLock lock(&mutex_);
    idle_calls_.push_back(&call);
  } else if (is_failed && absl::IsUnavailable(outcome.error)) {
    parked_.push_back({&call, now_ns + kUnavailablePauseNs});
  } else {
    GoOn(call, now_ns);
  }
}

void Worker::RunErrands(int64_t now_ns) {
  next_errand_ns_ = now_ns + errand_period_ns_;  // Speed only: more of them do no harm.
  CancelDueCalls(now_ns);
  ResumeParkedCalls(now_ns);
  // Calls that are still being sent cannot be given up: wait for the thread that sends.
  if (control_.is_abandoned() && is_sending_over_.load(std::memory_order_acquire)) AbandonCalls();
}

void Worker::CancelDueCalls(int64_t now_ns) {
  const absl::MutexLock lock(&mutex_);
  while (!cancellations_.empty() && cancellations_.top().time_ns <= now_ns) {
    const Cancellation due = cancellations_.top();
    cancellations_.pop();
    // This thread takes the events, so a call that has not ended yet does not end meanwhile.
    if (due.call->generation() == due.generation) due.call->Cancel(Outcome::Ending::kCancelled);
  }
}

void Worker::ResumeParkedCalls(int64_t now_ns) {
  std::vector<ParkedCall> due;
  std::erase_if(parked_, [&](const ParkedCall& parked) {
    if (parked.resume_ns > now_ns) return false;
    due.push_back(parked);
    return true;
  });
  for (const ParkedCall& parked : due) GoOn(*parked.call, now_ns);
}

void Worker::AbandonCalls() {
  if (std::exchange(is_abandoned_, true)) return;
  const absl::MutexLock lock(&mutex_);
  for (const std::unique_ptr<Call>& call : calls_) {
    if (call->is_under_way()) call->Cancel(Outcome::Ending::kUnanswered);
  }
}

}  // namespace gridfold::load
