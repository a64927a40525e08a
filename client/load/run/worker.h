// A share of a run's calls: connections, the thread that takes their answers, and in an open loop
// the one that sends on schedule.
#ifndef GRIDFOLD_CLIENT_LOAD_RUN_WORKER_H_
#define GRIDFOLD_CLIENT_LOAD_RUN_WORKER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <thread>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "client/load/measure/recording.h"
#include "client/load/run/call.h"
#include "client/load/run/load_settings.h"
#include "client/load/run/run_control.h"
#include "client/load/work/workload.h"
#include "grpcpp/channel.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/generic_stub.h"

namespace gridfold::load {

class Worker {
 public:
  // What it refers to must outlive the worker.
  struct Assignment {
    const LoadPlan& plan;
    const Workload& workload;
    LoadProfile profile;  // Of all workers together.
    LoadLevel level;
    RunControl& control;
    std::vector<std::shared_ptr<grpc::Channel>> channels;
    absl::string_view token;  // That calls bring; empty: none.
    int index = 0;            // Of this worker.
    int worker_count = 1;
  };

  // Begins at once.
  explicit Worker(Assignment assignment);
  // Waits until the run is stopped and every call has ended.
  ~Worker();

  Recorder& recorder() { return recorder_; }
  int in_flight() const { return in_flight_.load(std::memory_order_relaxed); }
  // Whether calls have ended since the run's start so that the server must have had a hand in it,
  // or have gone on: a number that stands still when the server is silent.
  uint64_t progress() const { return progress_.load(std::memory_order_relaxed); }
  uint64_t sent_count() const { return sent_.load(std::memory_order_relaxed); }
  // How often a call had to wait because too many were under way.
  uint64_t held_back_count() const { return held_back_.load(std::memory_order_relaxed); }
  // Whether it will send no more, and every call has ended.
  bool is_over() const { return is_over_.load(std::memory_order_acquire); }
  // Processor time of its threads so far, each in seconds.
  std::vector<double> ProcessorSeconds() const;

 private:
  // A call to be cancelled at a time, unless it has ended by then.
  struct Cancellation {
    int64_t time_ns;
    Call* call;
    uint64_t generation;
    bool operator>(const Cancellation& other) const { return time_ns > other.time_ns; }
  };
  // Of a closed loop: a place that is not to send before a time.
  struct ParkedCall {
    Call* call;
    int64_t resume_ns;
  };

  // The thread of an open loop.
  void SendOnSchedule();
  bool SleepUntil(int64_t time_ns) const;
  Call* WaitForIdleCall();

  // The thread that takes answers.
  void TakeAnswers();
  void OnEnded(Call& call, int64_t now_ns);
  void RunErrands(int64_t now_ns);
  void CancelDueCalls(int64_t now_ns);
  void ResumeParkedCalls(int64_t now_ns);
  void AbandonCalls();
  bool MayEnd() const;

  // Of a closed loop.
  void BeginPlaces();
  // Sends the next call of a place, unless that is not to have any for now.
  void GoOn(Call& call, int64_t now_ns);
  // The number of a place among those of all workers.
  size_t PlaceInRun(size_t place) const;

  // Without an intended time a call is meant to be sent when it is, as in a closed loop.
  void Send(Call& call, std::optional<int64_t> intended_ns);
  bool DrawVerification();
  void PlanCancellation(Call& call, const RequestKind& kind, uint64_t generation);

  const Assignment assignment_;
  RunControl& control_;
  const int in_flight_max_;
  const int64_t errand_period_ns_;
  Recorder recorder_;
  std::vector<grpc::GenericStub> stubs_;
  size_t next_stub_ = 0;
  std::mt19937_64 random_;  // Of the thread that sends.
  grpc::CompletionQueue queue_;

  std::vector<ParkedCall> parked_;
  bool is_abandoned_ = false;
  int64_t next_errand_ns_ = 0;

  mutable absl::Mutex mutex_;
  // Places of a closed loop are places in here.
  std::vector<std::unique_ptr<Call>> calls_ ABSL_GUARDED_BY(mutex_);
  std::vector<Call*> idle_calls_ ABSL_GUARDED_BY(mutex_);
  std::priority_queue<Cancellation, std::vector<Cancellation>, std::greater<>> cancellations_
      ABSL_GUARDED_BY(mutex_);

  std::atomic<int> in_flight_ = 0;
  std::atomic<uint64_t> sent_ = 0;
  std::atomic<uint64_t> progress_ = 0;
  std::atomic<uint64_t> held_back_ = 0;
  std::atomic<bool>
      is_sending_over_;  // A closed loop has no thread that sends: true from the start.
  std::atomic<bool> is_over_ = false;
  mutable std::vector<std::thread> threads_;
};

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_RUN_WORKER_H_
