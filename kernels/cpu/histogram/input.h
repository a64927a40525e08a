// A histogram's arrays on the CPU engine.
#ifndef GRIDFOLD_KERNELS_CPU_HISTOGRAM_INPUT_H_
#define GRIDFOLD_KERNELS_CPU_HISTOGRAM_INPUT_H_

#include "kernels/contract/array.h"

namespace gridfold::kernels::cpu {

// All of them lie in host memory here.
struct HostHistogramInput {
  HostSpan array;
  HostSpan y_array;
  HostSpan weights;
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_HISTOGRAM_INPUT_H_
