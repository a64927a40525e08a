// Bins as the Python part of the package hands them over.
#ifndef GRIDFOLD_CLIENT_PYTHON_NATIVE_BINS_H_
#define GRIDFOLD_CLIENT_PYTHON_NATIVE_BINS_H_

#include "gridfold/histogram.h"
#include "pybind11/pybind11.h"

namespace gridfold::python {

// The bins of ("even", count, lower or None, upper or None), ("edges", list),
// ("integer", first, count) or ("logarithmic", count, lower, upper).
client::BinSpecification ToBins(const pybind11::tuple& bins);

}  // namespace gridfold::python

#endif  // GRIDFOLD_CLIENT_PYTHON_NATIVE_BINS_H_
