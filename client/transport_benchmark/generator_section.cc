// The section about gridfold_load: what it can send, beside the same calls of a client that does
// nothing else.
#include <algorithm>
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/load/run/load_run.h"
#include "client/transport_benchmark/median.h"
#include "client/transport_benchmark/requests.h"
#include "client/transport_benchmark/sections.h"
#include "client/transport_benchmark/stream_load.h"
#include "client/transport_benchmark/unary_load.h"

namespace gridfold::transport_benchmark {

namespace {

constexpr double kGiga = 1e9;
constexpr uint64_t kSmallBytes = 4096;
// Of what is streamed; the generator keeps all of it, the bare client a chunk.
constexpr uint64_t kStreamedBytes = uint64_t{64} << 20;
constexpr int kStreamConnections = 8;

// What gridfold_load finds with sums of float32 elements, one call under way on each connection.
class GeneratorLoad {
 public:
  GeneratorLoad(uint64_t array_bytes, load::ArrayTransport transport, int connections)
      : settings_{{"concurrency", absl::StrCat(connections)},
                  {"connections", absl::StrCat(connections)},
                  {"warm-up", "200ms"}} {
    scenario_.requests.push_back({.name = "sum",
                                  .elements = {.choices = {array_bytes / sizeof(float)}},
                                  .transport = transport});
  }

  void Set(const std::string& setting, const std::string& value) {
    settings_.insert_or_assign(setting, value);
  }

  // Runs it; the first error goes to `note`.
  load::LevelResult Run(const std::string& target, std::string& note) const {
    const std::atomic<bool> is_interrupted = false;
    const absl::StatusOr<load::LoadResult> result =
        load::RunLoadTest({.target = target}, scenario_, settings_, is_interrupted,
                          [](const load::LoadResult&, const load::LevelResult&) {});
    if (!result.ok()) {
      note = absl::StrCat("FAILED: ", std::string(result.status().message()));
      return load::LevelResult(scenario_.requests.size());
    }
    const load::LevelResult& level = result->levels.front();
    if (!level.recording.errors.empty()) {
      const auto& [code, tally] = *level.recording.errors.begin();
      note = absl::StrCat("FAILED ", tally.count, ": ", tally.first_message);
    } else if (level.recording.wrong > 0) {
      note = absl::StrCat("WRONG ", level.recording.wrong, ": ", level.recording.first_difference);
    }
    return level;
  }

 private:
  load::Scenario scenario_;
  load::LoadSettings settings_;
};

void MeasureSmallCalls(const Targets& targets, int connections, Report& report) {
  UnaryLoad bare{.target = targets.bare_answers,
                 .method = kReduceArray,
                 .request = InlineSum(kSmallBytes).SerializeAsString(),
                 .connections = connections};
  bare.warm_up = std::chrono::milliseconds(200);
  bare.duration = std::chrono::milliseconds(targets.quick ? 100 : 1000);
  GeneratorLoad generator(kSmallBytes, load::ArrayTransport::kInline, connections);
  generator.Set("verify", "none");
  // As many as the bare client has.
  generator.Set("threads", absl::StrCat(kUnaryThreadsMax));
  generator.Set("duration", targets.quick ? "100ms" : "1s");
  std::vector<double> generator_rates;
  std::vector<double> bare_rates;
  std::string note;
  // In turns, since a machine is not equally fast all the time.
  for (int turn = 0; turn < (targets.quick ? 1 : 5); ++turn) {
    const UnaryFigures figures = RunUnaryLoad(bare);
    if (figures.failed > 0) note = "FAILED: " + figures.first_error;
    bare_rates.push_back(figures.calls_per_second);
    generator_rates.push_back(generator.Run(targets.bare_answers, note).rate());
  }
  report.Add({.what = absl::StrCat("gridfold_load, 4 KiB sums, ", connections, " connections"),
              .value = Median(std::move(generator_rates)),
              .unit = "calls/s",
              .ceiling = Median(std::move(bare_rates)),
              .goal_at_least = 0.9,
              .note = note});
}

// The best of some turns counts, as for all streams.
void MeasureStreamedData(const Targets& targets, Report& report) {
  StreamLoad bare{.target = targets.bare,
                  .method = kReduceStream,
                  .chunk_count = targets.quick ? 16u : 512u,
                  .connections = kStreamConnections};
  bare.header = ReduceStreamHeader(bare.element_count());
  GeneratorLoad generator(targets.quick ? kStreamedBytes / 64 : kStreamedBytes,
                          load::ArrayTransport::kStream, kStreamConnections);
  generator.Set("duration", targets.quick ? "100ms" : "1500ms");
  double bare_rate = 0;
  double to_sink = 0;
  double to_gridfold = 0;
  std::string note;
  std::string sink_note;
  for (int turn = 0; turn < (targets.quick ? 1 : 3); ++turn) {
    bare_rate = std::max(bare_rate, RunStreamLoad(bare).sent_bytes_per_second);
    generator.Set("verify", "none");  // A sink has no answers.
    to_sink = std::max(to_sink, generator.Run(targets.bare, sink_note).bytes_per_second());
    generator.Set("verify", "all");
    to_gridfold = std::max(to_gridfold, generator.Run(targets.gridfold, note).bytes_per_second());
  }
  report.Add({.what = "gridfold_load, streams to a bare sink, 8 connections",
              .value = to_sink / kGiga,
              .unit = "GB/s",
              .ceiling = bare_rate / kGiga,
              .note = sink_note});
  report.Add({.what = "gridfold_load, streamed sums, 8 connections",
              .value = to_gridfold / kGiga,
              .unit = "GB/s",
              .goal_at_least = 16,
              .note = note});
}

}  // namespace

void MeasureGenerator(const Targets& targets, Report& report) {
  for (const int connections : {16, 64}) MeasureSmallCalls(targets, connections, report);
  MeasureStreamedData(targets, report);
}

}  // namespace gridfold::transport_benchmark
