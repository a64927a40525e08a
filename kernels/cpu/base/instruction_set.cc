#include "kernels/cpu/base/instruction_set.h"

#include <algorithm>
#include <atomic>

namespace gridfold::kernels::cpu {

namespace {

InstructionSet Detect() {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx2) return avx512 ? InstructionSet::kAvx512 : InstructionSet::kAvx2;
#endif
  return InstructionSet::kBaseline;
}

std::atomic<InstructionSet>& Active() {
  static std::atomic<InstructionSet> active = std::min(Detect(), kBestInstructionSet);
  return active;
}

}  // namespace

InstructionSet ActiveInstructionSet() { return Active().load(std::memory_order_relaxed); }

void LimitInstructionSet(InstructionSet most) {
  Active().store(std::min({Detect(), kBestInstructionSet, most}), std::memory_order_relaxed);
}

}  // namespace gridfold::kernels::cpu
