// A chunk of the results of a moving scan, as one thread works them out, and the total of its
// elements.
//
// The array is one line of positions, or as many as it has columns; a line is cut into chunks of
// kMovingChunk positions, whatever its groups. A chunk begins with what the window before its first
// position holds: the elements of that window's first chunk that are in it, one by one, and of the
// chunks between the difference of two prefixes of totals. So no window costs more than another,
// and where none is longer than a chunk there are no totals.
//
// Example, chunks of 4 positions and a window of 7; the chunk of positions 12 to 15 begins with the
// window [5, 12):
//
//   5 6 7 | 8 9 10 11 | 12 ...      5, 6 and 7 one by one; prefix before 12 less prefix before 8
#ifndef GRIDFOLD_KERNELS_NUMERICS_SCANS_MOVING_CHUNK_H_
#define GRIDFOLD_KERNELS_NUMERICS_SCANS_MOVING_CHUNK_H_

#include <cstdint>

#include "kernels/numerics/arithmetic/min_max.h"
#include "kernels/numerics/scans/moving_sum.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

inline constexpr uint64_t kMovingChunk = 512;

// Where the positions of lines and their groups stand. Plain data.
struct MovingShape {
  uint64_t line_count = 1;
  uint64_t line_length = 0;
  uint64_t group_size = 1;            // Of groups of one size.
  const uint64_t* offsets = nullptr;  // Of segments of one line; null: groups have one size.
  uint64_t segment_count = 0;
  bool reverse = false;

  GRIDFOLD_HD uint64_t chunk_count() const {
    return line_length / kMovingChunk + (line_length % kMovingChunk != 0 ? 1 : 0);
  }
  GRIDFOLD_HD uint64_t ElementOf(uint64_t line, uint64_t position) const {
    return (reverse ? line_length - 1 - position : position) * line_count + line;
  }
  // Whether any window begins more than a chunk before the chunk of its result.
  GRIDFOLD_HD bool NeedsTotals(uint64_t window) const {
    return window > kMovingChunk && chunk_count() > 2 && group_size > kMovingChunk;
  }
};

// The positions of a group.
struct MovingGroup {
  uint64_t begin;
  uint64_t end;

  // The one that a position is in.
  GRIDFOLD_HD static MovingGroup At(const MovingShape& shape, uint64_t position) {
    if (shape.offsets == nullptr) {
      const uint64_t begin = position - position % shape.group_size;
      return {begin, begin + shape.group_size};
    }
    // The last segment that begins at the element or before: those before it end there too.
    const uint64_t element = shape.ElementOf(0, position);
    uint64_t low = 0;
    uint64_t high = shape.segment_count;
    while (high - low > 1) {
      const uint64_t middle = low + (high - low) / 2;
      (shape.offsets[middle] <= element ? low : high) = middle;
    }
    const uint64_t begin = shape.offsets[low];
    const uint64_t end = shape.offsets[low + 1];
    if (!shape.reverse) return {begin, end};
    return {shape.line_length - end, shape.line_length - begin};
  }
};

// The words of a chunk of a line among those of all: chunk by chunk, line by line.
template <class T>
GRIDFOLD_HD inline uint64_t MovingWordsAt(const MovingShape& shape, uint64_t line, uint64_t chunk) {
  return (chunk * shape.line_count + line) * MovingSum<T>::kWords;
}

// Adds positions [begin, end) of a line. load(i) gives element i of the array.
template <class T, class Load>
GRIDFOLD_HD inline void TakePositions(const MovingShape& shape, const MovingRules& rules,
                                      uint64_t line, uint64_t begin, uint64_t end, Load load,
                                      MovingSum<T>& sum) {
  for (; begin < end; begin += kMovingRun) {
    const int count = static_cast<int>(Min<uint64_t>(end - begin, kMovingRun));
    T items[kMovingRun];
    for (int k = 0; k < count; ++k) {
      items[k] = load(shape.ElementOf(line, begin + static_cast<uint64_t>(k)));
    }
    sum.Take(items, count, rules);
  }
}

// The total of a chunk's elements, into its words.
template <class T, class Load>
GRIDFOLD_HD inline void TotalMovingChunk(const MovingShape& shape, const MovingRules& rules,
                                         uint64_t line, uint64_t chunk, Load load, int64_t* words) {
  const uint64_t begin = chunk * kMovingChunk;
  MovingSum<T> sum;
  TakePositions(shape, rules, line, begin, Min(begin + kMovingChunk, shape.line_length), load, sum);
  sum.ToWords(words + MovingWordsAt<T>(shape, line, chunk));
}

// Calls store(i, result) with the results of a chunk, i being the element of each, and returns
// whether all fit. `words`: for each chunk those of the chunks before it in its line together; null
// unless shape.NeedsTotals(rules.window).
template <class T, class Out, class Load, class Store>
GRIDFOLD_HD inline bool ScanMovingChunk(const MovingShape& shape, const MovingRules& rules,
                                        uint64_t line, uint64_t chunk, const int64_t* words,
                                        Load load, Store store) {
  uint64_t position = chunk * kMovingChunk;
  const uint64_t end = Min(position + kMovingChunk, shape.line_length);
  MovingGroup group = MovingGroup::At(shape, position);
  MovingSum<T> sum;
  // The window of the result before.
  const uint64_t first = position - Min(position - group.begin, rules.window);
  if (first < position) {
    const uint64_t next = (first / kMovingChunk + 1) * kMovingChunk;
    TakePositions(shape, rules, line, first, next, load, sum);
    if (next < position) {
      sum.AddDifference(words + MovingWordsAt<T>(shape, line, chunk),
                        words + MovingWordsAt<T>(shape, line, next / kMovingChunk));
    }
  }
  bool all_fit = true;
  MovingRun<T> run;
  while (position < end) {
    if (position == group.end) {
      group = MovingGroup::At(shape, position);
      sum = MovingSum<T>();
    }
    run.count = static_cast<int>(Min<uint64_t>(Min(end, group.end) - position, kMovingRun));
    run.held = Min(position - group.begin, rules.window);
    run.first_leaving = static_cast<int>(Min<uint64_t>(rules.window - run.held, kMovingRun));
    for (int k = 0; k < run.count; ++k) {
      const uint64_t p = position + static_cast<uint64_t>(k);
      run.entering[k] = load(shape.ElementOf(line, p));
      if (k >= run.first_leaving) run.leaving[k] = load(shape.ElementOf(line, p - rules.window));
    }
    sum.template Slide<Out>(run, rules, [&](int k, Out result, bool fits) {
      all_fit = all_fit && fits;
      store(shape.ElementOf(line, position + static_cast<uint64_t>(k)), result);
    });
    position += static_cast<uint64_t>(run.count);
  }
  return all_fit;
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_SCANS_MOVING_CHUNK_H_
