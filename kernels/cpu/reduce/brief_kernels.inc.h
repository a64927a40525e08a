// Definitions of brief_kernels.h, included where they are instantiated.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_KERNELS_INC_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_KERNELS_INC_H_

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/base/instruction_set.h"
#include "kernels/cpu/reduce/brief_kernels.h"
#include "kernels/cpu/reduce/brief_lanes.h"
#include "kernels/cpu/reduce/tile_source.h"

namespace gridfold::kernels::cpu {

namespace brief_internal {

template <class S>
struct AddBriefTileKernel {
  static void Run(const Tile<S>& tile, uint32_t first_row, BriefLanes<S>* lanes) {
    lanes->AddTile(tile, first_row);
  }
};

template <class S>
struct FinishBriefKernel {
  static void Run(Statistic statistic, const ValueRules& rules, uint64_t* slots,
                  BriefLanes<S>* lanes) {
    lanes->Finish(statistic, rules, slots);
  }
};

// Columns of a matrix, of which column i has sizes[i] elements; below them is what BriefLanes takes
// for none.
template <class T>
inline void ReduceColumns(const std::byte* data, size_t stride_bytes, uint32_t rows,
                          uint32_t columns, const uint32_t* sizes, const BriefRequest& request,
                          BriefLanes<ComputeType<T>>& lanes) {
  using S = ComputeType<T>;
  TileSource<T> source;
  lanes.Reset(request.parts, columns, sizes);
  const uint32_t rows_max = source.RowsMax(columns);
  for (uint32_t row = 0; row < rows; row += rows_max) {
    const Tile<S> tile = source.Load(data + row * stride_bytes, stride_bytes,
                                     std::min(rows_max, rows - row), columns);
    RunForProcessor<AddBriefTileKernel<S>>(tile, row, &lanes);
  }
}

// Groups that are laid side by side as columns: of about the same size, so that few rows are
// padded. There may be more of the largest one's size.
inline constexpr uint32_t kSideBySide = 32;
inline constexpr uint32_t kSideBySideElements = kSideBySide * kBriefRows;

// The groups in the order of their sizes; returns how many there are that lanes can take.
inline uint32_t SortBySize(const uint64_t* begins, uint32_t group_count, uint8_t* order) {
  uint32_t ends[kBriefRows + 1] = {};
  const auto size_of = [=](uint32_t g) { return begins[g + 1] - begins[g]; };
  const auto is_brief = [=](uint32_t g) { return size_of(g) - 1 < kBriefRows; };
  for (uint32_t g = 0; g < group_count; ++g) {
    if (is_brief(g)) ++ends[size_of(g)];
  }
  for (uint32_t size = 1; size <= kBriefRows; ++size) ends[size] += ends[size - 1];
  const uint32_t taken = ends[kBriefRows];
  for (uint32_t g = group_count; g-- > 0;) {
    if (is_brief(g)) order[--ends[size_of(g)]] = static_cast<uint8_t>(g);
  }
  return taken;
}

// How many of `count` groups, which have an order by size, are laid side by side.
template <class SizeOf>
uint32_t SideBySide(uint32_t count, SizeOf size_of) {
  uint32_t width = std::min(kSideBySide, count);
  const uint32_t largest = size_of(width - 1);
  while (width < count && size_of(width) == largest &&
         (width + 1) * largest <= kSideBySideElements) {
    ++width;
  }
  return width;
}

}  // namespace brief_internal

template <class T>
void ReduceBriefColumns(const std::byte* data, size_t stride_bytes, uint32_t rows, uint32_t columns,
                        const BriefRequest& request, const BriefAnswers& answers) {
  using namespace brief_internal;  // NOLINT
  using S = ComputeType<T>;
  uint32_t sizes[kBriefLanes] = {};
  std::fill_n(sizes, columns, rows);
  BriefLanes<S> lanes;
  ReduceColumns<T>(data, stride_bytes, rows, columns, sizes, request, lanes);
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
  using S = ComputeType<T>;
  uint8_t order[kBriefLanes];
  T columns[kSideBySideElements];
  BriefLanes<S> lanes;
  std::fill_n(answers.is_open, group_count, true);
  const uint32_t brief_count = SortBySize(begins, group_count, order);
  const uint8_t* groups = order;
  const auto size_of = [&](uint32_t i) {
    return static_cast<uint32_t>(begins[groups[i] + 1] - begins[groups[i]]);
  };
  for (uint32_t width, left = brief_count; left > 0; left -= width, groups += width) {
    width = SideBySide(left, size_of);
    uint32_t sizes[kBriefLanes];
    for (uint32_t i = 0; i < width; ++i) sizes[i] = size_of(i);
    const uint32_t rows = sizes[width - 1];
    for (uint32_t i = 0; i < width; ++i) {
      const std::byte* const elements = data + begins[groups[i]] * sizeof(T);
      uint32_t row = 0;
      for (; row < sizes[i]; ++row) columns[row * width + i] = LoadUnaligned<T>(elements, row);
      for (; row < rows; ++row) columns[row * width + i] = NoElement<T>();
    }
    ReduceColumns<T>(reinterpret_cast<const std::byte*>(columns), width * sizeof(T), rows, width,
                     sizes, request, lanes);
    for (size_t s = 0; s < request.statistics.size(); ++s) {
      uint64_t slots[kBriefLanes];
      RunForProcessor<FinishBriefKernel<S>>(request.statistics[s], request.rules, +slots, &lanes);
      for (uint32_t i = 0; i < width; ++i) answers.slots[s][groups[i]] = slots[i];
    }
    for (uint32_t i = 0; i < width; ++i) answers.is_open[groups[i]] = lanes.is_open(i);
  }
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_KERNELS_INC_H_
