#include "kernels/cpu/scan/operation.inc.h"

namespace gridfold::kernels::cpu {

template absl::Status FindTotals<ScanOperation::kMax>(const ScanPlan&, HostSpan, JobContext&,
                                                      ScanTotals&);
template void CarryOver<ScanOperation::kMax>(const ScanPlan&, const ScanTotals&, ScanCarry&);
template absl::Status FindTotals<ScanOperation::kMaxOfNumbers>(const ScanPlan&, HostSpan,
                                                               JobContext&, ScanTotals&);
template void CarryOver<ScanOperation::kMaxOfNumbers>(const ScanPlan&, const ScanTotals&,
                                                      ScanCarry&);
template absl::Status RunScanOperation<ScanOperation::kMax>(const ScanPlan&, HostSpan,
                                                            MutableHostSpan, ScanCarry*,
                                                            JobContext&);
template absl::Status RunScanOperation<ScanOperation::kMaxOfNumbers>(const ScanPlan&, HostSpan,
                                                                     MutableHostSpan, ScanCarry*,
                                                                     JobContext&);

}  // namespace gridfold::kernels::cpu
