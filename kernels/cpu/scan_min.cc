#include "kernels/cpu/scan_operation.inc.h"

namespace gridfold::kernels {

template absl::Status RunScanOperation<ScanOperation::kMin>(const ScanPlan&, HostSpan,
                                                            MutableHostSpan, ScanCarry*,
                                                            JobContext&);

}  // namespace gridfold::kernels
