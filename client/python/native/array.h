// Arrays of NumPy as arrays of the client library, and back, by Python's buffer protocol, which
// does not depend on NumPy's version. With pybind11 2.11's numpy.h, which reads NumPy's own
// structs, and NumPy 2.5 every element of a result was its first one.
#ifndef GRIDFOLD_CLIENT_PYTHON_NATIVE_ARRAY_H_
#define GRIDFOLD_CLIENT_PYTHON_NATIVE_ARRAY_H_

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gridfold/array_input.h"
#include "gridfold/grouping.h"
#include "gridfold/reduction.h"
#include "gridfold/resident_array.h"
#include "pybind11/pybind11.h"

namespace gridfold::python {

// The place of an array on the server, as the Python part of the package hands it over: its name,
// with
// - the first and the count of its elements or rows, where a count of -1 stands for all of it; or
// - the indices of a view's first element, and of each of its dimensions (axis, count, step).
client::ResidentArray ToResident(const pybind11::tuple& place);

// The source of an operation: a triple of
// - a C-contiguous NumPy array, viewed in place, or the place of an array on the server, or
// (region,
//   offset in bytes);
// - the number of an element type;
// - None, or up to client::kDimensionsMax extents; in a region always extents.
// The array must outlive the input.
client::ArrayInput ToInput(const pybind11::tuple& source);

// The array of such a triple as a view. TypeError where it is on the server.
client::ArrayView ToView(const pybind11::tuple& source);

// The elements of an array, in one dimension; nothing where it is not C-contiguous. TypeError where
// they are not of the type of this number.
std::optional<client::ArrayView> ViewOf(const pybind11::object& array, int element_type);

// The groups along these axes of a source; (-1,) is the whole array.
client::Grouping ToGrouping(const std::vector<int32_t>& axes);

// Registers what the arrays of results own. Once, before any Adopt.
void AddArrays(pybind11::module_& module);

// Memory of an array's elements, and what keeps it.
struct ResultMemory {
  std::shared_ptr<void> owner;
  void* data;
  uint64_t size_bytes;
};

// A NumPy array of `count` elements of `dtype`, which lie in `memory`.
pybind11::object MakeArray(const char* dtype, uint64_t count, ResultMemory memory);

// The dtype of a type, as NumPy names it.
template <typename Value>
constexpr const char* DtypeOf() {
  static_assert(std::is_arithmetic_v<Value> && sizeof(Value) <= 8);
  constexpr int kLog2 = std::countr_zero(sizeof(Value));
  if constexpr (std::is_floating_point_v<Value>) return std::array{"", "f2", "f4", "f8"}[kLog2];
  if constexpr (std::is_signed_v<Value>) return std::array{"i1", "i2", "i4", "i8"}[kLog2];
  return std::array{"u1", "u2", "u4", "u8"}[kLog2];
}

// A NumPy array that owns `values`, which are not copied.
template <typename Value>
pybind11::object Adopt(std::vector<Value> values) {
  const auto owner = std::make_shared<std::vector<Value>>(std::move(values));
  return MakeArray(DtypeOf<Value>(), owner->size(),
                   {owner, owner->data(), owner->size() * sizeof(Value)});
}

// A NumPy array of uint8 that owns `bytes`, which are not copied.
pybind11::object Adopt(std::string bytes);

// A NumPy array of bool; the values are copied.
pybind11::object Adopt(const std::vector<bool>& values);

pybind11::object Adopt(client::StatisticValues values);

}  // namespace gridfold::python

#endif  // GRIDFOLD_CLIENT_PYTHON_NATIVE_ARRAY_H_
