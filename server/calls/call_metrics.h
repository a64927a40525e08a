// Counts the calls of the server's services. Knows nothing of how the counts are exposed.
//
// Thread-safe. Recording a call is some fifteen additions to atomic integers, without a lock and
// without allocation; server/BENCHMARKS.md has the cost. Of what a caller sends, only the values of
// validated enumerations decide where a call is counted.
#ifndef GRIDFOLD_SERVER_CALLS_CALL_METRICS_H_
#define GRIDFOLD_SERVER_CALLS_CALL_METRICS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/base/duration_histogram.h"
#include "server/base/fixed_limits.h"
#include "server/base/name_table.h"
#include "server/base/rpc.h"
#include "server/calls/call_report.h"

namespace gridfold::server {

class CallMetrics {
 public:
  // The parts of a call's time that are counted by themselves.
  enum class Stage : uint8_t { kAdmission, kQueue, kStageIn, kKernel, kStageOut };
  static constexpr std::array kStageNames = {"admission", "queue", "stage_in", "kernel",
                                             "stage_out"};

  // Of all calls of an RPC.
  struct RpcMetrics {
    DurationHistogram duration;  // From arrival to the answer handed to the transport.
    // Admission: of accepted calls. The others: of calls that a lane ran, whatever came of them.
    std::array<DurationHistogram, kStageNames.size()> stages;
    std::atomic<uint64_t> request_bytes = 0;
    std::atomic<uint64_t> response_bytes = 0;
    std::atomic<uint64_t> kernel_read_bytes = 0;
  };

  // Calls that are alike. Labels are "none" where a call has no such thing.
  struct CallCount {
    Rpc rpc;
    absl::StatusCode code;
    std::string element_type;
    std::string strategy;  // "other" for those past kMetricStrategyCountMax.
    uint64_t calls = 0;    // At least one.
  };

  // The call ends now, with this code.
  void Record(const CallReport& report, absl::StatusCode code, uint64_t response_bytes);

  const RpcMetrics& rpc(Rpc rpc) const { return rpcs_[static_cast<size_t>(rpc)]; }
  std::vector<CallCount> CountCalls() const;

 private:
  // The codes of the gRPC protocol, from OK to UNAUTHENTICATED.
  static constexpr size_t kCodeCount = 17;
  // The element types, then none.
  static constexpr size_t kTypeCount = kernels::kElementTypeCount + 1;
  // The strategies that were met, then those past the table's end, then none.
  static constexpr size_t kOtherStrategy = kMetricStrategyCountMax;
  static constexpr size_t kNoStrategy = kMetricStrategyCountMax + 1;
  static constexpr size_t kStrategyCount = kMetricStrategyCountMax + 2;

  std::array<RpcMetrics, kRpcCount> rpcs_;
  NameTable<kMetricStrategyCountMax> strategies_;
  // By RPC, code, element type and strategy, the last one innermost: 2 MiB.
  std::array<std::atomic<uint64_t>, kRpcCount * kCodeCount * kTypeCount * kStrategyCount> calls_{};
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_CALLS_CALL_METRICS_H_
