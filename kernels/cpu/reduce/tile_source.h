// Tiles of elements as the lanes take them: 16-bit floating-point elements are converted to float,
// all others are looked at where they are.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_TILE_SOURCE_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_TILE_SOURCE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/base/half_conversion.h"
#include "kernels/cpu/reduce/tile.h"
#include "kernels/numerics/arithmetic/element.h"

namespace gridfold::kernels::cpu {

template <class T>
class TileSource {
 public:
  static uint32_t RowsMax(uint32_t) { return kTileRows<T>; }

  Tile<T> Load(const std::byte* data, size_t stride_bytes, uint32_t rows, uint32_t width) {
    return {data, stride_bytes, rows, width};
  }
};

template <HalfElement T>
class TileSource<T> {
 public:
  // For tiles of this width.
  static uint32_t RowsMax(uint32_t width) {
    return std::min(kTileRows<float>, kElementsMax / width);
  }

  // The tile is valid until the next one is loaded.
  Tile<float> Load(const std::byte* data, size_t stride_bytes, uint32_t rows, uint32_t width) {
    for (uint32_t r = 0; r < rows; ++r) {
      ConvertToFloats<T>(data + r * stride_bytes, width, converted_ + r * width);
    }
    return {reinterpret_cast<const std::byte*>(converted_), width * sizeof(float), rows, width,
            kTrailingZeros};
  }

 private:
  static constexpr uint32_t kElementsMax = 16384;
  static constexpr int kTrailingZeros = std::is_same_v<T, Float16> ? 24 - 11 : 24 - 8;
  static_assert(kElementsMax >= kLanesMax<float>);

  alignas(kLanesAlignment) float converted_[kElementsMax];
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_TILE_SOURCE_H_
