// Shapes of arrays of up to eight dimensions. Plain data, no ownership.
//
//   const Shape shape{32, 256, 56, 56};
//   shape.element_count();  // 25'690'112
#ifndef GRIDFOLD_KERNELS_CONTRACT_SHAPE_H_
#define GRIDFOLD_KERNELS_CONTRACT_SHAPE_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>

#include "kernels/contract/array.h"

namespace gridfold::kernels {

inline constexpr int kDimensionsMax = 8;

// The product of the factors, or 2^64 - 1 where it is larger.
constexpr uint64_t SaturatingProduct(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<uint64_t>::max() : product;
}

// Extents of an array's dimensions, the first one outermost. Without any dimension: one element.
class Shape {
 public:
  Shape() = default;
  // Requires no more than kDimensionsMax extents.
  Shape(std::initializer_list<uint64_t> extents)
      : Shape(std::span(extents.begin(), extents.size())) {}
  explicit Shape(std::span<const uint64_t> extents) {
    for (const uint64_t extent : extents) Append(extent);
  }

  // Requires fewer than kDimensionsMax dimensions.
  void Append(uint64_t extent) { extents_[static_cast<size_t>(dimension_count_++)] = extent; }

  // Requires that the dimension is there.
  void SetExtent(int dimension, uint64_t extent) {
    extents_[static_cast<size_t>(dimension)] = extent;
  }

  int dimension_count() const { return dimension_count_; }
  uint64_t operator[](int dimension) const { return extents_[static_cast<size_t>(dimension)]; }
  std::span<const uint64_t> extents() const {
    return std::span(extents_).first(static_cast<size_t>(dimension_count_));
  }
  // 2^64 - 1 where there are more.
  uint64_t element_count() const {
    uint64_t count = 1;
    for (const uint64_t extent : extents()) {
      if (extent == 0) return 0;
      count = SaturatingProduct(count, extent);
    }
    return count;
  }

  bool operator==(const Shape&) const = default;

 private:
  std::array<uint64_t, kDimensionsMax> extents_{};  // 0 behind the last dimension.
  int dimension_count_ = 0;
};

// Element type and shape of an array of any number of dimensions.
struct ShapedArray {
  ElementType element_type = ElementType::kInt32;
  Shape shape;
  bool is_bool = false;  // Its elements, uint8 to kernels, are truth values: 0 or 1.

  ShapedArray() = default;
  ShapedArray(ElementType type, const Shape& array_shape)
      : element_type(type), shape(array_shape) {}
  ShapedArray(const ArrayDescription& array)  // NOLINT: what has one or two dimensions is an array.
      : element_type(array.element_type),
        shape(array.is_matrix ? Shape{array.rows, array.columns} : Shape{array.element_count}) {}

  uint64_t element_count() const { return shape.element_count(); }
  uint64_t size_bytes() const { return element_count() * ElementSize(element_type); }
  // As operations on all elements see it: a matrix of two dimensions, else one-dimensional.
  ArrayDescription description() const {
    return shape.dimension_count() == 2 ? ArrayDescription::Matrix(element_type, shape[0], shape[1])
                                        : ArrayDescription::Vector(element_type, element_count());
  }
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_SHAPE_H_
