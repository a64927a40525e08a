// The scans that a type has.
#ifndef GRIDFOLD_KERNELS_CONFORMANCE_SCAN_SPECS_H_
#define GRIDFOLD_KERNELS_CONFORMANCE_SCAN_SPECS_H_

#include <vector>

#include "kernels/contract/scan.h"

namespace gridfold::kernels::conformance {

// Every operation, mode, direction and output type.
inline std::vector<ScanSpec> ScansOf(ElementType type) {
  std::vector<ScanSpec> specs;
  for (const ScanOperation operation :
       {ScanOperation::kSum, ScanOperation::kProduct, ScanOperation::kMin, ScanOperation::kMax}) {
    std::vector<ElementType> outputs = {type};
    const bool extreme = operation == ScanOperation::kMin || operation == ScanOperation::kMax;
    if (!extreme && AccumulatorType(type) != type) outputs.push_back(AccumulatorType(type));
    for (const ElementType output : outputs) {
      for (const ScanMode mode : {ScanMode::kInclusive, ScanMode::kExclusive}) {
        for (const ScanDirection direction : {ScanDirection::kForward, ScanDirection::kReverse}) {
          ScanSpec spec;
          spec.operation = operation;
          spec.mode = mode;
          spec.direction = direction;
          spec.output_type = output;
          specs.push_back(spec);
        }
      }
    }
  }
  return specs;
}

}  // namespace gridfold::kernels::conformance

#endif  // GRIDFOLD_KERNELS_CONFORMANCE_SCAN_SPECS_H_
