// Definitions of reduce_kernels.h, included where they are instantiated.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_KERNELS_INC_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_KERNELS_INC_H_

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/cpu/half_tile.h"
#include "kernels/cpu/instruction_set.h"
#include "kernels/cpu/product_kernels.h"
#include "kernels/cpu/reduce_kernels.h"

namespace gridfold::kernels {

namespace reduce_internal {

// Rows that are laid side by side in the lanes, where they stand so in memory: a power of two.
inline uint32_t FoldedRows(const StripShape& shape, size_t element_bytes) {
  if (shape.stride_bytes != shape.columns * element_bytes) return 1;
  // Some rows for each lane, since lanes must be joined in the end.
  const uint64_t lanes = std::clamp<uint64_t>(shape.rows * shape.columns / 8, 16, 128);
  return static_cast<uint32_t>(std::bit_floor(std::max<uint64_t>(lanes / shape.columns, 1)));
}

// Every part by plain additions, for a few consecutive elements.
template <class T>
inline void AddSerially(const std::byte* data, const StripShape& shape,
                        const ReduceRequest& request, GroupStateOf<T>& state) {
  uint64_t ignored_nans = 0;
  const auto add_to = [&](auto& part) {
    ignored_nans = 0;
    for (uint64_t i = 0; i < shape.rows; ++i) {
      const ComputeType<T> x = ToCompute(LoadUnaligned<T>(data, i));
      if (request.ignore_nan && IsNan(x)) {
        ++ignored_nans;
      } else {
        part.Add(x, shape.first_row + i);
      }
    }
  };
  if ((request.parts & kSumPart) != 0) add_to(state.template Part<kSumPart>());
  if ((request.parts & kSquaresPart) != 0) add_to(state.template Part<kSquaresPart>());
  if ((request.parts & kExtremesPart) != 0) add_to(state.template Part<kExtremesPart>());
  if ((request.parts & kMagnitudesPart) != 0) add_to(state.template Part<kMagnitudesPart>());
  if ((request.parts & kTallyPart) != 0) {
    add_to(state.template Part<kTallyPart>());
    state.template Part<kTallyPart>().nan += ignored_nans;
  }
  if constexpr (IntegerElement<T>) {
    if ((request.parts & kProductPart) != 0) add_to(state.template Part<kProductPart>());
    if ((request.parts & kBitsPart) != 0) add_to(state.template Part<kBitsPart>());
  }
}

// Feeds rows of `width` elements to lanes.
template <class T>
inline void AddRows(const std::byte* data, size_t stride_bytes, uint64_t rows, uint32_t width,
                    ColumnMap map, ReduceLanes<ComputeType<T>>& lanes, GroupStateOf<T>* states) {
  using S = ComputeType<T>;
  TileSource<T> source;
  for (uint64_t r = 0; r < rows; r += kTileRows<S>) {
    const uint32_t tile_rows = static_cast<uint32_t>(std::min<uint64_t>(kTileRows<S>, rows - r));
    lanes.AddTile(source.Load(data + r * stride_bytes, stride_bytes, tile_rows, width), map,
                  states);
    map.first_index += tile_rows * map.rows_step;
  }
}

// Products of the strip's columns, fed one tile of the product tree at a time.
template <class T>
inline void PushTileProducts(const std::byte* data, const StripShape& tile, bool ignore_nan,
                             PairwiseProduct* trees) {
  double tile_products[kProductColumns];
  for (uint32_t c = 0; c < tile.columns; c += kProductColumns) {
    const uint32_t width = std::min(kProductColumns, tile.columns - c);
    ProductOfTileColumns<T>(data + c * sizeof(T), tile.stride_bytes, tile.rows, width, ignore_nan,
                            tile_products);
    for (uint32_t i = 0; i < width; ++i) trees[c + i].Push(tile_products[i]);
  }
}

// Feeds all rows of a strip to lanes, `folded_rows` of them side by side.
template <class T>
inline void AddStrip(const std::byte* data, const StripShape& shape, uint32_t folded_rows,
                     ReduceLanes<ComputeType<T>>& lanes, GroupStateOf<T>* states) {
  const uint64_t rows = shape.rows / folded_rows;
  const uint32_t rest = static_cast<uint32_t>(shape.rows % folded_rows);
  const size_t stride_bytes = shape.stride_bytes * folded_rows;
  const ColumnMap map{shape.columns, shape.first_row, folded_rows};
  AddRows<T>(data, stride_bytes, rows, shape.columns * folded_rows, map, lanes, states);
  if (rest != 0) {
    AddRows<T>(data + rows * stride_bytes, stride_bytes, 1, shape.columns * rest,
               {map.columns, map.first_index + rows * folded_rows, map.rows_step}, lanes, states);
  }
}

inline bool IsContiguous(const StripShape& shape, size_t element_bytes) {
  return shape.columns == 1 && shape.stride_bytes == element_bytes;
}

// Parts and products of several columns.
template <class T>
inline void AddStripWithProducts(const std::byte* data, const StripShape& shape,
                                 uint32_t folded_rows, bool ignore_nan,
                                 ReduceLanes<ComputeType<T>>& lanes, GroupStateOf<T>* states,
                                 double* products) {
  std::vector<PairwiseProduct> trees(shape.columns);
  // By tiles of the product tree, so that both looks at the elements find them in the cache.
  for (uint64_t r = 0; r < shape.rows; r += kProductTile) {
    const StripShape tile{shape.stride_bytes, std::min(kProductTile, shape.rows - r), shape.columns,
                          shape.first_row + r};
    const std::byte* tile_data = data + r * shape.stride_bytes;
    AddStrip<T>(tile_data, tile, folded_rows, lanes, states);
    PushTileProducts<T>(tile_data, tile, ignore_nan, trees.data());
  }
  for (uint32_t c = 0; c < shape.columns; ++c) products[c] = trees[c].Result();
}

template <class T>
struct StripKernel {
  static void Run(const std::byte* data, const StripShape& shape, const ReduceRequest& request,
                  GroupStateOf<T>* states, double* products) {
    ReduceLanes<ComputeType<T>> lanes;
    const uint32_t folded_rows = FoldedRows(shape, sizeof(T));
    lanes.Reset(request.parts, request.ignore_nan, shape.columns * folded_rows);
    if constexpr (FloatingElement<T>) {
      if (request.float_product && !IsContiguous(shape, sizeof(T))) {
        AddStripWithProducts<T>(data, shape, folded_rows, request.ignore_nan, lanes, states,
                                products);
        lanes.MergeInto(shape.columns, states);
        return;
      }
      if (request.float_product) {
        *products = ProductOfPiece<T>(data, shape.rows, request.ignore_nan);
      }
    }
    AddStrip<T>(data, shape, folded_rows, lanes, states);
    lanes.MergeInto(shape.columns, states);
  }
};

}  // namespace reduce_internal

template <class T>
void ReduceStrip(const std::byte* data, const StripShape& shape, const ReduceRequest& request,
                 GroupStateOf<T>* states, double* products) {
  using namespace reduce_internal;  // NOLINT
  constexpr uint64_t kWorthLanes = 128;
  if (!IsContiguous(shape, sizeof(T)) || shape.rows >= kWorthLanes) {
    RunForProcessor<StripKernel<T>>(data, shape, request, states, products);
    return;
  }
  AddSerially<T>(data, shape, request, *states);
  if constexpr (FloatingElement<T>) {
    if (request.float_product) {
      *products = ProductOfPiece<T>(data, shape.rows, request.ignore_nan);
    }
  }
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_KERNELS_INC_H_
