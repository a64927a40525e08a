// How large and how small the numbers of a tile are, which decides how they can be added exactly.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_TILE_SURVEY_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_TILE_SURVEY_H_

#include <algorithm>
#include <bit>
#include <concepts>
#include <limits>
#include <type_traits>

#include "kernels/cpu/reduce/tile.h"
#include "kernels/numerics/sums/exact_sum.h"

namespace gridfold::kernels::cpu {

// |x| as an integer: it orders numbers as they are, infinity above all of them and NaN above that.
// Signed, since not all instruction sets compare vectors of unsigned 64-bit integers.
template <std::floating_point S>
using MagnitudeBits = std::make_signed_t<typename FloatFormat<S>::Bits>;

template <std::floating_point S>
inline constexpr MagnitudeBits<S> kInfinityBits =
    std::bit_cast<MagnitudeBits<S>>(std::numeric_limits<S>::infinity());

template <std::floating_point S>
inline MagnitudeBits<S> MagnitudeBitsOf(S x) {
  return std::bit_cast<MagnitudeBits<S>>(x) & std::numeric_limits<MagnitudeBits<S>>::max();
}

// A survey of the finite numbers other than 0. Without any, smallest > largest.
template <std::floating_point S>
struct TileSurvey {
  MagnitudeBits<S> smallest;
  MagnitudeBits<S> largest;
  bool all_finite;

  bool has_numbers() const { return smallest <= largest; }
};

namespace tile_internal {

// Elements whose magnitude is above `limit` are taken for 0.
template <bool kLimited, class S>
inline TileSurvey<S> SurveyRow(const std::byte* row, uint32_t width, MagnitudeBits<S> limit) {
  using Bits = MagnitudeBits<S>;
  constexpr Bits kMax = std::numeric_limits<Bits>::max();
  Bits below_smallest = kMax;
  Bits largest = 0;
  for (uint32_t i = 0; i < width; ++i) {
    Bits magnitude = MagnitudeBitsOf(LoadUnaligned<S>(row, i));
    // By a mask, since a choice would keep this loop from being vectorised.
    if constexpr (kLimited) magnitude &= -static_cast<Bits>(magnitude <= limit);
    largest = std::max(largest, magnitude);
    // One less, which for 0 is the largest.
    below_smallest = std::min(below_smallest, (magnitude - 1) & kMax);
  }
  return {below_smallest == kMax ? kMax : below_smallest + 1, largest, true};
}

template <bool kLimited, class S>
inline TileSurvey<S> SurveyRows(const Tile<S>& tile, MagnitudeBits<S> limit) {
  // Rows without gaps are one long row, so that vectors are folded into one number only once.
  if (tile.stride_bytes == tile.width * sizeof(S)) {
    return SurveyRow<kLimited, S>(tile.data, tile.width * tile.rows, limit);
  }
  TileSurvey<S> survey{std::numeric_limits<MagnitudeBits<S>>::max(), 0, true};
  for (uint32_t r = 0; r < tile.rows; ++r) {
    const TileSurvey<S> row =
        SurveyRow<kLimited, S>(tile.data + r * tile.stride_bytes, tile.width, limit);
    survey.smallest = std::min(survey.smallest, row.smallest);
    survey.largest = std::max(survey.largest, row.largest);
  }
  return survey;
}

}  // namespace tile_internal

template <std::floating_point S>
inline TileSurvey<S> Survey(const Tile<S>& tile) {
  const TileSurvey<S> survey = tile_internal::SurveyRows<false>(tile, 0);
  if (survey.largest < kInfinityBits<S>) return survey;
  TileSurvey<S> finite = tile_internal::SurveyRows<true>(tile, kInfinityBits<S> - 1);
  finite.all_finite = false;
  return finite;
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_TILE_SURVEY_H_
