// Arrays of NumPy as arrays of the client library, and back.
#ifndef GRIDFOLD_CLIENT_PYTHON_NATIVE_ARRAY_H_
#define GRIDFOLD_CLIENT_PYTHON_NATIVE_ARRAY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gridfold/array_input.h"
#include "gridfold/grouping.h"
#include "gridfold/reduction.h"
#include "pybind11/numpy.h"
#include "pybind11/pybind11.h"

namespace gridfold::python {

// The source of an operation, as the Python part of the package hands it over: a triple of
// - a C-contiguous NumPy array, viewed in place, or (name, first, count) of an array on the server,
//   where a count of -1 stands for the whole array, or (region, offset in bytes);
// - the number of an element type;
// - None, or up to client::kDimensionsMax extents; in a region always extents.
// The array must outlive the input.
client::ArrayInput ToInput(const pybind11::tuple& source);

// The array of such a triple as a view. TypeError where it is on the server.
client::ArrayView ToView(const pybind11::tuple& source);

// The elements of a C-contiguous array, in one dimension. TypeError where they are not of the type
// of this number.
client::ArrayView ViewOf(const pybind11::array& array, int element_type);

// The groups along these axes of a source; (-1,) is the whole array.
client::Grouping ToGrouping(const std::vector<int32_t>& axes);

// A NumPy array that owns `values`, which are not copied.
template <typename Value>
pybind11::array Adopt(std::vector<Value> values) {
  auto owner = std::make_unique<std::vector<Value>>(std::move(values));
  std::vector<Value>* const vector = owner.get();
  const pybind11::capsule base(owner.release(),
                               [](void* owned) { delete static_cast<std::vector<Value>*>(owned); });
  return pybind11::array_t<Value>(vector->size(), vector->data(), base);
}

// A NumPy array of uint8 that owns `bytes`, which are not copied.
pybind11::array Adopt(std::string bytes);

// A NumPy array of bool; the values are copied.
pybind11::array Adopt(std::vector<bool> values);

pybind11::array Adopt(client::StatisticValues values);

}  // namespace gridfold::python

#endif  // GRIDFOLD_CLIENT_PYTHON_NATIVE_ARRAY_H_
