#include "kernels/cpu/scan/operation.inc.h"

namespace gridfold::kernels::cpu {

template absl::Status FindTotals<ScanOperation::kProduct>(const ScanPlan&, HostSpan, JobContext&,
                                                          ScanTotals&);
template void CarryOver<ScanOperation::kProduct>(const ScanPlan&, const ScanTotals&, ScanCarry&);
template absl::Status RunScanOperation<ScanOperation::kProduct>(const ScanPlan&, HostSpan,
                                                                MutableHostSpan, ScanCarry*,
                                                                JobContext&);

}  // namespace gridfold::kernels::cpu
