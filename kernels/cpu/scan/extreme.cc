#include "kernels/cpu/scan/operation.inc.h"

namespace gridfold::kernels::cpu {

template absl::Status RunScanOperation<ScanOperation::kMax>(const ScanPlan&, HostSpan,
                                                            MutableHostSpan, ScanCarry*,
                                                            JobContext&);
template absl::Status RunScanOperation<ScanOperation::kMaxOfNumbers>(const ScanPlan&, HostSpan,
                                                                     MutableHostSpan, ScanCarry*,
                                                                     JobContext&);

}  // namespace gridfold::kernels::cpu
