// Guesses of bins (numerics/bins/guess.h) in the rounding that programs run in, to the nearest, and
// without fused operations: what compilers make vectors of. The guesser is made for
// GuessRounding::kNearest.
#ifndef GRIDFOLD_KERNELS_CPU_HISTOGRAM_NEAREST_GUESS_H_
#define GRIDFOLD_KERNELS_CPU_HISTOGRAM_NEAREST_GUESS_H_

#include <bit>
#include <cstdint>

#include "kernels/numerics/bins/guess.h"

namespace gridfold::kernels::cpu {

template <class T>
inline BinGuess GuessBinNearest(const BinGuesser& guesser, T x) {
  const double sum = static_cast<double>(x) * guesser.scale + guesser.offset;
  const uint64_t bits = std::bit_cast<uint64_t>(sum);
  return {static_cast<uint32_t>(bits >> 32) - bin_guess_internal::kBaseHighWord,
          static_cast<uint32_t>(bits)};
}

// The guessed bin of x, or `unsure`; of samples that a float64 holds, unsure + 1 below all bins and
// unsure + 2 above them.
template <class T>
inline uint32_t SureBin(const BinGuesser& guesser, T x, uint32_t unsure) {
  const BinGuess guess = GuessBinNearest(guesser, x);
  uint32_t bin = IsSure(guesser, guess) ? guess.bin : unsure;
  if constexpr (FloatingElement<T> || sizeof(T) < 8) {
    // One comparison after the other, without branches: vectors.
    const double value = static_cast<double>(ToCompute(x));
    bin = value < guesser.bins.lower ? unsure + 1 : bin;
    bin = value > guesser.bins.upper ? unsure + 2 : bin;
  }
  return bin;
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_HISTOGRAM_NEAREST_GUESS_H_
