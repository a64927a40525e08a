// Finds the bin of most samples by one multiplication and addition, and knows which ones.
//
// A guess is the sample's distance from the lower bound in bin widths, as a fixed-point number: the
// bin, and where in the bin. Every error on the way, and those of the edges that a bin is decided
// by, are bounded beforehand. Whoever is farther from both edges than that bound is in the guessed
// bin for sure; ResolveGuess compares the others with the edge that they are near. Together they
// decide what LocateBin decides.
//
//   const BinGuess guess = GuessBin(guesser, x);
//   bin = IsSure(guesser, guess) ? guess.bin : ResolveGuess(guesser, guess, x);
//
// The bound. In bin widths, with u = 2^-53, s the step, n the bins, and r = max(|lower|, |upper|) /
// s, which is at least n / 2: an edge is off by u(n + r) and n steps by 2u * n from the range; the
// scale by u * r for samples in range, the offset by u(2r + 2^20), the sum by 2^-32, a 64-bit
// integer rounded to a double by u * r. In all less than 2^-50 * r + 2^-31; kErrorPerReach and
// kErrorMin are twice that.
#ifndef GRIDFOLD_KERNELS_NUMERICS_BIN_GUESS_H_
#define GRIDFOLD_KERNELS_NUMERICS_BIN_GUESS_H_

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <optional>

#include "kernels/numerics/bin_layout.h"
#include "kernels/numerics/element.h"
#include "kernels/numerics/host_device.h"

namespace gridfold::kernels {

struct BinGuesser {
  double scale = 0;        // Bins per unit.
  double offset = 0;       // What makes of a sample's product with `scale` a BinGuess.
  uint32_t bin_count = 0;  // At most kGuessedBinsMax.
  uint32_t guard = 0;      // Smaller fractions are too near to an edge.
  BinLayout bins;  // kEven, also for integer bins: the bounds are the first and last integer.
};

struct BinGuess {
  uint32_t bin;       // Large where the sample is below the bins, or NaN.
  uint32_t fraction;  // In units of 2^-32 of the bin's width.
};

inline constexpr uint32_t kGuessedBinsMax = (1 << 20) - 1;

namespace bin_guess_internal {

// A double of [2^20, 2^21) has 32 bits behind the point: its low word. The bin is what its high
// word is more than that of 2^20.
inline constexpr double kBase = 0x1p20;
inline constexpr uint32_t kBaseHighWord = 0x4130'0000;

inline constexpr double kErrorPerReach = 0x1p-49;
inline constexpr double kErrorMin = 0x1p-30;

// a * b + c, rounded down, so that what is just below an edge does not reach it.
GRIDFOLD_HD inline double MultiplyAddDown(double a, double b, double c) {
#ifdef __CUDA_ARCH__
  return __fma_rd(a, b, c);
#else
  const int rounding = std::fegetround();
  std::fesetround(FE_DOWNWARD);
  volatile double factor = a;
  volatile double sum = std::fma(factor, b, c);
  std::fesetround(rounding);
  return sum;
#endif
}

// Whether a + b is exact.
inline bool AddsExactly(double a, double b) {
  const double sum = a + b;
  return sum - a == b && sum - b == a;
}

// Whether all edges are multiples of 2^-bits, and exactly lower + i * step.
inline bool EdgesAreOnGrid(const BinLayout& even, int bits) {
  const auto is_whole = [](double x) { return std::floor(x) == x; };
  const double n = static_cast<double>(even.bin_count);
  const double reach = std::max(std::fabs(even.lower), std::fabs(even.upper)) + n * even.step;
  return std::ldexp(reach, bits) < 0x1p52 && is_whole(std::ldexp(even.lower, bits)) &&
         is_whole(std::ldexp(even.step, bits)) && n * even.step + even.lower == even.upper;
}

// Even bins with the same edges; nothing where they could not be doubles.
inline std::optional<BinLayout> EvenLayoutOf(const BinLayout& layout) {
  if (layout.kind == BinKind::kTable) return std::nullopt;
  if (layout.kind == BinKind::kEven) return layout;
  constexpr double kExactMax = 0x1p52;
  const double first = static_cast<double>(layout.first_value);
  if (std::fabs(first) > kExactMax) return std::nullopt;
  BinLayout even = layout;
  even.kind = BinKind::kEven;
  even.lower = first;
  even.upper = first + static_cast<double>(layout.bin_count - 1);
  even.step = 1;
  return even;
}

// Where in a bin the edges are to come to lie so that samples which are integers are never near
// one: half of the grid's width that both are on. Nothing where they are on none.
inline std::optional<double> IntegersFromEdges(const BinLayout& layout, const BinLayout& even,
                                               double error) {
  constexpr int kGridBitsMax = 16;
  if (layout.kind == BinKind::kInteger) return 0.5;
  for (int bits = 0; bits <= kGridBitsMax; ++bits) {
    if (!EdgesAreOnGrid(even, bits)) continue;
    const double distance = std::ldexp(0.5, -bits) / even.step;
    if (distance > 2 * error) return distance;
    break;
  }
  return std::nullopt;
}

// Whether bins are a power of two wide, and all that is computed of them exact but for the last
// rounding.
inline bool IsExact(const BinLayout& even, double scale) {
  int exponent;
  if (std::frexp(even.step, &exponent) != 0.5) return false;
  const double lower = even.lower * scale;
  if (lower / scale != even.lower || !AddsExactly(kBase, -lower)) return false;
  // In bin widths the grid is that of the lower bound.
  BinLayout unit = even;
  unit.lower = lower;
  unit.upper = even.upper * scale;
  unit.step = 1;
  return unit.upper / scale == even.upper && EdgesAreOnGrid(unit, 32) &&
         std::fabs(even.lower) <= 0x1p53 && std::fabs(even.upper) <= 0x1p53;
}

}  // namespace bin_guess_internal

// How a guess is rounded: down, in one operation (GuessBin), or to the nearest and the product by
// itself, for which the twofold bound has room.
enum class GuessRounding : uint8_t { kDown, kNearest };

// For samples of an integer type or any. Nothing where guesses would be sure of too few samples:
// tables, too many bins, or bins too far from 0 for their width.
inline std::optional<BinGuesser> MakeBinGuesser(const BinLayout& layout, bool integer_samples,
                                                GuessRounding rounding = GuessRounding::kDown) {
  using namespace bin_guess_internal;
  if (layout.bin_count > kGuessedBinsMax) return std::nullopt;
  const std::optional<BinLayout> even = EvenLayoutOf(layout);
  if (!even.has_value()) return std::nullopt;
  const double scale = 1 / even->step;
  const double reach = std::max(std::fabs(even->lower), std::fabs(even->upper)) / even->step;
  constexpr double kReachMax = 0x1p40;
  constexpr double kScaleMax = 0x1p900;  // Nothing on the way underflows or overflows.
  if (!(reach <= kReachMax) || !(scale <= kScaleMax) || !(scale >= 1 / kScaleMax)) {
    return std::nullopt;
  }
  BinGuesser guesser{.scale = scale,
                     .offset = kBase - even->lower * scale,
                     .bin_count = static_cast<uint32_t>(even->bin_count),
                     .bins = *even};
  const double error = kErrorPerReach * reach + kErrorMin;
  if (integer_samples) {
    if (const std::optional<double> distance = IntegersFromEdges(layout, *even, error)) {
      guesser.offset = kBase + *distance - even->lower * scale;
      return guesser;
    }
  }
  // Just below an edge, rounding to the nearest would reach it.
  if (rounding == GuessRounding::kDown && IsExact(*even, scale)) return guesser;
  guesser.offset = kBase + error - even->lower * scale;
  guesser.guard = static_cast<uint32_t>(std::ceil(2 * error * 0x1p32)) + 1;
  return guesser;
}

template <class T>
GRIDFOLD_HD inline BinGuess GuessBin(const BinGuesser& guesser, T x) {
  using namespace bin_guess_internal;
  const double sum = MultiplyAddDown(static_cast<double>(x), guesser.scale, guesser.offset);
#ifdef __CUDA_ARCH__
  return {static_cast<uint32_t>(__double2hiint(sum)) - kBaseHighWord,
          static_cast<uint32_t>(__double2loint(sum))};
#else
  const uint64_t bits = std::bit_cast<uint64_t>(sum);
  return {static_cast<uint32_t>(bits >> 32) - kBaseHighWord, static_cast<uint32_t>(bits)};
#endif
}

// Whether the sample is in the guessed bin.
GRIDFOLD_HD inline bool IsSure(const BinGuesser& guesser, const BinGuess& guess) {
  // Both at once: two branches would cost a device more than a comparison.
  return (guess.bin < guesser.bin_count) & (guess.fraction >= guesser.guard);
}

// What LocateBin gives for x, whose guess was not sure: in range it is near an edge, or the upper
// bound itself.
template <class T>
GRIDFOLD_HD inline int64_t ResolveGuess(const BinGuesser& guesser, const BinGuess& guess, T x) {
  if (IsNan(x)) return kNanBin;
  if (!IsAtLeast(x, guesser.bins.lower)) return kUnderflowBin;
  if (IsGreater(x, guesser.bins.upper)) return kOverflowBin;
  const uint32_t last = guesser.bin_count - 1;
  const uint32_t bin = guess.bin < last ? guess.bin : last;
  return bin > 0 && !IsAtLeast(x, EvenEdge(guesser.bins, bin)) ? bin - int64_t{1} : bin;
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_BIN_GUESS_H_
