// Definitions of kernels.h, included where they are instantiated.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_KERNELS_INC_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_KERNELS_INC_H_

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/cpu/base/instruction_set.h"
#include "kernels/cpu/reduce/exact_few.h"
#include "kernels/cpu/reduce/kernels.h"
#include "kernels/cpu/reduce/product_kernels.h"
#include "kernels/cpu/reduce/tile_source.h"

namespace gridfold::kernels::cpu {

namespace reduce_internal {

// Rows that are laid side by side in the lanes, where they stand so in memory: a power of two.
inline uint32_t FoldedRows(const StripShape& shape, size_t element_bytes) {
  if (shape.stride_bytes != shape.columns * element_bytes) return 1;
  // Some rows for each lane, since lanes must be joined in the end.
  const uint64_t lanes = std::clamp<uint64_t>(shape.rows * shape.columns / 8, 16, kContiguousLanes);
  return static_cast<uint32_t>(std::bit_floor(std::max<uint64_t>(lanes / shape.columns, 1)));
}

// Every part by plain additions, for at most kFewMax consecutive elements, for which lanes are not
// worth setting up.
template <class T>
inline void AddSerially(const std::byte* data, const StripShape& shape,
                        const ReduceRequest& request, GroupStateOf<T>& state) {
  uint64_t ignored_nans = 0;
  const auto add_to = [&](auto& result) {
    auto part = result;  // A copy, which is kept in registers.
    ignored_nans = 0;
    for (uint64_t i = 0; i < shape.rows; ++i) {
      const ComputeType<T> x = ToCompute(LoadUnaligned<T>(data, i));
      if (request.ignore_nan && IsNan(x)) {
        ++ignored_nans;
      } else {
        part.Add(x, shape.first_row + i);
      }
    }
    result = part;
  };
  const auto add_moment_to = [&]<Moment kMoment>(auto& result) {
    if constexpr (FloatingElement<T>) {
      AddFew<T, kMoment>(data, static_cast<uint32_t>(shape.rows), request.ignore_nan, result.sum);
    } else {
      add_to(result);
    }
  };
  if ((request.parts & kSumPart) != 0) {
    add_moment_to.template operator()<Moment::kSum>(state.template Part<kSumPart>());
  }
  if ((request.parts & kSquaresPart) != 0) {
    add_moment_to.template operator()<Moment::kSquares>(state.template Part<kSquaresPart>());
  }
  if ((request.parts & kMagnitudesPart) != 0) {
    add_moment_to.template operator()<Moment::kMagnitudes>(state.template Part<kMagnitudesPart>());
  }
  if ((request.parts & kExtremesPart) != 0) add_to(state.template Part<kExtremesPart>());
  if ((request.parts & kTallyPart) != 0) {
    add_to(state.template Part<kTallyPart>());
    state.template Part<kTallyPart>().nan += ignored_nans;
  }
  if constexpr (IntegerElement<T>) {
    if ((request.parts & kProductPart) != 0) add_to(state.template Part<kProductPart>());
    if ((request.parts & kBitsPart) != 0) add_to(state.template Part<kBitsPart>());
  }
}

template <class S>
struct AddTileKernel {
  static void Run(const Tile<S>& tile, const ColumnMap& map, ReduceLanes<S>* lanes,
                  GroupState<S>* states) {
    lanes->AddTile(tile, map, states);
  }
};

template <class S>
struct MergeLanesKernel {
  static void Run(uint32_t columns, ReduceLanes<S>* lanes, GroupState<S>* states) {
    lanes->MergeInto(columns, states);
  }
};

// Products of rows [begin, end), one tile of the product tree, of the strip's columns.
template <class T>
struct TileProductsKernel {
  static void Run(const std::byte* data, const StripShape& shape, uint64_t begin, uint64_t end,
                  bool ignore_nan, PairwiseProduct* trees) {
    ScaledProduct tile_products[kProductColumns];
    const std::byte* tile = data + begin * shape.stride_bytes;
    for (uint32_t c = 0; c < shape.columns; c += kProductColumns) {
      const uint32_t width = std::min(kProductColumns, shape.columns - c);
      ProductOfTileColumns<T>(tile + c * sizeof(T), shape.stride_bytes, end - begin, width,
                              ignore_nan, tile_products);
      for (uint32_t i = 0; i < width; ++i) trees[c + i].Push(tile_products[i]);
    }
  }
};

template <class T>
struct PieceProductKernel {
  static void Run(const std::byte* data, uint64_t element_count, bool ignore_nan,
                  ScaledProduct* product) {
    *product = ProductOfPiece<T>(data, element_count, ignore_nan);
  }
};

inline bool IsContiguous(const StripShape& shape, size_t element_bytes) {
  return shape.columns == 1 && shape.stride_bytes == element_bytes;
}

// Feeds rows [begin, end) of a strip to lanes, `folded_rows` of them side by side.
template <class T>
inline void AddRows(const std::byte* data, const StripShape& shape, uint32_t folded_rows,
                    uint64_t begin, uint64_t end, ReduceLanes<ComputeType<T>>& lanes,
                    GroupStateOf<T>* states) {
  using S = ComputeType<T>;
  TileSource<T> source;
  for (uint64_t row = begin; row < end;) {
    const uint32_t folded = static_cast<uint32_t>(std::min<uint64_t>(folded_rows, end - row));
    const uint32_t width = shape.columns * folded;
    const uint32_t tile_rows =
        static_cast<uint32_t>(std::min<uint64_t>(source.RowsMax(width), (end - row) / folded));
    const Tile<S> tile =
        source.Load(data + row * shape.stride_bytes, shape.stride_bytes * folded, tile_rows, width);
    RunForProcessor<AddTileKernel<S>>(tile, ColumnMap{shape.columns, shape.first_row + row, folded},
                                      &lanes, states);
    row += uint64_t{tile_rows} * folded;
  }
}

}  // namespace reduce_internal

template <class T>
void ReduceStrip(const std::byte* data, const StripShape& shape, const ReduceRequest& request,
                 GroupStateOf<T>* states, ScaledProduct* products) {
  using namespace reduce_internal;  // NOLINT
  using S = ComputeType<T>;
  const bool contiguous = IsContiguous(shape, sizeof(T));
  if constexpr (FloatingElement<T>) {
    if (request.float_product && contiguous) {
      RunForProcessor<PieceProductKernel<T>>(data, shape.rows, request.ignore_nan, products);
    }
  }
  if (contiguous && shape.rows <= kFewMax) {
    AddSerially<T>(data, shape, request, *states);
    return;
  }

  const bool interleaved_products = request.float_product && !contiguous;
  std::vector<PairwiseProduct> trees(interleaved_products ? shape.columns : 0);
  // Products take the rows in tiles of their tree; the other parts take the same ones, so that both
  // find them in the cache.
  const uint64_t step = interleaved_products ? kProductTile : shape.rows;
  ReduceLanes<S> lanes;
  const uint32_t folded_rows = FoldedRows(shape, sizeof(T));
  lanes.Reset(request.parts, request.ignore_nan, shape.columns * folded_rows);
  for (uint64_t row = 0; row < shape.rows; row += step) {
    const uint64_t end = std::min(row + step, shape.rows);
    AddRows<T>(data, shape, folded_rows, row, end, lanes, states);
    if constexpr (FloatingElement<T>) {
      if (interleaved_products) {
        RunForProcessor<TileProductsKernel<T>>(data, shape, row, end, request.ignore_nan,
                                               trees.data());
      }
    }
  }
  RunForProcessor<MergeLanesKernel<S>>(shape.columns, &lanes, states);
  for (size_t c = 0; c < trees.size(); ++c) products[c] = trees[c].Result();
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_KERNELS_INC_H_
