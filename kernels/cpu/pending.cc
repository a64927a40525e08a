#include "kernels/cpu/operations.h"
namespace gridfold::kernels {
absl::StatusOr<ReductionResult> ReduceOnCpu(const ReductionPlan&, HostSpan, JobContext&) { return absl::UnimplementedError("x"); }
absl::Status ScanOnCpu(const ScanPlan&, HostSpan, MutableHostSpan, JobContext&) { return absl::UnimplementedError("x"); }
absl::StatusOr<HistogramResult> HistogramOnCpu(const HistogramPlan&, const HistogramInput&, JobContext&) { return absl::UnimplementedError("x"); }
}
