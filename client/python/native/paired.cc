// Connection.relate.
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

// The values of each statistic, and how the job ran.
template <typename Engine>
py::object Relate(const Engine& engine, const py::tuple& source,
                  const std::optional<py::tuple>& y_source, const std::optional<py::tuple>& weights,
                  const std::vector<int>& statistics, uint32_t delta_degrees_of_freedom,
                  bool is_reliability, bool ignore_nan, bool wrap) {
  client::RelateOptions options{
      .delta_degrees_of_freedom = delta_degrees_of_freedom,
      .weight_kind =
          is_reliability ? client::WeightKind::kReliability : client::WeightKind::kFrequency,
      .nan_policy = ignore_nan ? client::NanPolicy::kIgnore : client::NanPolicy::kPropagate,
      .overflow_policy = wrap ? client::OverflowPolicy::kWrap : client::OverflowPolicy::kError};
  if (y_source) options.y = ToInput(*y_source);
  if (weights) options.weights = ToInput(*weights);
  for (const int statistic : statistics) {
    options.statistics.push_back(static_cast<client::PairedStatistic>(statistic));
  }
  const client::ArrayInput input = ToInput(source);
  const auto to_python = [](client::RelateResult result) {
    py::list values;
    for (auto& entry : result.entries) values.append(Adopt(std::move(entry.values)));
    return py::make_tuple(std::move(values), Execution(result.execution));
  };
  return engine.Ask(&client::Client::RelateArrays, &client::Client::StartRelateArrays, to_python,
                    input, options);
}

}  // namespace

template <typename Engine>
void AddPairedStatistics(py::class_<Engine>& engine) {
  engine.def("relate", &Relate<Engine>, py::arg("source"), py::arg("y_source"), py::arg("weights"),
             py::arg("statistics"), py::arg("ddof"), py::arg("is_reliability"),
             py::arg("ignore_nan"), py::arg("wrap"));
}
template void AddPairedStatistics(py::class_<Connection>& engine);
template void AddPairedStatistics(py::class_<LoopConnection>& engine);

}  // namespace gridfold::python
