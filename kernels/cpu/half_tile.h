// Tiles of elements as the lanes take them: 16-bit floating-point elements are converted to float,
// all others are looked at where they are.
#ifndef GRIDFOLD_KERNELS_CPU_HALF_TILE_H_
#define GRIDFOLD_KERNELS_CPU_HALF_TILE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/tile.h"
#include "kernels/numerics/element.h"

namespace gridfold::kernels {

template <class T>
class TileSource {
 public:
  Tile<T> Load(const std::byte* data, size_t stride_bytes, uint32_t rows, uint32_t width) {
    return {data, stride_bytes, rows, width};
  }
};

template <HalfElement T>
class TileSource<T> {
 public:
  // The tile is good until the next one is loaded.
  Tile<float> Load(const std::byte* data, size_t stride_bytes, uint32_t rows, uint32_t width) {
    for (uint32_t r = 0; r < rows; ++r) {
      const std::byte* row = data + r * stride_bytes;
      float* converted = converted_ + r * width;
      for (uint32_t i = 0; i < width; ++i) {
        converted[i] = static_cast<float>(LoadUnaligned<T>(row, i));
      }
    }
    return {reinterpret_cast<const std::byte*>(converted_), width * sizeof(float), rows, width};
  }

 private:
  float converted_[kTileRows<float> * kLanesMax<float>];
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CPU_HALF_TILE_H_
