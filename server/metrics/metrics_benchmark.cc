// What metrics cost: recording a call, from several threads at once, and reading everything for a
// scrape.
#include <benchmark/benchmark.h>
#include <prometheus/text_serializer.h>

#include "server/metrics/collector.h"
#include "server/testing/fake_engine.h"

namespace gridfold::server {
namespace {

CallReport SmallReduction() {
  CallReport report(Rpc::kReduceArray, 1);
  report.request_bytes = 4120;
  report.element_type = kernels::ElementType::kFloat32;
  report.admission_time = std::chrono::microseconds(12);
  report.queue_time = std::chrono::microseconds(7);
  report.run.strategy = "reduce/groups/contiguous";
  report.run.bytes_read = 4096;
  report.run.kernel_time = std::chrono::microseconds(9);
  return report;
}

// The metrics of one server, which all its threads share. All calls fall on the same counters.
CallMetrics& SharedMetrics() {
  static auto* const metrics = new CallMetrics;
  return *metrics;
}

void RecordCall(benchmark::State& state) {
  const CallReport report = SmallReduction();
  for (auto _ : state) SharedMetrics().Record(report, absl::StatusCode::kOk, 74);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(RecordCall)->Threads(1)->Threads(2)->Threads(8)->UseRealTime();

void CollectAndWrite(benchmark::State& state) {
  FakeEngine engine;
  const auto scheduler = Scheduler::Create({&engine}, {}).value();
  const ServingState serving_state;
  const Limits limits;
  const ArrayStore arrays(engine.CreateResidentPool(limits.resident_bytes_max).value(), limits);
  const StreamAdmission streams(limits.stream_count_max, limits.queued_bytes_max, {});
  SharedMetrics().Record(SmallReduction(), absl::StatusCode::kOk, 74);
  const MetricsCollector collector({.calls = SharedMetrics(),
                                    .scheduler = *scheduler,
                                    .arrays = arrays,
                                    .streams = streams,
                                    .engines = {&engine},
                                    .serving_state = serving_state});
  const prometheus::TextSerializer serializer;
  size_t text_bytes = 0;
  for (auto _ : state) text_bytes = serializer.Serialize(collector.Collect()).size();
  state.counters["text_bytes"] = static_cast<double>(text_bytes);
}
BENCHMARK(CollectAndWrite)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace gridfold::server

BENCHMARK_MAIN();
