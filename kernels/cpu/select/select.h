// Selections (kernels/contract/selection.h) on the CPU: the workers count tiles, and then copy
// them.
#ifndef GRIDFOLD_KERNELS_CPU_SELECT_SELECT_H_
#define GRIDFOLD_KERNELS_CPU_SELECT_SELECT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/array.h"
#include "kernels/contract/selection.h"
#include "kernels/cpu/base/job_context.h"

namespace gridfold::kernels::cpu {

// As Lane::Select. A mask without a place has no bytes. Errors: CANCELLED.
absl::StatusOr<std::vector<uint64_t>> SelectOnCpu(const SelectionPlan& plan, const HostSpan& input,
                                                  const HostSpan& mask,
                                                  std::span<uint64_t> tile_starts,
                                                  std::byte* selected, JobContext& job);

// As Lane::FindSelected.
absl::Status FindSelectedOnCpu(const HostSpan& mask, std::span<const uint64_t> tile_starts,
                               std::span<uint64_t> places, JobContext& job);

// As Lane::Replace.
absl::Status ReplaceOnCpu(uint64_t element_bytes, const ElementBytes& replacement,
                          const HostSpan& input, const HostSpan& mask, std::byte* output,
                          JobContext& job);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_SELECT_SELECT_H_
