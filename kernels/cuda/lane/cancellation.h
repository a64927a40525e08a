// A lane notices here that its job is no longer wanted.
#ifndef GRIDFOLD_KERNELS_CUDA_LANE_CANCELLATION_H_
#define GRIDFOLD_KERNELS_CUDA_LANE_CANCELLATION_H_

#include <stop_token>

#include "absl/status/status.h"

namespace gridfold::kernels::cuda {

// CANCELLED once `stop` is requested.
inline absl::Status CheckStop(const std::stop_token& stop) {
  if (stop.stop_requested()) return absl::CancelledError("the job was cancelled");
  return absl::OkStatus();
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_LANE_CANCELLATION_H_
