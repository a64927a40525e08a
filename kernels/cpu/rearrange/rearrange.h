// Rearrangements on the CPU: tiles of kernels/contract/rearrangement.h, several of which the
// workers copy at a time.
#ifndef GRIDFOLD_KERNELS_CPU_REARRANGE_REARRANGE_H_
#define GRIDFOLD_KERNELS_CPU_REARRANGE_REARRANGE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/contract/array.h"
#include "kernels/contract/rearrangement.h"
#include "kernels/cpu/base/job_context.h"

namespace gridfold::kernels::cpu {

// The spans hold the order's input and its elements, of so many bytes each, and do not overlap.
// Errors: CANCELLED.
absl::Status RearrangeOnCpu(const Rearrangement& order, uint64_t element_bytes,
                            const HostSpan& from, const MutableHostSpan& to, JobContext& job);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REARRANGE_REARRANGE_H_
