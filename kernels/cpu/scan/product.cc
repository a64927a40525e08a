#include "kernels/cpu/scan/operation.inc.h"

namespace gridfold::kernels::cpu {

template absl::Status RunScanOperation<ScanOperation::kProduct>(const ScanPlan&, HostSpan,
                                                                MutableHostSpan, ScanCarry*,
                                                                JobContext&);

}  // namespace gridfold::kernels::cpu
