// Guesses of bins (numerics/bins/guess.h) for tables of edges that are almost even, as rounding to
// float makes them: those of even bins between the same bounds, with a guard that has room for how
// far the table's edges are from theirs.
#ifndef GRIDFOLD_KERNELS_CPU_HISTOGRAM_TABLE_GUESS_H_
#define GRIDFOLD_KERNELS_CPU_HISTOGRAM_TABLE_GUESS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "kernels/numerics/bins/guess.h"
#include "kernels/numerics/bins/layout.h"

namespace gridfold::kernels::cpu {

// Larger parts of the samples are not left to a search.
inline constexpr double kUnsureMax = 0x1p-6;

// A guesser for GuessRounding::kNearest that is sure of a bin only where the table has the sample
// in it. Its `bins` are even, with the table's bounds. Nothing where it would be sure of too few.
inline std::optional<BinGuesser> MakeTableGuesser(const BinLayout& table) {
  const uint64_t count = table.bin_count;
  const BinLayout even = BinLayout::Even(table.edges[0], table.edges[count], count);
  std::optional<BinGuesser> guesser =
      MakeBinGuesser(even, SampleKind::kAny, GuessRounding::kNearest);
  if (!guesser.has_value() || even.unit != 1) return std::nullopt;
  double farthest = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const double distance = std::fabs(table.edges[i] - EvenEdge(even, i));
    farthest = std::max(farthest, distance);
  }
  // In bin widths. A guess is to be so much behind the sample that neither edge can be reached.
  const double distance = bin_guess_internal::GuessError(*guesser) + farthest / even.step;
  const double guard = 2 * distance;
  if (!(guard <= kUnsureMax)) return std::nullopt;
  bin_guess_internal::SetOffset(*guesser, distance);
  guesser->guard = static_cast<uint32_t>(std::ceil(guard * 0x1p32)) + 1;
  return guesser;
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_HISTOGRAM_TABLE_GUESS_H_
