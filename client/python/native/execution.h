// What a server did for one answer, for Python.
#ifndef GRIDFOLD_CLIENT_PYTHON_NATIVE_EXECUTION_H_
#define GRIDFOLD_CLIENT_PYTHON_NATIVE_EXECUTION_H_

#include "gridfold/execution_statistics.h"
#include "pybind11/pybind11.h"

namespace gridfold::python {

using Execution = client::ExecutionStatistics;

// Defines the class Execution.
void AddExecution(pybind11::module_& module);

}  // namespace gridfold::python

#endif  // GRIDFOLD_CLIENT_PYTHON_NATIVE_EXECUTION_H_
