// The sections that put the server under load: more than it can answer, and much of everything.
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/transport_benchmark/connection.h"
#include "client/transport_benchmark/http_get.h"
#include "client/transport_benchmark/requests.h"
#include "client/transport_benchmark/resident_array.h"
#include "client/transport_benchmark/sections.h"
#include "client/transport_benchmark/unary_load.h"

namespace gridfold::transport_benchmark {

namespace {

constexpr double kMega = 1e6;

// The value of a metric, by its name and labels as the text has them; 0 where it is missing.
double Metric(const std::string& text, const std::string& name) {
  const size_t at = text.find("\n" + name + " ");
  return at == std::string::npos ? 0 : std::atof(text.c_str() + at + name.size() + 2);
}

struct Memory {
  double device_bytes = 0;
  double pinned_bytes = 0;
  double allocations = 0;
};

Memory ReadMemory(const Targets& targets) {
  const std::string text = HttpGet(targets.metrics_port, "/metrics");
  Memory memory;
  memory.device_bytes = Metric(text, "gridfold_engine_memory_bytes{kind=\"device\"}");
  memory.pinned_bytes = Metric(text, "gridfold_engine_memory_bytes{kind=\"pinned\"}");
  for (const char* kind : {"device", "pinned", "registration", "stream"}) {
    memory.allocations +=
        Metric(text, absl::StrCat("gridfold_engine_allocations_total{kind=\"", kind, "\"}"));
  }
  return memory;
}

double Mean(const std::vector<double>& values, size_t first, size_t count) {
  const auto begin = values.begin() + static_cast<ptrdiff_t>(first);
  return std::accumulate(begin, begin + static_cast<ptrdiff_t>(count), 0.0) /
         static_cast<double>(count);
}

// From the first third of the samples to the last, by their means.
double GrowthPercent(const std::vector<double>& samples) {
  const size_t third = std::max<size_t>(samples.size() / 3, 1);
  return 100 * (Mean(samples, samples.size() - third, third) / Mean(samples, 0, third) - 1);
}

std::string Range(const std::vector<double>& samples) {
  const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
  return absl::StrCat(static_cast<int>(*least / kMega), " to ", static_cast<int>(*most / kMega),
                      " MB");
}

// 256 calls of all sizes under way at any time, in rounds. What is in flight makes the server's
// memory go up and down by half; between two rounds nothing is, and what it holds then is its own.
class Soak {
 public:
  explicit Soak(const Targets& targets) : targets_(targets) {}

  void RunRound(std::chrono::milliseconds duration) {
    constexpr struct {
      uint64_t size_bytes;
      int calls;
    } kKinds[] = {{256, 64}, {4 << 10, 64}, {64 << 10, 64}, {1 << 20, 48}, {16 << 20, 16}};
    std::vector<UnaryFigures> figures(std::size(kKinds));
    std::vector<std::thread> threads;
    for (size_t i = 0; i < std::size(kKinds); ++i) {
      threads.emplace_back([&, i] {
        UnaryLoad load{.target = targets_.gridfold,
                       .method = kReduceArray,
                       .request = InlineSum(kKinds[i].size_bytes).SerializeAsString(),
                       .connections = 4,
                       .calls_per_connection = kKinds[i].calls / 4};
        load.warm_up = std::chrono::milliseconds(0);
        load.duration = duration;
        figures[i] = RunUnaryLoad(load);
      });
    }
    const auto end = std::chrono::steady_clock::now() + duration;
    while (std::chrono::steady_clock::now() < end) {
      loaded_bytes_.push_back(ResidentBytes());
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    for (std::thread& thread : threads) thread.join();
    for (const UnaryFigures& kind : figures) Count(kind);
    // The last answers and connections go.
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    resting_bytes_.push_back(ResidentBytes());
  }

  Row GrowthRow() const {
    return {.what = "256 mixed jobs in flight: growth of memory",
            .value = GrowthPercent(resting_bytes_),
            .unit = "%",
            .goal_at_most = 1,
            .note = absl::StrCat(answered_, " answered; ", Range(resting_bytes_), " at rest, ",
                                 Range(loaded_bytes_), " under load", errors_)};
  }

 private:
  double ResidentBytes() const { return static_cast<double>(targets_.server->ResidentBytes()); }

  void Count(const UnaryFigures& kind) {
    answered_ += kind.answered;
    if (kind.failed + kind.refused == 0) return;
    absl::StrAppend(&errors_, " ", kind.refused, " refused, ", kind.failed, " failed ",
                    kind.first_error);
  }

  const Targets& targets_;
  std::vector<double> loaded_bytes_;
  std::vector<double> resting_bytes_;
  uint64_t answered_ = 0;
  std::string errors_;
};

}  // namespace

void MeasureOverload(const Targets& targets, Report& report) {
  // What limits is the engine: the array is there, and calls are small.
  const grpc::Status created =
      CreateArray(OpenConnection(targets.gridfold), uint64_t{1} << (targets.quick ? 20 : 27));
  UnaryLoad load{.target = targets.gridfold,
                 .method = kReduceArray,
                 .request = ResidentFullStatistics().SerializeAsString()};
  if (targets.quick) load.duration = load.warm_up = std::chrono::milliseconds(100);
  // As many at a time as the server takes before it refuses any.
  load.connections = 4;
  load.calls_per_connection = kOverloadLanes + kOverloadQueue;
  load.calls_per_connection /= load.connections;
  const UnaryFigures unloaded = RunUnaryLoad(load);
  load.connections = 8;
  load.calls_per_connection = 64;
  load.calls_per_second = 3 * unloaded.calls_per_second;
  const UnaryFigures overloaded = RunUnaryLoad(load);
  report.Add({.what = "overload at 3 x capacity: answered",
              .value = overloaded.calls_per_second,
              .unit = "calls/s",
              .ceiling = unloaded.calls_per_second,
              .goal_at_least = 0.9,
              .note = absl::StrCat(overloaded.refused, " refused, ", overloaded.failed, " failed ",
                                   overloaded.first_error, created.error_message())});
  report.Add({.what = "overload: p99 of the answered",
              .value = overloaded.p99_us,
              .unit = "us",
              .ceiling = unloaded.p99_us,
              .goal_at_most = 3});
  report.Add({.what = "overload: p50 of the refused",
              .value = overloaded.refused_p50_us,
              .unit = "us",
              .goal_at_most = 1000,
              .note = absl::StrCat("p99 ", static_cast<int>(overloaded.refused_p99_us), " us")});
}

void MeasureSoak(const Targets& targets, Report& report) {
  constexpr int kRounds = 12;
  const std::chrono::seconds warm_up(targets.quick ? 1 : 10);
  const std::chrono::seconds duration(targets.quick ? 1 : targets.soak_seconds);
  Soak(targets).RunRound(warm_up);
  const Memory before = ReadMemory(targets);
  Soak soak(targets);
  for (int round = 0; round < kRounds; ++round) {
    soak.RunRound(std::chrono::milliseconds(duration) / kRounds);
  }
  const Memory after = ReadMemory(targets);
  report.Add(soak.GrowthRow());
  report.Add(
      {.what = "256 mixed jobs: device and pinned bytes more",
       .value = after.device_bytes + after.pinned_bytes - before.device_bytes - before.pinned_bytes,
       .unit = "bytes",
       .goal_at_most = 1e-9,
       .note = absl::StrCat(static_cast<int>(after.device_bytes / kMega), " MB device, ",
                            static_cast<int>(after.pinned_bytes / kMega), " MB pinned")});
  report.Add({.what = "256 mixed jobs: allocations and registrations",
              .value = after.allocations - before.allocations,
              .unit = "",
              .goal_at_most = 1e-9,
              .note = absl::StrCat(static_cast<int>(after.allocations), " since the start")});
}

}  // namespace gridfold::transport_benchmark
