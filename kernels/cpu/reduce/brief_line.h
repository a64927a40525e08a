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

// Vectors where compilers make none by themselves.
inline constexpr size_t kLineVectorBytes = 32;

// Elements of which the parts below are multiples: vectors of any size.
template <class S>
inline constexpr uint32_t kLinePart = 128 / sizeof(S);

// The last `count` elements of the line, fewer than kLinePart, among as many times `pad` as fill up
// kLinePart.
template <class S>
inline void CopyLast(const Line<S>& line, uint32_t count, S pad, S* part) {
  constexpr uint32_t kPart = kLinePart<S>;
  if (line.count < kPart) {
    std::fill_n(part, kPart, pad);
    std::memcpy(part, line.data, count * sizeof(S));
    return;
  }
  // In steps whose number the compiler knows: to start a copy of any size takes longer.
  const std::byte* const last = line.data + (line.count - kPart) * sizeof(S);
  for (uint32_t i = 0; i < kPart; ++i) {
    const S x = LoadUnaligned<S>(last, i);
    part[i] = i < kPart - count ? pad : x;
  }
}

// Calls f(data, count) for parts that make up the line, the counts being multiples of kLinePart:
// loops over them are all vectors. The last part is filled up with `pad`.
template <class S, class F>
inline void ForEachLinePart(const Line<S>& line, S pad, F f) {
  constexpr uint32_t kPart = kLinePart<S>;
  const uint32_t whole = line.count / kPart * kPart;
  if (whole != 0) f(line.data, whole);
  if (whole == line.count) return;
  S rest[kPart];
  CopyLast(line, line.count - whole, pad, rest);
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

// The least and the largest element. Of zeros that differ in their signs they may be one that is
// not the first.
template <class S>
struct LineExtremes {
  S least;
  S largest;
  bool are_finite;  // All elements; else the others say nothing.

  // An extreme that is not wanted is any element.
  template <bool kLeast = true, bool kLargest = true>
  static LineExtremes Of(const Line<S>& line) {
    if constexpr (std::floating_point<S>) {
      return OfFloating<kLeast, kLargest>(line);
    } else {
      return OfIntegers<kLeast, kLargest>(line);
    }
  }

 private:
  // Integers in the order of the elements, of 64 bits signed ones: not all instruction sets compare
  // vectors of others.
  using Key = std::conditional_t<sizeof(S) == 8, int64_t, S>;
  static constexpr uint64_t kFlipped = std::is_same_v<S, uint64_t> ? uint64_t{1} << 63 : 0;
  static Key KeyOf(S x) {
    return static_cast<Key>(static_cast<Key>(x) ^ static_cast<Key>(kFlipped));
  }

  template <bool kLeast, bool kLargest>
  static LineExtremes OfIntegers(const Line<S>& line) {
    Key least = KeyOf(line[0]);
    Key largest = least;
    ForEachLinePart(line, line[0], [&](const std::byte* data, uint32_t count) {
      Key least_here = least;
      Key largest_here = largest;
      for (uint32_t i = 0; i < count; ++i) {
        const Key key = KeyOf(LoadUnaligned<S>(data, i));
        if constexpr (kLeast) least_here = std::min(key, least_here);
        if constexpr (kLargest) largest_here = std::max(key, largest_here);
      }
      least = least_here;
      largest = largest_here;
    });
    return {static_cast<S>(least ^ static_cast<Key>(kFlipped)),
            static_cast<S>(largest ^ static_cast<Key>(kFlipped)), true};
  }

  // In vectors that compilers do not make of such a loop, since they must not order NaNs.
  template <bool kLeast, bool kLargest>
  static LineExtremes OfFloating(const Line<S>& line) {
    constexpr uint32_t kVectorLanes = kLineVectorBytes / sizeof(S);
    constexpr uint32_t kVectors = 2;
    using Elements [[gnu::vector_size(kLineVectorBytes)]] = S;
    static_assert(kLinePart<S> % (kVectors * kVectorLanes) == 0);
    const Elements first = Elements{} + line[0];
    Elements least[kVectors] = {first, first};
    Elements largest[kVectors] = {first, first};
    Elements poison[kVectors] = {};  // NaN from the first element on that is not finite.
    ForEachLinePart(line, line[0], [&](const std::byte* data, uint32_t count) {
      for (uint32_t i = 0; i < count; i += kVectors * kVectorLanes) {
        for (uint32_t v = 0; v < kVectors; ++v) {
          Elements x;
          std::memcpy(&x, data + (i + v * kVectorLanes) * sizeof(S), sizeof(x));
          if constexpr (kLeast) least[v] = x < least[v] ? x : least[v];
          if constexpr (kLargest) largest[v] = x > largest[v] ? x : largest[v];
          poison[v] += x - x;
        }
      }
    });
    least[0] = least[1] < least[0] ? least[1] : least[0];
    largest[0] = largest[1] > largest[0] ? largest[1] : largest[0];
    poison[0] += poison[1];
    LineExtremes extremes{line[0], line[0], true};
    for (uint32_t lane = 0; lane < kVectorLanes; ++lane) {
      extremes.least = std::min(extremes.least, least[0][lane]);
      extremes.largest = std::max(extremes.largest, largest[0][lane]);
      extremes.are_finite &= poison[0][lane] == 0;
    }
    return extremes;
  }
};

// Whether all elements are finite.
template <std::floating_point S>
inline bool IsFiniteLine(const Line<S>& line) {
  using Key = std::conditional_t<sizeof(S) == 8, int64_t, int32_t>;
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

// Whether one of `kVectors` vectors of elements from `data` on has an element that equals `value`.
template <uint32_t kVectors, class S>
inline bool VectorsHave(const std::byte* data, S value) {
  using Elements [[gnu::vector_size(kLineVectorBytes)]] = S;
  const Elements values = Elements{} + value;
  decltype(values == values) equal = {};
  for (uint32_t v = 0; v < kVectors; ++v) {
    Elements x;
    std::memcpy(&x, data + v * kLineVectorBytes, sizeof(x));
    equal |= x == values;
  }
  uint64_t words[kLineVectorBytes / sizeof(uint64_t)];
  std::memcpy(words, &equal, sizeof(words));
  return (words[0] | words[1] | words[2] | words[3]) != 0;
}

// Where the first element stands that equals `value`; of the line all the same where none does, as
// none equals a NaN, nor what its owner has changed meanwhile.
template <class S>
inline uint32_t FirstOf(const Line<S>& line, S value) {
  constexpr uint32_t kVectorLanes = kLineVectorBytes / sizeof(S);
  constexpr uint32_t kVectors = kLinePart<S> / kVectorLanes;
  uint32_t i = 0;
  const auto skip = [&]<uint32_t kCount>() {
    while (i + kCount * kVectorLanes <= line.count &&
           !VectorsHave<kCount>(line.data + i * sizeof(S), value)) {
      i += kCount * kVectorLanes;
    }
  };
  skip.template operator()<kVectors>();
  skip.template operator()<1>();
  while (i < line.count && line[i] != value) ++i;
  return std::min(i, line.count - 1);
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_LINE_H_
