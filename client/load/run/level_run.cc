#include "client/load/run/level_run.h"

#include <sys/resource.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <thread>

#include "client/load/run/run_control.h"
#include "client/load/run/stability.h"
#include "client/load/run/worker.h"

namespace gridfold::load {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;
// How soon an interrupt, the end of the time and the last answer are noticed.
constexpr auto kLook = std::chrono::milliseconds(10);
// For calls under way when a level ends; less where nobody wants to wait.
constexpr int64_t kDrainMaxNs = 10 * kNsPerSecond;
constexpr int64_t kHastyDrainMaxNs = kNsPerSecond / 2;

double ProcessProcessorSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int WorkerCount(const LoadPlan& plan) {
  const int processors = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int wanted = plan.thread_count > 0 ? plan.thread_count : processors;
  // A worker sends over a connection of its own at least; in an open loop it may have a call under
  // way.
  const int most = plan.is_open_loop ? std::min(plan.connection_count, plan.in_flight_max)
                                     : plan.connection_count;
  return std::min(wanted, most);
}

class LevelRun {
 public:
  LevelRun(const LevelEnvironment& environment, LoadLevel level)
      : environment_(environment),
        plan_(environment.plan),
        profile_(level, plan_.warm_up, plan_.duration),
        control_(absl::ToInt64Nanoseconds(plan_.warm_up),
                 plan_.call_count.value_or(std::numeric_limits<int64_t>::max())),
        planned_end_ns_(plan_.call_count
                            ? std::numeric_limits<int64_t>::max()
                            : absl::ToInt64Nanoseconds(plan_.warm_up + plan_.duration)),
        result_(environment.workload.kind_count()) {
    if (plan_.stability) stability_.emplace(*plan_.stability);
    result_.level = level;
    StartWorkers();
  }

  LevelResult Run() {
    const std::optional<EndReason> ended_early = Watch();
    // The window ends now; the seconds' last part is what remains of it.
    const int64_t end_ns = std::min(control_.NowNs(), planned_end_ns_);
    control_.Stop(end_ns);
    FinishWindow(end_ns);
    result_.end_reason = ended_early.value_or(EndReason::kDone);
    Drain(/*is_hasty=*/result_.end_reason == EndReason::kInterrupted ||
          result_.end_reason == EndReason::kSilent);
    workers_.clear();
    return std::move(result_);
  }

 private:
  void StartWorkers() {
    const int worker_count = WorkerCount(plan_);
    for (int i = 0; i < worker_count; ++i) {
      std::vector<std::shared_ptr<grpc::Channel>> channels;
      for (size_t c = i; c < environment_.channels.size(); c += worker_count) {
        channels.push_back(environment_.channels[c]);
      }
      workers_.push_back(
          std::make_unique<Worker>(Worker::Assignment{.plan = plan_,
                                                      .workload = environment_.workload,
                                                      .profile = profile_,
                                                      .level = result_.level,
                                                      .control = control_,
                                                      .channels = std::move(channels),
                                                      .token = environment_.token,
                                                      .index = i,
                                                      .worker_count = worker_count}));
    }
    result_.generator.thread_count = worker_count;
  }

  // Until the end of the window; a reason where that was not planned.
  std::optional<EndReason> Watch() {
    int64_t now_ns = control_.NowNs();
    for (; now_ns < planned_end_ns_ && !AreWorkersOver(); now_ns = control_.NowNs()) {
      if (environment_.is_interrupted) return EndReason::kInterrupted;
      if (IsSilent(now_ns)) return EndReason::kSilent;
      if (!window_begun_ && now_ns >= control_.window_begin_ns()) BeginWindow(now_ns);
      if (now_ns >= next_second_ns_) {
        next_second_ns_ += kNsPerSecond;
        if (window_begun_ && TakeSecond(now_ns)) return EndReason::kStable;
        environment_.observer(result_);
      }
      std::this_thread::sleep_for(kLook);
    }
    return std::nullopt;
  }

  bool AreWorkersOver() const {
    return std::all_of(workers_.begin(), workers_.end(),
                       [](const auto& worker) { return worker->is_over(); });
  }

  bool IsSilent(int64_t now_ns) {
    const uint64_t progress = Sum([](const Worker& worker) { return worker.progress(); });
    const uint64_t sent = Sum([](const Worker& worker) { return worker.sent_count(); });
    // Nobody can be silent who was not asked.
    const bool is_asked = InFlight() > 0 || sent != sent_before_progress_;
    if (progress != progress_ || !is_asked) {
      progress_ = progress;
      sent_before_progress_ = sent;
      last_progress_ns_ = now_ns;
    }
    return now_ns - last_progress_ns_ > absl::ToInt64Nanoseconds(plan_.give_up_after);
  }

  int InFlight() const {
    return static_cast<int>(Sum([](const Worker& worker) { return worker.in_flight(); }));
  }

  // Of a figure of all workers.
  template <typename Get>
  uint64_t Sum(Get get) const {
    uint64_t sum = 0;
    for (const auto& worker : workers_) sum += get(*worker);
    return sum;
  }

  std::vector<double> WorkerSeconds() const {
    std::vector<double> all;
    for (const auto& worker : workers_) {
      const std::vector<double> seconds = worker->ProcessorSeconds();
      all.insert(all.end(), seconds.begin(), seconds.end());
    }
    return all;
  }

  void BeginWindow(int64_t now_ns) {
    window_begun_ = true;
    second_begin_ns_ = now_ns;
    next_second_ns_ = now_ns + kNsPerSecond;
    process_seconds_at_begin_ = ProcessProcessorSeconds();
    worker_seconds_at_begin_ = WorkerSeconds();
  }

  void FinishWindow(int64_t end_ns) {
    if (!window_begun_) BeginWindow(end_ns);
    TakeSecond(end_ns);
    result_.window_s =
        static_cast<double>(std::max<int64_t>(0, end_ns - control_.window_begin_ns())) / 1e9;
    if (result_.window_s <= 0) return;
    GeneratorFigures& generator = result_.generator;
    generator.processors =
        (ProcessProcessorSeconds() - process_seconds_at_begin_) / result_.window_s;
    const std::vector<double> seconds = WorkerSeconds();
    for (size_t i = 0; i < std::min(seconds.size(), worker_seconds_at_begin_.size()); ++i) {
      generator.busiest_thread = std::max(
          generator.busiest_thread, (seconds[i] - worker_seconds_at_begin_[i]) / result_.window_s);
    }
    generator.held_back_count = Sum([](const Worker& worker) { return worker.held_back_count(); });
  }

  // Adds what has come together; whether the figures are stable now.
  bool TakeSecond(int64_t now_ns) {
    const double length_s = static_cast<double>(now_ns - second_begin_ns_) / 1e9;
    if (length_s <= 0) return false;
    const Recording second = TakeRecordings();
    const SecondPoint point = MakePoint(second, now_ns, length_s);
    second_begin_ns_ = now_ns;
    result_.seconds.push_back(point);
    return stability_ && stability_->Add({point.rate, point.p50_ms, point.p99_ms});
  }

  SecondPoint MakePoint(const Recording& second, int64_t now_ns, double length_s) const {
    const auto quantile_ms = [&](double quantile) {
      return static_cast<double>(second.latency.QuantileNs(quantile)) / 1e6;
    };
    return {.time_s = static_cast<double>(now_ns - control_.window_begin_ns()) / 1e9,
            .level = profile_.At(static_cast<double>(now_ns) / 1e9),
            .rate = static_cast<double>(second.completed) / length_s,
            .bytes_per_second = static_cast<double>(second.completed_bytes) / length_s,
            .p50_ms = quantile_ms(0.5),
            .p99_ms = quantile_ms(0.99),
            .max_ms = static_cast<double>(second.latency.max_ns()) / 1e6,
            .errors = second.failed + second.unanswered,
            .in_flight = InFlight()};
  }

  Recording TakeRecordings() {
    Recording together(environment_.workload.kind_count());
    for (const auto& worker : workers_) together.Merge(worker->recorder().Take());
    result_.recording.Merge(together);
    return together;
  }

  // Waits for the calls under way; not for long where nobody wants to.
  void Drain(bool is_hasty) {
    const int64_t deadline_ns = control_.NowNs() + (is_hasty ? kHastyDrainMaxNs : kDrainMaxNs);
    while (!AreWorkersOver() && control_.NowNs() < deadline_ns &&
           (is_hasty || !environment_.is_interrupted)) {
      std::this_thread::sleep_for(kLook);
    }
    control_.Abandon();
    while (!AreWorkersOver()) std::this_thread::sleep_for(kLook);
    TakeRecordings();
  }

  const LevelEnvironment& environment_;
  const LoadPlan& plan_;
  const LoadProfile profile_;
  RunControl control_;
  const int64_t planned_end_ns_;
  std::optional<StabilityDetector> stability_;
  LevelResult result_;
  bool window_begun_ = false;
  int64_t second_begin_ns_ = 0;
  int64_t next_second_ns_ = kNsPerSecond;
  double process_seconds_at_begin_ = 0;
  std::vector<double> worker_seconds_at_begin_;
  uint64_t progress_ = 0;
  uint64_t sent_before_progress_ = 0;
  int64_t last_progress_ns_ = 0;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace

LevelResult RunLevel(const LevelEnvironment& environment, LoadLevel level) {
  return LevelRun(environment, level).Run();
}

}  // namespace gridfold::load
