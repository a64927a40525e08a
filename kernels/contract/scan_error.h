// Errors of a scan that only the elements show.
#ifndef GRIDFOLD_KERNELS_CONTRACT_SCAN_ERROR_H_
#define GRIDFOLD_KERNELS_CONTRACT_SCAN_ERROR_H_

#include "absl/status/status.h"
#include "kernels/contract/scan.h"

namespace gridfold::kernels {

// OUT_OF_RANGE: a result of an integer scan is not a value of the output type.
absl::Status ScanOverflowError(const ScanPlan& plan);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_SCAN_ERROR_H_
