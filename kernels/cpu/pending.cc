#include "kernels/cpu/operations.h"
namespace gridfold::kernels {
absl::Status ScanOnCpu(const ScanPlan&, HostSpan, MutableHostSpan, JobContext&) {
  return absl::UnimplementedError("x");
}
absl::StatusOr<HistogramResult> HistogramOnCpu(const HistogramPlan&, const HistogramInput&,
                                               JobContext&) {
  return absl::UnimplementedError("x");
}
}  // namespace gridfold::kernels
