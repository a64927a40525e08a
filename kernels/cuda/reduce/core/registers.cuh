// These types are the part of a thread's state that is in registers.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_REGISTERS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_REGISTERS_CUH_

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce/core/moment_words.cuh"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

// The parts that a thread keeps in registers, and what is known of the others besides their words.
template <class T, uint32_t kParts>
struct RegisterState : ReductionState<T, FloatingElement<T> ? kParts & ~kMomentParts : kParts> {
  using Base = ReductionState<T, FloatingElement<T> ? kParts & ~kMomentParts : kParts>;
  static constexpr bool kHasWords = FloatingElement<T> && (kParts & kMomentParts) != 0;
  struct NoFlags {};
  std::conditional_t<kHasWords, MomentFlags, NoFlags> flags;

  // The registers of a state that is complete.
  __device__ static RegisterState Of(const ReductionState<T, kParts>& state) {
    RegisterState registers;
    registers.Assign(state);
    if constexpr (kHasWords) {
      MomentWords<T, kParts>::ForEach([&](auto, uint32_t, auto part) {
        FlagsOf(registers.flags, part) = state.template Part<part()>().sum.flags();
      });
    }
    return registers;
  }

  template <class F>
  __device__ void ForEachPart(F&& f) {
    Base::ForEachPart(f);
    if constexpr (kHasWords) f(flags);
  }
  __device__ void Merge(const RegisterState& other) {
    Base::Merge(other);
    if constexpr (kHasWords) flags.Merge(other.flags);
  }
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_REGISTERS_CUH_
