// Bins as the Python part of the package hands them over.
#ifndef GRIDFOLD_CLIENT_PYTHON_NATIVE_BINS_H_
#define GRIDFOLD_CLIENT_PYTHON_NATIVE_BINS_H_

#include <cstdint>

#include "gridfold/histogram.h"
#include "pybind11/pybind11.h"

namespace gridfold::python {

// The first of consecutive integers, bins or keys: an int64, or where it is 2^63 or more an uint64,
// and 0 the other one.
struct FirstInteger {
  int64_t value = 0;
  uint64_t unsigned_value = 0;
};
FirstInteger ToFirstInteger(const pybind11::object& number);

// The bins of ("even", count, lower or None, upper or None), ("edges", list),
// ("integer", first, count) or ("logarithmic", count, lower, upper).
client::BinSpecification ToBins(const pybind11::tuple& bins);

}  // namespace gridfold::python

#endif  // GRIDFOLD_CLIENT_PYTHON_NATIVE_BINS_H_
