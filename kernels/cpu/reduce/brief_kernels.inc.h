// Definitions of brief_kernels.h, included where they are instantiated.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_KERNELS_INC_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_KERNELS_INC_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "kernels/cpu/base/half_conversion.h"
#include "kernels/cpu/base/instruction_set.h"
#include "kernels/cpu/base/transpose.h"
#include "kernels/cpu/reduce/brief_kernels.h"
#include "kernels/cpu/reduce/brief_lanes.h"
#include "kernels/cpu/reduce/brief_single.h"
#include "kernels/cpu/reduce/tile_source.h"
#include "kernels/cpu/reduce/uniform_rows.h"

namespace gridfold::kernels::cpu {

namespace brief_internal {

template <class S>
struct AddBriefTileKernel {
  static void Run(const Tile<S>& tile, uint32_t first_row, BriefLanes<S>* lanes) {
    lanes->AddTile(tile, first_row);
  }
};

// Lines of groups of the lanes from the first on: of group groups[i] in lane i.
template <class S>
struct AddLinesKernel {
  static void Run(const std::byte* data, const uint64_t* begins, const uint8_t* groups,
                  uint32_t count, bool checked, BriefLanes<S>* lanes) {
    for (uint32_t lane = 0; lane < count; ++lane) {
      const uint64_t begin = begins[groups[lane]];
      const uint32_t size = static_cast<uint32_t>(begins[groups[lane] + 1] - begin);
      for (uint32_t first = 0; first < size; first += kLineChunk) {
        lanes->AddLine({data + (begin + first) * sizeof(S), std::min(kLineChunk, size - first)},
                       first, lane, checked);
      }
    }
  }
};

template <class S>
struct AddLineKernel {
  static void Run(const Line<S>& line, uint32_t first, uint32_t lane, bool checked,
                  BriefLanes<S>* lanes) {
    lanes->AddLine(line, first, lane, checked);
  }
};

template <class S>
struct SinglesKernel {
  static void Run(const SingleElements<S>& elements, const BriefRequest& request,
                  const BriefAnswers& answers) {
    const bool are_known = elements.AreFinite() && request.rules.delta_degrees_of_freedom == 0;
    std::fill_n(answers.is_open, elements.count, !are_known);
    if (!are_known) return;
    for (size_t s = 0; s < request.statistics.size(); ++s) {
      FinishSingles(elements, request.statistics[s], answers.slots[s]);
    }
  }
};

template <class S>
struct FinishBriefKernel {
  static void Run(Statistic statistic, const ValueRules& rules, uint64_t* slots,
                  BriefLanes<S>* lanes) {
    lanes->Finish(statistic, rules, slots);
  }
};

// Columns of a matrix, of which column i has sizes[i] elements, `least_size` or more; below them is
// what BriefLanes takes for none.
template <class T>
inline void ReduceColumns(const std::byte* data, size_t stride_bytes, uint32_t rows,
                          uint32_t columns, const uint32_t* sizes, uint32_t least_size,
                          const BriefRequest& request, BriefLanes<ComputeType<T>>& lanes) {
  using S = ComputeType<T>;
  TileSource<T> source;
  lanes.Reset(request.parts, columns, sizes, least_size, rows, request.extremes);
  // More rows than tiles have elsewhere: BriefLanes counts in wide enough types.
  constexpr uint32_t kRowsMax = 64;
  const uint32_t rows_max = HalfElement<T> ? source.RowsMax(columns) : kRowsMax;
  for (uint32_t row = 0; row < rows; row += rows_max) {
    const Tile<S> tile = source.Load(data + row * stride_bytes, stride_bytes,
                                     std::min(rows_max, rows - row), columns);
    RunForProcessor<AddBriefTileKernel<S>>(tile, row, &lanes);
  }
}

// Columns of one element each; returns whether it has the answers, of all or none.
template <class T>
inline bool TryReduceSingles(const std::byte* data, uint32_t columns, const BriefRequest& request,
                             const BriefAnswers& answers) {
  using S = ComputeType<T>;
  TileSource<T> source;
  const Tile<S> tile = source.Load(data, columns * sizeof(T), 1, columns);
  RunForProcessor<SinglesKernel<S>>(SingleElements<S>{tile.data, columns}, request, answers);
  return !answers.is_open[0];
}

// Groups that are laid side by side as columns: of about the same size, so that few rows are
// padded. There may be more of the largest one's size.
inline constexpr uint32_t kSideBySide = 32;
inline constexpr uint32_t kSideBySideElements = kSideBySide * kBriefRows;
// More groups than kSideBySide only where their columns stay in the first-level cache.
template <class T>
inline constexpr uint32_t kWideElements = (16 << 10) / sizeof(T);
// Between rows of columns: rows a power of two apart would share few sets of the first-level cache.
template <class T>
inline constexpr uint32_t kRowPadding = 64 / sizeof(T);

// Groups of so many elements and more are lines: of floating-point elements more, since what lines
// are folded to takes as long as some dozen elements.
template <class T>
inline constexpr uint32_t kLineMin = FloatingElement<T> ? 64 : 16;
inline constexpr uint32_t kLineMinMax = 64;
// Rows of one size below that are laid side by side all at once.
inline constexpr uint32_t kUniformMin = 16;

// The groups that are not lines in the order of their sizes; returns how many there are.
inline uint32_t SortBySize(const uint64_t* begins, uint32_t group_count, uint32_t line_min,
                           uint8_t* order) {
  const uint32_t size_max = line_min - 1;
  uint32_t ends[kLineMinMax] = {};
  const auto size_of = [=](uint32_t g) { return begins[g + 1] - begins[g]; };
  const auto is_brief = [=](uint32_t g) { return size_of(g) - 1 < size_max; };
  for (uint32_t g = 0; g < group_count; ++g) {
    if (is_brief(g)) ++ends[size_of(g)];
  }
  for (uint32_t size = 1; size <= size_max; ++size) ends[size] += ends[size - 1];
  const uint32_t taken = ends[size_max];
  for (uint32_t g = group_count; g-- > 0;) {
    if (is_brief(g)) order[--ends[size_of(g)]] = static_cast<uint8_t>(g);
  }
  return taken;
}

// How many of `count` groups, which have an order by size, are laid side by side.
template <class T, class SizeOf>
uint32_t SideBySide(uint32_t count, SizeOf size_of) {
  uint32_t width = std::min(kSideBySide, count);
  const uint32_t largest = size_of(width - 1);
  while (width < count && size_of(width) == largest && (width + 1) * largest <= kWideElements<T>) {
    ++width;
  }
  return width;
}

// The groups that are lines; returns how many there are.
inline uint32_t FindLines(const uint64_t* begins, uint32_t group_count, uint32_t line_min,
                          uint8_t* lines) {
  uint32_t count = 0;
  for (uint32_t g = 0; g < group_count; ++g) {
    const uint64_t size = begins[g + 1] - begins[g];
    lines[count] = static_cast<uint8_t>(g);
    if (size >= line_min && size <= kBriefElements) ++count;
  }
  return count;
}

// Writes the answers of lanes, of which lane i has group groups[i].
template <class S>
inline void Answer(std::span<const uint8_t> groups, const BriefRequest& request,
                   BriefLanes<S>& lanes, const BriefAnswers& answers) {
  uint64_t slots[kBriefLanes];
  for (size_t s = 0; s < request.statistics.size(); ++s) {
    RunForProcessor<FinishBriefKernel<S>>(request.statistics[s], request.rules, +slots, &lanes);
    for (size_t i = 0; i < groups.size(); ++i) answers.slots[s][groups[i]] = slots[i];
  }
  for (size_t i = 0; i < groups.size(); ++i) {
    answers.is_open[groups[i]] = lanes.is_open(static_cast<uint32_t>(i));
  }
}

// Groups one after the other, each in a lane.
template <class T>
inline void ReduceLines(const std::byte* data, const uint64_t* begins,
                        std::span<const uint8_t> groups, bool checked, const BriefRequest& request,
                        BriefLanes<ComputeType<T>>& lanes, const BriefAnswers& answers) {
  using S = ComputeType<T>;
  const uint32_t count = static_cast<uint32_t>(groups.size());
  uint32_t sizes[kBriefLanes] = {};
  for (uint32_t i = 0; i < count; ++i) {
    sizes[i] = static_cast<uint32_t>(begins[groups[i] + 1] - begins[groups[i]]);
  }
  lanes.Reset(request.parts, count, sizes, kLineMin<T>, *std::max_element(sizes, sizes + count),
              request.extremes);
  if constexpr (HalfElement<T>) {
    alignas(kLanesAlignment) S converted[kLineChunk];
    for (uint32_t lane = 0; lane < count; ++lane) {
      for (uint32_t first = 0; first < sizes[lane]; first += kLineChunk) {
        const uint32_t n = std::min(kLineChunk, sizes[lane] - first);
        ConvertToFloats<T>(data + (begins[groups[lane]] + first) * sizeof(T), n, converted);
        const Line<S> line{reinterpret_cast<const std::byte*>(converted), n};
        RunForProcessor<AddLineKernel<S>>(line, first, lane, checked, &lanes);
      }
    }
  } else {
    RunForProcessor<AddLinesKernel<S>>(data, begins, groups.data(), count, checked, &lanes);
  }
  Answer(groups, request, lanes, answers);
}

// Lays groups, of which group i begins at begin_of(i) and has sizes[i] elements, in ascending
// order, side by side: columns[row * stride + i].
template <class T, class BeginOf>
inline void LaySideBySide(BeginOf begin_of, std::span<const uint32_t> sizes, T* columns,
                          uint32_t stride) {
  constexpr uint32_t kTogether = kVectorBytes / sizeof(T);
  const uint32_t width = static_cast<uint32_t>(sizes.size());
  const auto lay_rest = [=](uint32_t i, uint32_t first_row) {
    uint32_t row = first_row;
    for (; row < sizes[i]; ++row) columns[row * stride + i] = LoadUnaligned<T>(begin_of(i), row);
    for (; row < sizes.back(); ++row) columns[row * stride + i] = NoElement<T>();
  };
  uint32_t i = 0;
  for (; i + kTogether <= width; i += kTogether) {
    const uint32_t common = sizes[i] / kTogether * kTogether;
    TransposeRows<T>([=](int k) { return begin_of(i + static_cast<uint32_t>(k)); }, common,
                     columns + i, stride);
    for (uint32_t k = i; k < i + kTogether; ++k) lay_rest(k, common);
  }
  for (; i < width; ++i) lay_rest(i, 0);
}

// Groups in the order of their sizes, laid side by side as columns.
template <class T>
inline void ReduceSideBySide(const std::byte* data, const uint64_t* begins,
                             std::span<const uint8_t> groups, const BriefRequest& request,
                             BriefLanes<ComputeType<T>>& lanes, const BriefAnswers& answers) {
  T columns[kSideBySideElements + kBriefRows * kRowPadding<T>];
  uint32_t sizes[kBriefLanes] = {};
  const auto size_of = [&](size_t i) {
    return static_cast<uint32_t>(begins[groups[i] + 1] - begins[groups[i]]);
  };
  for (uint32_t width; !groups.empty(); groups = groups.subspan(width)) {
    width = SideBySide<T>(static_cast<uint32_t>(groups.size()), size_of);
    for (uint32_t i = 0; i < width; ++i) sizes[i] = size_of(i);
    const uint32_t stride = width + kRowPadding<T>;
    LaySideBySide<T>([=](uint32_t i) { return data + begins[groups[i]] * sizeof(T); },
                     {sizes, width}, columns, stride);
    ReduceColumns<T>(reinterpret_cast<const std::byte*>(columns), stride * sizeof(T),
                     sizes[width - 1], width, sizes, sizes[0], request, lanes);
    Answer(groups.first(width), request, lanes, answers);
  }
}

// Whether all groups have the same size.
inline bool AreUniform(const uint64_t* begins, uint32_t group_count) {
  const uint64_t size = begins[1] - begins[0];
  uint64_t differences = 0;
  for (uint32_t g = 0; g < group_count; ++g) differences |= (begins[g + 1] - begins[g]) ^ size;
  return differences == 0;
}

}  // namespace brief_internal

template <class T>
void ReduceBriefColumns(const std::byte* data, size_t stride_bytes, uint32_t rows, uint32_t columns,
                        const BriefRequest& request, const BriefAnswers& answers) {
  using namespace brief_internal;  // NOLINT
  using S = ComputeType<T>;
  if (rows == 1 && TryReduceSingles<T>(data, columns, request, answers)) return;
  uint32_t sizes[kBriefLanes] = {};
  std::fill_n(sizes, columns, rows);
  BriefLanes<S> lanes;
  ReduceColumns<T>(data, stride_bytes, rows, columns, sizes, rows, request, lanes);
  for (size_t s = 0; s < request.statistics.size(); ++s) {
    RunForProcessor<FinishBriefKernel<S>>(request.statistics[s], request.rules, answers.slots[s],
                                          &lanes);
  }
  for (uint32_t c = 0; c < columns; ++c) answers.is_open[c] = lanes.is_open(c);
}

template <class T>
void ReduceBriefGroups(const std::byte* data, const uint64_t* begins, uint32_t group_count,
                       const BriefRequest& request, const BriefAnswers& answers) {
  using namespace brief_internal;  // NOLINT
  const uint64_t size = begins[1] - begins[0];
  if (size >= 1 && size < kUniformMin && AreUniform(begins, group_count)) {
    RowWord<T> columns[kBriefLanes * kUniformMin];
    const std::byte* const rows = data + begins[0] * sizeof(T);
    RunForProcessor<UniformRowsKernel<RowWord<T>>>(rows, static_cast<uint32_t>(size), group_count,
                                                   +columns);
    return ReduceBriefColumns<T>(reinterpret_cast<const std::byte*>(columns),
                                 group_count * sizeof(T), static_cast<uint32_t>(size), group_count,
                                 request, answers);
  }
  uint8_t groups[kBriefLanes];
  BriefLanes<ComputeType<T>> lanes;
  std::fill_n(answers.is_open, group_count, true);
  const uint32_t line_count = FindLines(begins, group_count, kLineMin<T>, groups);
  if (line_count > 0) {
    ReduceLines<T>(data, begins, {groups, line_count}, false, request, lanes, answers);
  }
  if constexpr (FloatingElement<T>) {
    const uint32_t open_count =
        static_cast<uint32_t>(std::copy_if(groups, groups + line_count, groups,
                                           [&](uint8_t g) { return answers.is_open[g]; }) -
                              groups);
    if (open_count > 0) {
      ReduceLines<T>(data, begins, {groups, open_count}, true, request, lanes, answers);
    }
  }
  if (line_count == group_count) return;
  const uint32_t short_count = SortBySize(begins, group_count, kLineMin<T>, groups);
  ReduceSideBySide<T>(data, begins, {groups, short_count}, request, lanes, answers);
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_KERNELS_INC_H_
