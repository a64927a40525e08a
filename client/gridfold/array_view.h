// A typed view of a caller's array, the input of every operation.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_ARRAY_VIEW_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_ARRAY_VIEW_H_

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <span>
#include <type_traits>

#include "gridfold/element_type.h"

namespace gridfold::client {

// Arrays are little-endian on the wire, and are sent as they lie in memory.
static_assert(std::endian::native == std::endian::little);

// A std::vector, std::array, std::span or other contiguous range of elements.
template <typename Range>
concept ElementRange =
    std::ranges::contiguous_range<const Range> && std::ranges::sized_range<const Range> &&
    Element<std::remove_cv_t<std::ranges::range_value_t<const Range>>>;

// The most dimensions that an array has.
inline constexpr size_t kDimensionsMax = 8;

// A contiguous, row-major array of up to eight dimensions. It owns nothing: the elements must stay
// unchanged until the call that takes the view has returned. Cheap to copy.
//
//   std::vector<float> samples = ...;
//   client.ReduceArray(samples, options);                                // One dimension.
//   client.ReduceArray(ArrayView(samples).WithShape({32, 256, 56, 56}), ...);  // Four.
class ArrayView {
 public:
  // Views all of a range.
  template <ElementRange Range>
  // NOLINTNEXTLINE(google-explicit-constructor): a view, as std::span is.
  ArrayView(const Range& elements)
      : ArrayView(ElementTypeOf<std::remove_cv_t<std::ranges::range_value_t<Range>>>(),
                  std::ranges::data(elements), std::ranges::size(elements)) {}

  // Views `element_count` elements at `data`, whose type is known at run time only. They need not
  // be aligned.
  ArrayView(ElementType element_type, const void* data, uint64_t element_count)
      : element_type_(element_type),
        data_(static_cast<const std::byte*>(data)),
        element_count_(element_count) {}

  // The same elements with these extents; with none it is an array without dimensions, of one
  // element. The server refuses a shape that does not match the number of elements, and one of more
  // than eight dimensions.
  ArrayView WithShape(std::span<const uint64_t> extents) const {
    ArrayView shaped = *this;
    shaped.dimension_count_ = std::min(extents.size(), shaped.shape_.size());
    std::copy_n(extents.begin(), shaped.dimension_count_, shaped.shape_.begin());
    shaped.is_zero_dimensional_ = extents.empty();
    return shaped;
  }
  ArrayView WithShape(std::initializer_list<uint64_t> extents) const {
    return WithShape(std::span(extents.begin(), extents.size()));
  }
  // The same elements as a matrix.
  ArrayView WithShape(uint64_t rows, uint64_t columns) const { return WithShape({rows, columns}); }

  ElementType element_type() const { return element_type_; }
  uint64_t element_count() const { return element_count_; }

  // The extents of WithShape; without it, empty for one dimension.
  std::span<const uint64_t> shape() const { return {shape_.data(), dimension_count_}; }
  bool is_zero_dimensional() const { return is_zero_dimensional_; }

  std::span<const std::byte> bytes() const {
    return {data_, element_count_ * ElementSizeBytes(element_type_)};
  }

 private:
  ElementType element_type_;
  const std::byte* data_;
  uint64_t element_count_;
  std::array<uint64_t, kDimensionsMax + 1> shape_ = {};  // One more, for the server to refuse.
  size_t dimension_count_ = 0;
  bool is_zero_dimensional_ = false;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_ARRAY_VIEW_H_
