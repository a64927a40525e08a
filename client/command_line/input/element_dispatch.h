// From an element type that is known at run time to the C++ type that stands for it.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_ELEMENT_DISPATCH_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_ELEMENT_DISPATCH_H_

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "gridfold/array_view.h"

namespace gridfold::client {

template <Element T>
struct ElementTag {
  using Type = T;
};

// Calls `function` with the ElementTag of `type`, which must be one of the enumerators.
template <typename Function>
auto DispatchElementType(ElementType type, Function&& function) {
  switch (type) {
    case ElementType::kInt8: return function(ElementTag<int8_t>());
    case ElementType::kInt16: return function(ElementTag<int16_t>());
    case ElementType::kInt32: return function(ElementTag<int32_t>());
    case ElementType::kInt64: return function(ElementTag<int64_t>());
    case ElementType::kUint8: return function(ElementTag<uint8_t>());
    case ElementType::kUint16: return function(ElementTag<uint16_t>());
    case ElementType::kUint32: return function(ElementTag<uint32_t>());
    case ElementType::kUint64: return function(ElementTag<uint64_t>());
    case ElementType::kFloat16: return function(ElementTag<Float16>());
    case ElementType::kBfloat16: return function(ElementTag<Bfloat16>());
    case ElementType::kFloat32: return function(ElementTag<float>());
    case ElementType::kFloat64: return function(ElementTag<double>());
    case ElementType::kBool: return function(ElementTag<uint8_t>());
  }
  std::abort();
}

// Element `index` of `array`, which holds T and may be misaligned.
template <Element T>
T ElementAt(const ArrayView& array, uint64_t index) {
  T value;
  std::memcpy(&value, array.bytes().data() + index * sizeof(T), sizeof(T));
  return value;
}

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_ELEMENT_DISPATCH_H_
