#include "server/calls/call_metrics.h"

#include "kernels/types/element_type.h"

namespace gridfold::server {

namespace {

constexpr char kNone[] = "none";
constexpr char kOther[] = "other";

void Add(std::atomic<uint64_t>& counter, uint64_t amount) {
  counter.fetch_add(amount, std::memory_order_relaxed);
}

}  // namespace

void CallMetrics::Record(const CallReport& report, absl::StatusCode code, uint64_t response_bytes) {
  const size_t rpc_index = static_cast<size_t>(report.rpc);
  const size_t type =
      report.element_type ? static_cast<size_t>(*report.element_type) : kTypeCount - 1;
  const size_t strategy =
      report.run.strategy.empty() ? kNoStrategy : strategies_.IndexOf(report.run.strategy);
  const size_t code_index = static_cast<size_t>(code);
  Add(calls_[((rpc_index * kCodeCount + code_index) * kTypeCount + type) * kStrategyCount +
             strategy],
      1);

  RpcMetrics& rpc = rpcs_[rpc_index];
  const auto observe = [&rpc](Stage stage, std::chrono::nanoseconds time) {
    rpc.stages[static_cast<size_t>(stage)].Observe(time);
  };
  rpc.duration.Observe(report.Elapsed());
  if (report.admission_time) observe(Stage::kAdmission, *report.admission_time);
  if (report.queue_time) {
    observe(Stage::kQueue, *report.queue_time);
    observe(Stage::kStageIn, report.run.stage_in_time);
    observe(Stage::kKernel, report.run.kernel_time);
    observe(Stage::kStageOut, report.run.stage_out_time);
  }
  Add(rpc.request_bytes, report.request_bytes);
  Add(rpc.response_bytes, response_bytes);
  Add(rpc.kernel_read_bytes, report.run.bytes_read);
}

std::vector<CallMetrics::CallCount> CallMetrics::CountCalls() const {
  std::vector<CallCount> counts;
  for (size_t i = 0; i < calls_.size(); ++i) {
    const uint64_t calls = calls_[i].load(std::memory_order_relaxed);
    if (calls == 0) continue;
    const size_t strategy = i % kStrategyCount;
    const size_t type = i / kStrategyCount % kTypeCount;
    const size_t code = i / kStrategyCount / kTypeCount % kCodeCount;
    const size_t rpc = i / kStrategyCount / kTypeCount / kCodeCount;
    counts.push_back(
        {.rpc = static_cast<Rpc>(rpc),
         .code = static_cast<absl::StatusCode>(code),
         .element_type = type + 1 == kTypeCount
                             ? kNone
                             : kernels::ElementTypeName(static_cast<kernels::ElementType>(type)),
         .strategy = strategy == kNoStrategy      ? kNone
                     : strategy == kOtherStrategy ? kOther
                                                  : strategies_[strategy],
         .calls = calls});
  }
  return counts;
}

}  // namespace gridfold::server
