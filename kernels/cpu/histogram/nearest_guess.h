// Guesses of bins (numerics/bins/guess.h) in the rounding that programs run in, to the nearest, and
// without fused operations: what compilers make vectors of. The guesser is made for
// GuessRounding::kNearest.
#ifndef GRIDFOLD_KERNELS_CPU_HISTOGRAM_NEAREST_GUESS_H_
#define GRIDFOLD_KERNELS_CPU_HISTOGRAM_NEAREST_GUESS_H_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/numerics/bins/guess.h"

namespace gridfold::kernels::cpu {

// The nearest float64, ties to even. Of 64 bits as the sum of their halves, each of which is exact
// (with 2^84 and 2^52 before them): not all vectors have a conversion of such integers.
template <class T>
inline double NearestDouble(T x) {
  if constexpr (IntegerElement<T> && sizeof(T) == 8) {
    constexpr uint64_t kSign = std::is_signed_v<T> ? uint64_t{1} << 31 : 0;
    constexpr double kHighOrigin = std::is_signed_v<T> ? 0x1p84 + 0x1p63 + 0x1p52 : 0x1p84 + 0x1p52;
    const uint64_t bits = static_cast<uint64_t>(x);
    const uint64_t high = ((bits >> 32) ^ kSign) | std::bit_cast<uint64_t>(0x1p84);
    const uint64_t low = (bits & 0xFFFF'FFFF) | std::bit_cast<uint64_t>(0x1p52);
    return (std::bit_cast<double>(high) - kHighOrigin) + std::bit_cast<double>(low);
  } else {
    return static_cast<double>(ToCompute(x));
  }
}

template <class T>
inline BinGuess GuessBinNearest(const BinGuesser& guesser, T x) {
  const double sum = NearestDouble(x) * guesser.scale + guesser.offset;
  const uint64_t bits = std::bit_cast<uint64_t>(sum);
  return {static_cast<uint32_t>(bits >> 32) - bin_guess_internal::kBaseHighWord,
          static_cast<uint32_t>(bits)};
}

// The guessed bin of x, or `unsure`; unsure + 1 below all bins and unsure + 2 above them. Of
// samples outside that are not float64 numbers, those that are rounded to a bound are unsure: the
// others are where the nearest float64 is.
template <class T>
inline uint32_t SureBin(const BinGuesser& guesser, T x, uint32_t unsure) {
  const BinGuess guess = GuessBinNearest(guesser, x);
  uint32_t bin = IsSure(guesser, guess) ? guess.bin : unsure;
  // One comparison after the other, without branches: vectors.
  const double value = NearestDouble(x);
  bin = value < guesser.bins.lower ? unsure + 1 : bin;
  bin = value > guesser.bins.upper ? unsure + 2 : bin;
  return bin;
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_HISTOGRAM_NEAREST_GUESS_H_
