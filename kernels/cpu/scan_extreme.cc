#include "kernels/cpu/scan_operation.inc.h"

namespace gridfold::kernels {

template absl::Status RunScanOperation<ScanOperation::kMax>(const ScanPlan&, HostSpan,
                                                            MutableHostSpan, ScanCarry*,
                                                            JobContext&);
template absl::Status RunScanOperation<ScanOperation::kMaxOfNumbers>(const ScanPlan&, HostSpan,
                                                                     MutableHostSpan, ScanCarry*,
                                                                     JobContext&);

}  // namespace gridfold::kernels
