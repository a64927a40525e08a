// Guesses of bins (numerics/bin_guess.h) in the rounding that programs run in, to the nearest, and
// without fused operations: what compilers make vectors of.
#ifndef GRIDFOLD_KERNELS_CPU_NEAREST_GUESS_H_
#define GRIDFOLD_KERNELS_CPU_NEAREST_GUESS_H_

#include <bit>
#include <cstdint>
#include <optional>

#include "kernels/numerics/bin_guess.h"

namespace gridfold::kernels {

// For floating-point samples. The errors beside those of rounding down, half a unit of the sum and
// that of a product of its own, are within the twofold bound.
inline std::optional<BinGuesser> MakeNearestGuesser(const BinLayout& layout) {
  std::optional<BinGuesser> guesser = MakeBinGuesser(layout, /*integer_samples=*/false);
  if (guesser.has_value()) GuardBothSides(*guesser);
  return guesser;
}

template <class T>
inline BinGuess GuessBinNearest(const BinGuesser& guesser, T x) {
  const double sum = static_cast<double>(x) * guesser.scale + guesser.offset;
  const uint64_t bits = std::bit_cast<uint64_t>(sum);
  return {static_cast<uint32_t>(bits >> 32) - bin_guess_internal::kBaseHighWord,
          static_cast<uint32_t>(bits)};
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CPU_NEAREST_GUESS_H_
