// A thread keeps here what it needs of the elements that it takes, in batches.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_ELEMENTS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_ELEMENTS_CUH_

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/moment_words.cuh"
#include "kernels/cuda/reduce/core/moments.cuh"
#include "kernels/cuda/reduce/core/registers.cuh"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

// `kParts` of the elements that a thread takes: moments of floating-point elements in words, the
// rest in registers.
template <class T, uint32_t kParts>
class ElementAccumulator {
  struct NoMoments {
    __device__ explicit NoMoments(WordColumn) {}
    __device__ void Reset() {}
  };

 public:
  using S = ComputeType<T>;
  using Registers = RegisterState<T, kParts>;
  static constexpr bool kHasWords = Registers::kHasWords;
  static constexpr uint32_t kRegisterParts = Registers::Base::kParts;

  // `words` are the thread's own.
  __device__ ElementAccumulator(WordColumn words, bool ignore_nan)
      : ignore_nan_(ignore_nan), moments_(words) {}

  // Forgets everything.
  __device__ void Reset() {
    registers_ = Registers();
    moments_.Reset();
  }

  // Takes batches that were loaded together: one look for all of them tells whether they are
  // ordinary. Element k of batch b has the index first_index + b * step + k * stride of its group.
  // Requires that every index taken before is smaller.
  template <uint32_t kSize, uint32_t kCount>
  __device__ void Add(const Batch<S, kSize> (&batches)[kCount], uint64_t first_index, uint64_t step,
                      uint32_t stride) {
    if constexpr (kHasWords) {
      if (AddMoments(batches).are_finite) {
        if constexpr (kRegisterParts != 0) AddFiniteToRegisters(batches, first_index, step, stride);
        return;
      }
    }
    if constexpr (kRegisterParts != 0) AddToRegisters(batches, kCount, first_index, step, stride);
  }

  __device__ void AddElement(T x, uint64_t index) {
    const Batch<S, 1> batches[1] = {{{ToCompute(x)}}};
    Add(batches, index, 0, 1);
  }

  // Brings moments into the words, which are then read by CloseWords or JoinWordsOfWarp, and
  // returns the rest. What follows is Reset.
  __device__ Registers Close() {
    if constexpr (kHasWords) registers_.flags = moments_.Close();
    return registers_;
  }

 protected:
  // Adds to the moments; returns what is known of the elements.
  template <uint32_t kSize, uint32_t kCount>
  __device__ KnownOfElements AddMoments(const Batch<S, kSize> (&batches)[kCount]) {
    static_assert(kSize * kCount <= ReduceTuning::kGroupElementsMax);
    S values[kCount][kSize];
#pragma unroll
    for (uint32_t i = 0; i < kSize * kCount; ++i) {
      values[i / kSize][i % kSize] = batches[i / kSize].values[i % kSize];
    }
    if (ignore_nan_) {
      bool has_nan = false;
      bool has_number = false;
#pragma unroll
      for (uint32_t i = 0; i < kSize * kCount; ++i) {
        S& x = values[i / kSize][i % kSize];
        has_nan = has_nan || IsNan(x);
        has_number = has_number || !IsNan(x);
        if (IsNan(x)) x = S{-0.0};  // Adds nothing to any moment.
      }
      if (!has_number) return {};
      const KnownOfElements known = moments_.Add(values);
      return has_nan ? KnownOfElements{} : known;
    }
    return moments_.Add(values);
  }

  // Takes the first `count` of the batches. Loops over batches are unrolled: an index that is known
  // at run time only would send them to memory.
  template <uint32_t kSize, uint32_t kCount>
  __device__ void AddToRegisters(const Batch<S, kSize> (&batches)[kCount], uint32_t count,
                                 uint64_t first_index, uint64_t step, uint32_t stride) {
#pragma unroll
    for (uint32_t b = 0; b < kCount; ++b) {
      if (b >= count) return;
      const uint64_t index = first_index + b * step;
      if (FloatingElement<T> && ignore_nan_ && HasNan(batches[b])) {
#pragma unroll
        for (uint32_t k = 0; k < kSize; ++k) {
          AddRegisters(batches[b].values[k], index + k * stride);
        }
      } else {
        registers_.Base::ForEachPart(
            [&](auto& part) { AddBatch(batches[b], index, stride, part); });
      }
    }
  }

  bool ignore_nan_;
  Registers registers_;
  std::conditional_t<kHasWords, MomentAccumulator<T, kParts>, NoMoments> moments_;

 private:
  template <uint32_t kSize, uint32_t kCount>
  __device__ void AddFiniteToRegisters(const Batch<S, kSize> (&batches)[kCount],
                                       uint64_t first_index, uint64_t step, uint32_t stride) {
    registers_.Base::ForEachPart(
        [&](auto& part) { AddFinite(batches, first_index, step, stride, part); });
  }

  // Where NaNs are ignored.
  __device__ void AddRegisters(S x, uint64_t index) {
    if (!IsNan(x)) {
      registers_.Base::ForEachPart([&](auto& part) { part.Add(x, index); });
    } else if constexpr ((kParts & kTallyPart) != 0) {
      registers_.template Part<kTallyPart>().nan += 1;
    }
  }
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_ELEMENTS_CUH_
