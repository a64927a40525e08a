// Groups of consecutive elements one by one, in loops along the elements: groups of some dozen
// elements and more take longer to be laid side by side.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_LINE_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_LINE_H_

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/cpu/reduce/tally_lanes.h"
#include "kernels/numerics/arithmetic/element.h"

namespace gridfold::kernels::cpu {

// Elements of a group that are looked at together, by one part of a state after the other: they
// stay in the first-level cache, and counts of a lane fit in the types of tiles.
inline constexpr uint32_t kLineChunk = 1024;

// Some consecutive elements of a group.
template <class S>
struct Line {
  const std::byte* data;  // Not necessarily aligned.
  uint32_t count;         // From 1 to kLineChunk, where it is a line of moments or counts.

  S operator[](uint32_t i) const { return LoadUnaligned<S>(data, i); }
};

// Elements of which the parts below are multiples: vectors of any size.
template <class S>
inline constexpr uint32_t kLinePart = 128 / sizeof(S);

// Calls f(data, count) for parts that make up the line, the counts being multiples of kLinePart:
// loops over them are all vectors. The last part is filled up with `pad`.
template <class S, class F>
inline void ForEachLinePart(const Line<S>& line, S pad, F f) {
  constexpr uint32_t kPart = kLinePart<S>;
  const uint32_t whole = line.count / kPart * kPart;
  if (whole != 0) f(line.data, whole);
  if (whole == line.count) return;
  S rest[kPart];
  std::fill_n(rest, kPart, pad);
  std::memcpy(rest, line.data + whole * sizeof(S), (line.count - whole) * sizeof(S));
  f(reinterpret_cast<const std::byte*>(rest), kPart);
}

template <class S>
inline uint32_t NonzerosOf(const Line<S>& line) {
  // As wide as the elements, or wide enough for all of them.
  using Count = std::conditional_t<sizeof(S) == 1, uint16_t, TileCount<S>>;
  static_assert(kLineChunk <= std::numeric_limits<uint16_t>::max());
  uint32_t total = 0;
  ForEachLinePart(line, S{0}, [&](const std::byte* data, uint32_t count) {
    Count nonzero = 0;
    for (uint32_t i = 0; i < count; ++i) {
      nonzero = static_cast<Count>(nonzero + (LoadUnaligned<S>(data, i) != S{0} ? 1 : 0));
    }
    total += static_cast<uint32_t>(nonzero);
  });
  return total;
}

// Integers in the order of the elements: compilers make vectors of their extremes. Of
// floating-point numbers they order -0.0 before 0.0, and NaNs are at the ends.
template <class S>
using LineKey = std::conditional_t<std::floating_point<S>,
                                   std::conditional_t<sizeof(S) == 8, int64_t, int32_t>, S>;
template <class S>
inline LineKey<S> LineKeyOf(S x) {
  if constexpr (std::floating_point<S>) {
    using Key = LineKey<S>;
    const Key bits = std::bit_cast<Key>(x);
    return bits ^ ((bits >> (8 * sizeof(S) - 1)) & std::numeric_limits<Key>::max());
  } else {
    return x;
  }
}
// LineKeyOf's inverse.
template <class S>
inline S LineElementOf(LineKey<S> key) {
  if constexpr (std::floating_point<S>) {
    return std::bit_cast<S>(
        key ^ ((key >> (8 * sizeof(S) - 1)) & std::numeric_limits<LineKey<S>>::max()));
  } else {
    return key;
  }
}

// The least and the largest element, as keys. Of zeros that differ in their signs they may be one
// that is not the first.
template <class S>
struct LineExtremes {
  LineKey<S> least;
  LineKey<S> largest;

  static LineExtremes Of(const Line<S>& line) {
    const LineKey<S> first = LineKeyOf(line[0]);
    LineExtremes extremes{first, first};
    ForEachLinePart(line, line[0], [&](const std::byte* data, uint32_t count) {
      LineKey<S> least = extremes.least;
      LineKey<S> largest = extremes.largest;
      for (uint32_t i = 0; i < count; ++i) {
        const LineKey<S> key = LineKeyOf(LoadUnaligned<S>(data, i));
        least = std::min(key, least);
        largest = std::max(key, largest);
      }
      extremes = {least, largest};
    });
    return extremes;
  }

  // Whether all elements are.
  bool AreFinite() const {
    if constexpr (std::floating_point<S>) {
      constexpr S kInfinity = std::numeric_limits<S>::infinity();
      return (least > LineKeyOf(-kInfinity)) & (largest < LineKeyOf(kInfinity));
    }
    return true;
  }
  S Least() const { return LineElementOf<S>(least); }
  S Largest() const { return LineElementOf<S>(largest); }
};

// Whether all elements are finite.
template <std::floating_point S>
inline bool IsFiniteLine(const Line<S>& line) {
  using Key = LineKey<S>;
  constexpr Key kMagnitude = std::numeric_limits<Key>::max();
  Key largest = 0;
  ForEachLinePart(line, S{0}, [&](const std::byte* data, uint32_t count) {
    Key extreme = largest;
    for (uint32_t i = 0; i < count; ++i) {
      extreme = std::max(extreme, LoadUnaligned<Key>(data, i) & kMagnitude);
    }
    largest = extreme;
  });
  return largest < std::bit_cast<Key>(std::numeric_limits<S>::infinity());
}

// Whether one of the first kLinePart elements of `data` equals `value`.
template <class S>
inline bool LinePartHas(const std::byte* data, S value) {
  // As wide as the elements.
  using Word = std::conditional_t<
      sizeof(S) == 1, uint8_t,
      std::conditional_t<sizeof(S) == 2, uint16_t,
                         std::conditional_t<sizeof(S) == 4, uint32_t, uint64_t>>>;
  Word any = 0;
  for (uint32_t k = 0; k < kLinePart<S>; ++k) {
    any |= LoadUnaligned<S>(data, k) == value ? Word{1} : Word{0};
  }
  return any != 0;
}

// Where the first element stands that equals `value`; of the line all the same where none does, as
// none equals a NaN, nor what its owner has changed meanwhile.
template <class S>
inline uint32_t FirstOf(const Line<S>& line, S value) {
  constexpr uint32_t kPart = kLinePart<S>;
  uint32_t i = 0;
  while (i + kPart <= line.count && !LinePartHas(line.data + i * sizeof(S), value)) i += kPart;
  while (i < line.count && line[i] != value) ++i;
  return std::min(i, line.count - 1);
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_LINE_H_
