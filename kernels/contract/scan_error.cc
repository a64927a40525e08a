#include "kernels/contract/scan_error.h"

#include "absl/strings/str_cat.h"

namespace gridfold::kernels {

absl::Status ScanOverflowError(const ScanPlan& plan) {
  return absl::OutOfRangeError(absl::StrCat("a result of the ", ScanOperationName(plan.operation),
                                            " scan does not fit in ",
                                            ElementTypeName(plan.output_type)));
}

}  // namespace gridfold::kernels
