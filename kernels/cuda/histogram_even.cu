// Even and integer bins of one channel, guessed by one multiplication and addition
// (numerics/bin_guess.h). A sample takes some ten instructions.
#include "kernels/cuda/histogram_guessing.cuh"
#include "kernels/cuda/histogram_strategy.h"
#include "kernels/numerics/bin_guess.h"

namespace gridfold::kernels::cuda {

namespace {

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

template <class T, bool kInParts>
__global__ void __launch_bounds__(kHistogramThreads)
    CountEven(const __grid_constant__ HistogramArguments arguments) {
  alignas(kHistogramPartAlignment) extern __shared__ unsigned char shared[];
  __shared__ uint32_t drawn;
  SharedCounters counters(arguments, reinterpret_cast<uint32_t*>(shared));
  counters.Clear();
  __syncthreads();
  CountGuessed<T, kInParts>(arguments, EvenLocator{arguments.guesser}, counters, &drawn);
}

}  // namespace

HistogramKernel FindEvenHistogramKernel(ElementType type, bool in_parts) {
  return VisitElementType(type, [&](auto tag) -> HistogramKernel {
    using T = typename decltype(tag)::type;
    return in_parts ? CountEven<T, true> : CountEven<T, false>;
  });
}

}  // namespace gridfold::kernels::cuda
