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
//
// Bins that begin at 0 have a bound of their own, so that samples which are 0, of which there often
// are many, are in the first bin for sure. See GuardFromZero.
//
// Where samples are either on an edge or far from it, those on edges, which may be many, are sure
// as well. See IntegersFromEdges and ShortFloatsKeepClear.
#ifndef GRIDFOLD_KERNELS_NUMERICS_BINS_GUESS_H_
#define GRIDFOLD_KERNELS_NUMERICS_BINS_GUESS_H_

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/arithmetic/min_max.h"
#include "kernels/numerics/bins/layout.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

struct BinGuesser {
  double scale = 0;        // Cells of 2^shift bins per unit.
  double offset = 0;       // What makes of a sample's product with `scale` a BinGuess.
  uint32_t bin_count = 0;  // At most kGuessedBinsMax cells of them.
  uint32_t guard = 0;      // Smaller fractions are too near to an edge.
  uint32_t shift = 0;
  // A sample of this value may be guessed to be behind the last bin, which it is in: the upper
  // bound, if samples may be on it. Infinity where there is none.
  double closed_edge = std::numeric_limits<double>::infinity();
  // And the nearest float, for samples that are floats; and the integer that it is, for those that
  // are integers of 8 or 16 bits, which cannot be the default.
  float closed_edge_float = std::numeric_limits<float>::infinity();
  int32_t closed_edge_integer = std::numeric_limits<int32_t>::max();
  BinLayout bins;  // kEven, also for integer bins: the bounds are the first and last integer.
};

struct BinGuess {
  uint32_t bin;       // Large where the sample is below the bins, or NaN.
  uint32_t fraction;  // In units of 2^-32 of the bin's width.
};

// What samples are known to be.
enum class SampleKind : uint8_t {
  kInteger,
  kShortFloat,  // Of at most kShortFloatBits significant bits.
  kAny,
};
inline constexpr int kShortFloatBits = 24;
template <class T>
inline constexpr SampleKind kSampleKindOf = IntegerElement<T>            ? SampleKind::kInteger
                                            : sizeof(T) <= sizeof(float) ? SampleKind::kShortFloat
                                                                         : SampleKind::kAny;

inline constexpr uint32_t kGuessedBinsMax = (1 << 20) - 1;
inline constexpr uint32_t kGuessShiftMax = 4;

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

// Neither equal nor unordered, in one comparison.
GRIDFOLD_HD inline bool IsLessOrGreater(float a, float b) {
#ifdef __CUDA_ARCH__
  uint32_t is_so;
  asm("{\n\t.reg .pred p;\n\tsetp.ne.f32 p, %1, %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(is_so)
      : "f"(a), "f"(b));
  return is_so != 0;
#else
  return a < b || a > b;
#endif
}
GRIDFOLD_HD inline bool IsLessOrGreater(double a, double b) {
#ifdef __CUDA_ARCH__
  uint32_t is_so;
  asm("{\n\t.reg .pred p;\n\tsetp.ne.f64 p, %1, %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(is_so)
      : "d"(a), "d"(b));
  return is_so != 0;
#else
  return a < b || a > b;
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
  const double reach = Max(std::fabs(even.lower), std::fabs(even.upper)) + n * even.step;
  return std::ldexp(reach, bits) <= 0x1p52 && is_whole(std::ldexp(even.lower, bits)) &&
         is_whole(std::ldexp(even.step, bits)) && n * even.step + even.lower == even.upper;
}

// Even bins with the same edges; nothing where they could not be doubles.
inline std::optional<BinLayout> EvenLayoutOf(const BinLayout& layout) {
  if (layout.kind == BinKind::kTable) return std::nullopt;
  if (layout.kind == BinKind::kEven) return layout;
  constexpr double kExactMax = 0x1p52;
  const double first = static_cast<double>(layout.first_value);
  if (std::fabs(first) > kExactMax || layout.first_unsigned_value != 0) return std::nullopt;
  BinLayout even = layout;
  even.kind = BinKind::kEven;
  even.lower = first;
  even.upper = first + static_cast<double>(layout.bin_count - 1);
  even.step = 1;
  return even;
}

// Whether a sample that is lower + i * (upper - lower) / n, as real numbers, reaches edge i:
// whether the double that is the edge is no more than that. Requires that both bounds and the
// sample's distance from the lower one are exact, the latter a double whose last bit is 0.
//
// i * step is that distance times 1 + e, of which n * step - (upper - lower) is e(upper - lower);
// for e <= 2^-54 it is at most halfway from the distance to the next double, and rounded to the
// distance or less.
inline bool SamplesOnEdgesReachThem(const BinLayout& even) {
  const double range = even.upper - even.lower;
  return std::fma(static_cast<double>(even.bin_count), even.step, -range) <= range * 0x1p-54;
}

// Half of the least distance, in bin widths, of an integer from an edge that it is not on, of bins
// between integers; or 0.
inline double IntegersBetweenIntegers(const BinLayout& even) {
  constexpr double kExactMax = 0x1p50;
  const bool are_integers =
      std::floor(even.lower) == even.lower && std::floor(even.upper) == even.upper;
  if (!are_integers || std::fabs(even.lower) > kExactMax || std::fabs(even.upper) > kExactMax ||
      !SamplesOnEdgesReachThem(even)) {
    return 0;
  }
  // An integer is (x - lower) * n / range bins from the lower bound.
  const auto range = static_cast<uint64_t>(even.upper - even.lower);
  return 0.5 * static_cast<double>(std::gcd(range, even.bin_count)) / static_cast<double>(range);
}

// How far, in bin widths, guesses are to lie behind samples which are integers, so that these are
// never near an edge: half of the grid's width that both are on, or of the least distance. Nothing
// where that is too little.
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
  const double distance = IntegersBetweenIntegers(even);
  if (distance > 2 * error) return distance;
  return std::nullopt;
}

// Whether bins are a power of two wide, and all that is computed of them exact but for the last
// rounding. `scale` is in bins, of which a cell has 2^shift.
inline bool IsExact(const BinLayout& even, double scale, int shift) {
  int exponent;
  if (std::frexp(even.step, &exponent) != 0.5) return false;
  const double lower = even.lower * scale;
  if (lower / scale != even.lower || !AddsExactly(std::ldexp(kBase, shift), -lower)) return false;
  // In bin widths the grid is that of the lower bound.
  BinLayout unit = even;
  unit.lower = lower;
  unit.upper = even.upper * scale;
  unit.step = 1;
  return unit.upper / scale == even.upper && EdgesAreOnGrid(unit, 32 - shift) &&
         std::fabs(even.lower) <= 0x1p53 && std::fabs(even.upper) <= 0x1p53;
}

// What the errors of a guess come to, in bin widths.
inline double GuessError(const BinGuesser& guesser) {
  const BinLayout& even = guesser.bins;
  const double reach = Max(std::fabs(even.lower), std::fabs(even.upper)) / even.step;
  return kErrorPerReach * reach + std::ldexp(kErrorMin, static_cast<int>(guesser.shift));
}

// Lets guesses lie this much behind the sample, in bin widths.
inline void SetOffset(BinGuesser& guesser, double distance) {
  guesser.offset = kBase + std::ldexp(distance, -static_cast<int>(guesser.shift)) -
                   guesser.bins.lower * guesser.scale;
}

// The least that guesses can tell apart, in bin widths.
inline double FractionUnit(const BinGuesser& guesser) {
  return std::ldexp(0x1p-32, static_cast<int>(guesser.shift));
}

// For bins from 0 on and guesses that are rounded down. A scale that is a little too small, by more
// than edges and samples are rounded by, makes all errors but the offset's, which is exact, those
// of one side: whoever does not reach edge i has a guess below i + offset, and whoever does, one of
// i at least, if the offset makes up for the last edge. So that offset is the guard; 0 has just it,
// and what is negative less.
inline void GuardFromZero(BinGuesser& guesser) {
  const double fraction = FractionUnit(guesser);
  const double late = 0x1p-48 * static_cast<double>(guesser.bin_count);
  const double distance = (std::ceil(late / fraction) + 2) * fraction;
  guesser.scale *= 1 - 0x1p-50;
  SetOffset(guesser, distance);
  guesser.guard = static_cast<uint32_t>(distance * 0x1p32);
}

// Whether short floats are either on an edge of bins from 0 on, and in its bin, or so far from it
// that guesses tell, though the scale be too large by 2^-49 of itself.
//
// Let the bins be n = odd * 2^z, and the upper bound u * 2^f, where u < 2^24 is odd. A sample
// a * 2^e, a < 2^24, is t = a * odd * 2^k / u bins from 0, k = e + z - f. Its distance from an edge
// is a multiple of 1 / u where k >= 0, and else of 2^k / u = t / (a * odd), which is more than
// 2^-25 / odd from the middle of the first bin on.
inline bool ShortFloatsKeepClear(const BinGuesser& guesser) {
  const BinLayout& even = guesser.bins;
  const double significand = std::ldexp(even.upper, kShortFloatBits - 1 - std::ilogb(even.upper));
  if (std::floor(significand) != significand || !SamplesOnEdgesReachThem(even)) return false;
  const uint64_t odd = even.bin_count >> std::countr_zero(even.bin_count);
  const double distance = std::ldexp(1 / static_cast<double>(odd), -kShortFloatBits - 1);
  return FractionUnit(guesser) + 0x1p-49 * static_cast<double>(even.bin_count) < distance;
}

// For bins from 0 on of which short floats keep clear. Guesses are rounded down from a little more
// than the sample's place, so that whoever reaches edge i has one of i + offset at least, and what
// is negative less than the offset.
inline void GuardFromZeroOnly(BinGuesser& guesser) {
  const double distance = FractionUnit(guesser);
  guesser.scale *= 1 + 0x1p-50;
  SetOffset(guesser, distance);
  guesser.guard = static_cast<uint32_t>(distance * 0x1p32);
}

// Sets a guesser to the bound above, which is twice of what rounding down needs.
inline void GuardBothSides(BinGuesser& guesser) {
  const double error = GuessError(guesser);
  guesser.scale = std::ldexp(1 / guesser.bins.step, -static_cast<int>(guesser.shift));
  SetOffset(guesser, error);
  guesser.guard = static_cast<uint32_t>(std::ceil(2 * error * 0x1p32)) + 1;
}

}  // namespace bin_guess_internal

// How a guess is rounded: down, in one operation (GuessBin), or to the nearest and the product by
// itself, for which the twofold bound has room.
enum class GuessRounding : uint8_t { kDown, kNearest };

// For samples of this kind. Nothing where guesses would be sure of too few samples: tables, too
// many bins, or bins too far from 0 for their width. Guesses of a guesser with a shift, which takes
// that many times more bins, are made by GuessCellBin. Requires shift <= kGuessShiftMax.
inline std::optional<BinGuesser> MakeBinGuesser(const BinLayout& layout, SampleKind samples,
                                                GuessRounding rounding = GuessRounding::kDown,
                                                uint32_t shift = 0) {
  using namespace bin_guess_internal;
  if (layout.bin_count > uint64_t{kGuessedBinsMax} << shift) return std::nullopt;
  const std::optional<BinLayout> even = EvenLayoutOf(layout);
  if (!even.has_value()) return std::nullopt;
  const double scale = 1 / even->step;
  const double reach = Max(std::fabs(even->lower), std::fabs(even->upper)) / even->step;
  constexpr double kReachMax = 0x1p40;
  constexpr double kScaleMax = 0x1p900;  // Nothing on the way underflows or overflows.
  if (!(reach <= kReachMax) || !(scale <= kScaleMax) || !(scale >= 1 / kScaleMax)) {
    return std::nullopt;
  }
  const int cell_bits = static_cast<int>(shift);
  BinGuesser guesser{.scale = std::ldexp(scale, -cell_bits),
                     .bin_count = static_cast<uint32_t>(even->bin_count),
                     .shift = shift,
                     .bins = *even};
  if (layout.kind == BinKind::kEven) {
    guesser.closed_edge = layout.upper;
    guesser.closed_edge_float = static_cast<float>(layout.upper);
    const bool is_short_integer =
        std::fabs(layout.upper) <= 0x1p16 && std::floor(layout.upper) == layout.upper;
    if (is_short_integer) guesser.closed_edge_integer = static_cast<int32_t>(layout.upper);
  }
  SetOffset(guesser, 0);
  if (samples == SampleKind::kInteger) {
    const double error = GuessError(guesser);
    if (const std::optional<double> distance = IntegersFromEdges(layout, *even, error)) {
      SetOffset(guesser, *distance);
      return guesser;
    }
  }
  // Just below an edge, rounding to the nearest would reach it.
  const bool rounds_down = rounding == GuessRounding::kDown;
  if (rounds_down && IsExact(*even, scale, cell_bits)) return guesser;
  const bool is_from_zero = rounds_down && even->lower == 0;
  if (is_from_zero && samples == SampleKind::kShortFloat && ShortFloatsKeepClear(guesser)) {
    GuardFromZeroOnly(guesser);
  } else if (is_from_zero) {
    GuardFromZero(guesser);
  } else {
    GuardBothSides(guesser);
  }
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

// Guesses a bin, for guessers of any shift.
template <class T>
GRIDFOLD_HD inline BinGuess GuessCellBin(const BinGuesser& guesser, T x) {
  const BinGuess cell = GuessBin(guesser, x);
  // What is in no cell may not be shifted into one: it goes to the first behind all that can be.
  const uint32_t number = cell.bin <= kGuessedBinsMax ? cell.bin : kGuessedBinsMax + 1;
  const uint64_t bins = (uint64_t{number} << 32 | cell.fraction) << guesser.shift;
  return {static_cast<uint32_t>(bins >> 32), cell.fraction << guesser.shift};
}

// Whether the sample is in the guessed bin.
GRIDFOLD_HD inline bool IsSure(const BinGuesser& guesser, const BinGuess& guess) {
  // Both at once: two branches would cost a device more than a comparison.
  return (guess.bin < guesser.bin_count) & (guess.fraction >= guesser.guard);
}

// A guess as a number that orders bins and what is outside them: that of bin i is kBinNumber0 + i,
// smaller ones are below all bins, and greater ones than of bins above. A NaN's is any. Of guesses
// without shift.
inline constexpr int32_t kBinNumber0 = static_cast<int32_t>(bin_guess_internal::kBaseHighWord);
GRIDFOLD_HD inline int32_t BinNumber(const BinGuess& guess) {
  // The numbers of negative sums are negative.
  return static_cast<int32_t>(guess.bin + bin_guess_internal::kBaseHighWord);
}

// Whether x is a number, and not that of the closed edge.
template <class T>
GRIDFOLD_HD inline bool IsBesideClosedEdge(const BinGuesser& guesser, T x) {
  using bin_guess_internal::IsLessOrGreater;
  // Not as doubles where that is exact: a device takes longer for them.
  if constexpr (IntegerElement<T> && sizeof(T) < sizeof(int32_t)) {
    return x != guesser.closed_edge_integer;
  } else if constexpr (IntegerElement<T> || sizeof(T) > sizeof(float)) {
    return IsLessOrGreater(static_cast<double>(x), guesser.closed_edge);
  } else {
    return IsLessOrGreater(static_cast<float>(x), guesser.closed_edge_float);
  }
}

// Whether all numbers for which IsBesideClosedEdge is false are ClosedEdgeOf<T>: integers of 64
// bits may be beside the double that they are rounded to.
template <class T>
inline constexpr bool kTellsClosedEdge = !IntegerElement<T> || sizeof(T) < sizeof(int64_t);

// It need not be in the last bin: where the upper bound is no float, the nearest one may be behind.
template <class T>
GRIDFOLD_HD inline double ClosedEdgeOf(const BinGuesser& guesser) {
  const bool is_float = !IntegerElement<T> && sizeof(T) <= sizeof(float);
  return is_float ? static_cast<double>(guesser.closed_edge_float) : guesser.closed_edge;
}

// Whether the sample is where its BinNumber says, in a bin or outside; in doubt false.
//
// Guesses never decrease, so that one below the first bin is of a sample below its edge, and one
// behind the last edge by the guard of a sample that is not below that edge: above it, unless on
// it.
template <class T>
GRIDFOLD_HD inline bool IsSureOrOutside(const BinGuesser& guesser, const BinGuess& guess, T x) {
  return (guess.fraction >= guesser.guard) & IsBesideClosedEdge(guesser, x);
}

// Whether the sample is outside as its number says although IsSureOrOutside may be in doubt: a
// guess is one bin off at most, and far outside all bins a fraction means nothing.
template <class T>
GRIDFOLD_HD inline bool IsFarOutside(const BinGuesser& guesser, const BinGuess& guess, T x) {
  return !IsNan(x) && guess.bin > guesser.bin_count;
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

#endif  // GRIDFOLD_KERNELS_NUMERICS_BINS_GUESS_H_
