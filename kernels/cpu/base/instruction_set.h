// Kernels compiled for several instruction sets, of which the best is chosen at run time.
//
// A kernel is a struct with a static function Run. RunForProcessor<Kernel>(arguments...) calls a
// copy of it in which everything it calls is inlined and compiled for the chosen instructions. No
// other function is compiled for them, so none that a plain processor cannot run is linked
// elsewhere.
#ifndef GRIDFOLD_KERNELS_CPU_BASE_INSTRUCTION_SET_H_
#define GRIDFOLD_KERNELS_CPU_BASE_INSTRUCTION_SET_H_

#include <cstdint>

namespace gridfold::kernels::cpu {

enum class InstructionSet : uint8_t {
  kBaseline,  // What the compiler assumes anyway.
  kAvx2,      // With FMA and F16C.
  kAvx512,    // F, BW, DQ and VL, on top of kAvx2.
};

// The best that this processor has, up to the limit below. Thread-safe.
InstructionSet ActiveInstructionSet();

// For tests and benchmarks: from now on nothing better than `most` is chosen.
void LimitInstructionSet(InstructionSet most);

// What kernels are compiled for, from the least that a processor must have to the best that is
// used: all sets, unless GRIDFOLD_NATIVE_KERNELS is the number of the only one.
// GRIDFOLD_BASELINE_KERNELS leaves the baseline, as on other processors.
#if !defined(__x86_64__) || !defined(__GNUC__) || defined(GRIDFOLD_BASELINE_KERNELS)
inline constexpr InstructionSet kLeastInstructionSet = InstructionSet::kBaseline;
inline constexpr InstructionSet kBestInstructionSet = InstructionSet::kBaseline;
#elif defined(GRIDFOLD_NATIVE_KERNELS)
inline constexpr InstructionSet kLeastInstructionSet{GRIDFOLD_NATIVE_KERNELS};
inline constexpr InstructionSet kBestInstructionSet = kLeastInstructionSet;
#else
inline constexpr InstructionSet kLeastInstructionSet = InstructionSet::kBaseline;
inline constexpr InstructionSet kBestInstructionSet = InstructionSet::kAvx512;
#endif

#if defined(__x86_64__) && defined(__GNUC__)

template <class Kernel, class... Arguments>
[[gnu::flatten, gnu::target("avx2,fma,f16c,bmi,bmi2,lzcnt")]] void RunWithAvx2(
    const Arguments&... arguments) {
  Kernel::Run(arguments...);
}

template <class Kernel, class... Arguments>
[[gnu::flatten, gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2,lzcnt,"
                            "prefer-vector-width=512")]] void
RunWithAvx512(const Arguments&... arguments) {
  Kernel::Run(arguments...);
}

#endif

template <class Kernel, class... Arguments>
void RunForProcessor(const Arguments&... arguments) {
#if defined(__x86_64__) && defined(__GNUC__)
  // Copies that are never chosen are not compiled.
  if constexpr (kLeastInstructionSet == InstructionSet::kAvx512) {
    return RunWithAvx512<Kernel>(arguments...);
  } else if constexpr (kLeastInstructionSet == InstructionSet::kAvx2) {
    return RunWithAvx2<Kernel>(arguments...);
  } else if constexpr (kBestInstructionSet == InstructionSet::kAvx512) {
    switch (ActiveInstructionSet()) {
      case InstructionSet::kAvx512: return RunWithAvx512<Kernel>(arguments...);
      case InstructionSet::kAvx2: return RunWithAvx2<Kernel>(arguments...);
      case InstructionSet::kBaseline: break;
    }
  }
#endif
  Kernel::Run(arguments...);
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_BASE_INSTRUCTION_SET_H_
