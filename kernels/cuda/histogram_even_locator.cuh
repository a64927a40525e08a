// Even and integer bins of one channel, guessed by one multiplication and addition
// (numerics/bin_guess.h): a Locator of histogram_guessing.cuh.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_EVEN_LOCATOR_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_EVEN_LOCATOR_CUH_

#include <cstdint>

#include "kernels/numerics/bin_guess.h"

namespace gridfold::kernels::cuda {

struct EvenLocator {
  BinGuesser guesser;

  template <class T>
  __device__ BinGuess Guess(T x) const {
    return GuessBin(guesser, x);
  }
  __device__ bool IsSure(const BinGuess& guess) const { return kernels::IsSure(guesser, guess); }
  template <class T>
  __device__ int64_t Resolve(const BinGuess& guess, T x) const {
    return ResolveGuess(guesser, guess, x);
  }
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_EVEN_LOCATOR_CUH_
