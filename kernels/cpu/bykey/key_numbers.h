// The keys of elements as unsigned numbers, which are ordered as the keys are.
#ifndef GRIDFOLD_KERNELS_CPU_BYKEY_KEY_NUMBERS_H_
#define GRIDFOLD_KERNELS_CPU_BYKEY_KEY_NUMBERS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/contract/keyed_reduction.h"
#include "kernels/cpu/base/job_context.h"
#include "kernels/cpu/bykey/buffer.h"

namespace gridfold::kernels::cpu {

struct KeyNumbers {
  // One for each element; of 32 bits where they fit.
  std::variant<Buffer<uint32_t>, Buffer<uint64_t>> numbers;
  // The group of a number is (number + first) ^ sign: a key's bits, or a bin.
  uint64_t first = 0;
  uint64_t sign = 0;
  // The number of elements that are in no group, if any may be; it is the largest.
  std::optional<uint32_t> dropped;
  std::vector<PlannedBins> bins;  // The plan's, with automatic ranges resolved.
  uint64_t underflow_count = 0;
  uint64_t overflow_count = 0;
  uint64_t nan_count = 0;
};

// Of keys that are found.
absl::StatusOr<KeyNumbers> NumberKeys(const KeyedReductionPlan& plan, HostSpan keys,
                                      JobContext& job);

// Of keys as coordinates of the plan's bins, those of one axis after those of the other: the
// numbers of the bins. Errors: a key outside of a range.
absl::StatusOr<KeyNumbers> NumberBins(const KeyedReductionPlan& plan,
                                      std::span<const HostSpan> keys, JobContext& job);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_BYKEY_KEY_NUMBERS_H_
