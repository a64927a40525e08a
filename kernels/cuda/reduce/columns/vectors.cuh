// Lanes take vectors of a tile's columns, of a 32-bit word or of one element, which need not be
// aligned to more than an element: lanes side by side take neighbouring vectors, the rest of the
// lanes the next rows; warps that are side by side, too, take neighbouring parts of the tile.
//
// Example: 40 columns of a vector each, two warps side by side:
//
//   warp 0, row 0: columns 0-31       warp 1, row 0: columns 32-39
//   with 8 columns one warp takes four rows at a time: lanes 8-15 take row 1
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_VECTORS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_VECTORS_CUH_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/arithmetic/element.h"

namespace gridfold::kernels::cuda {

// What a lane loads of a row: as many columns as a word has, or one.
template <class T>
using ColumnVector = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

// Where a lane stands.
template <class T>
struct ColumnPlace {
  static constexpr uint32_t kSize = sizeof(ColumnVector<T>) / sizeof(T);
  static constexpr uint32_t kWarpColumns = ReduceTuning::kWarpThreads * kSize;
  uint32_t lanes;  // Side by side.
  uint32_t rows;   // That a warp takes at once.
  uint32_t lane;   // Of those side by side.
  uint32_t row;
  uint32_t warps;      // Side by side.
  uint32_t warp_rows;  // Warps that take rows of the same columns.
  uint32_t warp_column;
  uint32_t warp_row;

  // The place in a block of so many warps.
  __device__ ColumnPlace(uint32_t lane_of_warp, uint32_t warp_of_block, uint32_t block_warps,
                         uint32_t tile_columns_log2)
      : lanes(min((1u << tile_columns_log2) / kSize, ReduceTuning::kWarpThreads)),
        rows(ReduceTuning::kWarpThreads / lanes),
        lane(lane_of_warp & (lanes - 1)),
        row(lane_of_warp / lanes),
        warps((1u << tile_columns_log2) / (lanes * kSize)),
        warp_rows(block_warps / warps),
        warp_column(warp_of_block & (warps - 1)),
        warp_row(warp_of_block / warps) {}

  // The first of the lane's columns of the tile.
  __device__ uint32_t Column() const { return (warp_column * lanes + lane) * kSize; }
};

// A lane's vectors of an item.
template <class T>
class ColumnVectors {
 public:
  using Vector = ColumnVector<T>;
  static constexpr uint32_t kSize = ColumnPlace<T>::kSize;

  // A lane whose columns do not exist has others.
  __device__ ColumnVectors(const ReductionParameters& parameters, uint64_t column,
                           uint64_t first_row)
      : pitch_(parameters.row_pitch), present_(kSize) {
    const uint64_t all = parameters.group_count;
    const uint64_t left = column < all ? all - column : all;
    if (left < kSize) present_ = static_cast<uint32_t>(left);
    const T* const elements = static_cast<const T*>(parameters.elements);
    first_ = elements + first_row * pitch_ + parameters.FirstOfColumn(column < all ? column : 0);
    if constexpr (kSize > 1) {
      const uintptr_t begin = reinterpret_cast<uintptr_t>(elements);
      begin_ = begin + sizeof(Vector);
      end_ = begin + parameters.span_elements * sizeof(T);
      is_aligned_ = (pitch_ | parameters.columns) % kSize == 0 && begin % sizeof(Vector) == 0;
    }
  }

  // Loads `row` and others `apart` rows from each other, of the `rows` that are left; those that do
  // not exist are zeros, negative ones of floating-point elements.
  template <uint32_t kRows>
  __device__ void Load(uint64_t row, uint32_t apart, uint64_t rows, Vector (&raw)[kRows]) const {
    const T* const at = first_ + row * pitch_;
    const uint64_t step = apart * pitch_;
    const bool are_all = rows > uint64_t{kRows - 1} * apart && step >> 32 == 0;
    const uint32_t short_step = static_cast<uint32_t>(step);
    if (is_aligned_) {
      if (are_all) {
#pragma unroll
        for (uint32_t r = 0; r < kRows; ++r) {
          raw[r] = *reinterpret_cast<const Vector*>(at + uint64_t{short_step} * r);
        }
      } else {
#pragma unroll
        for (uint32_t r = 0; r < kRows; ++r) {
          raw[r] = kAbsent;
          if (uint64_t{r} * apart < rows) {
            raw[r] = *reinterpret_cast<const Vector*>(at + step * r);
          }
        }
      }
      return;
    }
    if constexpr (kSize > 1) {
      if (are_all && HasWords(at) && HasWords(at + (kRows - 1) * step)) {
#pragma unroll
        for (uint32_t r = 0; r < kRows; ++r) raw[r] = LoadWords(at + uint64_t{short_step} * r);
      } else {
        LoadSome(at, step, rows == 0 ? 0 : (rows - 1) / apart + 1, raw);
      }
    }
  }

 private:
  static constexpr Vector kAbsent = !FloatingElement<T> ? 0
                                    : sizeof(T) == 2    ? 0x8000'8000u
                                    : sizeof(T) == 4    ? 0x8000'0000u
                                                        : Vector{1} << (8 * sizeof(Vector) - 1);

  // Row by row, those at the ends of the array by elements. Rows move to where the first was, since
  // registers have no index.
  template <uint32_t kRows>
  __device__ void LoadSome(const T* at, uint64_t step, uint64_t rows, Vector (&raw)[kRows]) const {
#pragma unroll 1
    for (uint32_t r = 0; r < kRows; ++r) {
      Vector vector = kAbsent;
      if (r < rows) vector = HasWords(at) ? LoadWords(at) : LoadElements(at);
      at += step;
#pragma unroll
      for (uint32_t i = 0; i + 1 < kRows; ++i) raw[i] = raw[i + 1];
      raw[kRows - 1] = vector;
    }
  }

  // Whether the words that a vector is in are words of the array.
  __device__ bool HasWords(const T* at) const {
    const uintptr_t address = reinterpret_cast<uintptr_t>(at);
    return address >= begin_ && address + 2 * sizeof(Vector) <= end_;
  }
  // Loads a vector from the two words that it is in.
  __device__ static Vector LoadWords(const T* at) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(at);
    const Vector* const words = reinterpret_cast<const Vector*>(address & ~uintptr_t{3});
    const uint32_t bits = static_cast<uint32_t>(address & 3) * 8;
    return __funnelshift_r(words[0], words[bits != 0 ? 1 : 0], bits);
  }
  __device__ Vector LoadElements(const T* at) const {
    struct Elements {
      T values[kSize];
    };
    Elements elements = std::bit_cast<Elements>(kAbsent);
#pragma unroll
    for (uint32_t k = 0; k < kSize; ++k) {
      if (k < present_) elements.values[k] = at[k];
    }
    return std::bit_cast<Vector>(elements);
  }

  uint64_t pitch_;  // From a row to the next.
  const T* first_;
  uint32_t present_;  // Of the lane's columns.
  // Addresses of the array; from `begin_` on, a word begins in it.
  uintptr_t begin_ = 0;
  uintptr_t end_ = 0;
  bool is_aligned_ = true;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_COLUMNS_VECTORS_CUH_
