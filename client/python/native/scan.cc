// Connection.scan.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "client/python/native/array.h"
#include "client/python/native/connection.h"
#include "client/python/native/execution.h"
#include "client/python/native/loop_connection.h"
#include "pybind11/stl.h"

namespace gridfold::python {

namespace py = pybind11;

namespace {

// The results' bytes, the number of their element type, and how the job ran.
template <typename Engine>
py::object Scan(const Engine& engine, const py::tuple& source, int operation,
                const std::vector<int32_t>& axes, bool exclusive, bool reverse,
                std::optional<int> output_type, bool ignore_nan, bool wrap, bool exact,
                uint64_t window, uint64_t min_count) {
  client::ScanOptions options{
      .operation = static_cast<client::ScanOperation>(operation),
      .mode = exclusive ? client::ScanMode::kExclusive : client::ScanMode::kInclusive,
      .direction = reverse ? client::ScanDirection::kReverse : client::ScanDirection::kForward,
      .grouping = ToGrouping(axes),
      .nan_policy = ignore_nan ? client::NanPolicy::kIgnore : client::NanPolicy::kPropagate,
      .overflow_policy = wrap ? client::OverflowPolicy::kWrap : client::OverflowPolicy::kError,
      .exact = exact,
      .min_count = min_count};
  if (window != 0) options.window = window;
  if (output_type) options.output_type = static_cast<client::ElementType>(*output_type);
  const client::ArrayInput input = ToInput(source);
  const auto to_python = [](client::ScanResult result) {
    return py::make_tuple(Adopt(std::move(result.data)), static_cast<int>(result.element_type),
                          Execution(result.execution));
  };
  return engine.Ask(&client::Client::ScanArray, &client::Client::StartScanArray, to_python, input,
                    options);
}

}  // namespace

template <typename Engine>
void AddScans(py::class_<Engine>& engine) {
  engine.def("scan", &Scan<Engine>, py::arg("source"), py::arg("operation"), py::arg("axis"),
             py::arg("exclusive"), py::arg("reverse"), py::arg("output_type"),
             py::arg("ignore_nan"), py::arg("wrap"), py::arg("exact"), py::arg("window") = 0,
             py::arg("min_count") = 0);
}
template void AddScans(py::class_<Connection>& engine);
template void AddScans(py::class_<LoopConnection>& engine);

}  // namespace gridfold::python
