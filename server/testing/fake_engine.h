// An engine for tests: its lanes do what the test says, and its health is the test's to decide.
#ifndef GRIDFOLD_SERVER_TESTING_FAKE_ENGINE_H_
#define GRIDFOLD_SERVER_TESTING_FAKE_ENGINE_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/engine.h"
#include "kernels/memory/host_resident_pool.h"

namespace gridfold::server {

// Where jobs wait until the test lets them go on.
class Gate {
 public:
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

  // CANCELLED when the stop came first.
  absl::Status Pass(std::stop_token stop) {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    return changed_.wait(lock, std::move(stop), [this] { return open_; })
               ? absl::OkStatus()
               : absl::CancelledError("stopped");
  }

  // Until so many have come to the gate.
  void WaitForArrivals(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return arrived_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool open_ = false;
  int arrived_ = 0;
};

// What a test wants done in the threads of lanes; it may change its mind while they run.
class Hook {
 public:
  using Function = std::function<absl::Status(std::stop_token)>;

  Hook& operator=(Function function) {
    const std::lock_guard lock(mutex_);
    function_ = std::move(function);
    return *this;
  }

  absl::Status operator()(std::stop_token stop) {
    std::unique_lock lock(mutex_);
    const Function function = function_;
    lock.unlock();
    return function(std::move(stop));
  }

 private:
  std::mutex mutex_;
  Function function_ = [](const std::stop_token&) { return absl::OkStatus(); };
};

class FakeEngine final : public kernels::Engine {
 public:
  // What every Run* call of a lane does before it answers with zeros.
  Hook on_run;
  // What every copy of a lane does before it copies, and so does Clear.
  Hook on_copy;
  std::atomic<bool> healthy = true;
  bool makes_states = true;  // Where a reduction asks for them.
  int lane_count_max = 1 << 20;

  const char* name() const override { return "fake"; }
  const kernels::DeviceDescription& device() const override { return device_; }
  void set_free_bytes(uint64_t bytes) { device_.free_bytes = bytes; }
  void set_memory_bytes(uint64_t bytes) { device_.memory_bytes = bytes; }
  bool Healthy() const override { return healthy; }
  absl::StatusOr<std::unique_ptr<kernels::Lane>> CreateLane(const kernels::LaneOptions&) override {
    if (lane_count_max-- == 0) return absl::ResourceExhaustedError("no memory for another lane");
    return std::make_unique<FakeLane>(*this);
  }
  absl::StatusOr<std::unique_ptr<kernels::ResidentPool>> CreateResidentPool(
      uint64_t size_bytes) override {
    return kernels::CreateHostResidentPool(size_bytes);
  }
  absl::StatusOr<std::unique_ptr<kernels::ExternalMemory>> RegisterHostMemory(
      kernels::MutableHostSpan memory) override {
    return std::make_unique<kernels::ExternalMemory>(
        kernels::MutableResidentSpan{memory.data, memory.size_bytes});
  }

 private:
  class FakeLane final : public kernels::Lane {
   public:
    explicit FakeLane(FakeEngine& engine) : engine_(engine) {}

    absl::StatusOr<kernels::ReductionResult> RunReduction(
        const kernels::ReductionPlan& plan, kernels::InputSpan, std::stop_token stop,
        kernels::RunStatistics& statistics) override {
      statistics.strategy = "fake";
      if (absl::Status status = engine_.on_run(stop); !status.ok()) return status;
      kernels::ReductionResult result = kernels::MakeReductionResult(plan);
      if (plan.return_states && engine_.makes_states) {
        kernels::VisitElementType(plan.array.element_type, [&](auto tag) {
          using S = kernels::ComputeType<typename decltype(tag)::type>;
          result.states.emplace<kernels::GroupStates<S>>(plan.grouping.group_count);
        });
      }
      return result;
    }

    absl::Status RunScan(const kernels::ScanPlan&, kernels::InputSpan, kernels::OutputSpan output,
                         std::stop_token stop, kernels::RunStatistics& statistics) override {
      statistics.strategy = "fake";
      std::visit([](const auto& span) { std::memset(span.data, 0, span.size_bytes); }, output);
      return engine_.on_run(stop);
    }

    absl::Status ContinueScan(const kernels::ScanPlan& plan, kernels::InputSpan input,
                              kernels::OutputSpan output, kernels::ScanCarry& carry,
                              std::stop_token stop, kernels::RunStatistics& statistics) override {
      carry.element_count += plan.array.element_count;
      return RunScan(plan, input, output, std::move(stop), statistics);
    }

    absl::StatusOr<kernels::HistogramResult> RunHistogram(
        const kernels::HistogramPlan& plan, const kernels::HistogramInput&, std::stop_token stop,
        kernels::RunStatistics& statistics) override {
      statistics.strategy = "fake";
      if (absl::Status status = engine_.on_run(stop); !status.ok()) return status;
      kernels::HistogramResult result;
      result.channels.resize(plan.channel_count);
      result.bins = plan.bins;
      return result;
    }

    absl::Status Rearrange(const kernels::Rearrangement&, uint64_t, kernels::InputSpan,
                           kernels::OutputSpan to, std::stop_token stop,
                           kernels::RunStatistics& statistics) override {
      statistics.strategy = "fake";
      std::visit([](const auto& span) { std::memset(span.data, 0, span.size_bytes); }, to);
      return engine_.on_copy(std::move(stop));
    }

    absl::Status Copy(kernels::InputSpan from, kernels::OutputSpan to,
                      std::stop_token stop) override {
      if (absl::Status status = engine_.on_copy(stop); !status.ok()) return status;
      std::byte* place = std::visit([](const auto& span) { return span.data; }, to);
      kernels::ForEachHostSpan(from, [&](const kernels::HostSpan& source) {
        std::memcpy(place, source.data, source.size_bytes);
        place += source.size_bytes;
      });
      return absl::OkStatus();
    }

    absl::Status Clear(kernels::MutableResidentSpan span, std::stop_token stop) override {
      std::memset(span.data, 0, span.size_bytes);
      return engine_.on_copy(stop);
    }

   private:
    FakeEngine& engine_;
  };

  kernels::DeviceDescription device_{
      .name = "fake device", .memory_bytes = 1 << 20, .compute_units = 1, .compute_capability = ""};
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_FAKE_ENGINE_H_
