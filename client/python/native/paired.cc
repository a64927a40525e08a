// Connection.relate.
#include <optional>
#include <utility>
#include <vector>

#include "client/python/native/array.h"
#include "client/python/native/connection.h"
#include "client/python/native/execution.h"
#include "pybind11/stl.h"

namespace gridfold::python {

namespace py = pybind11;

namespace {

// The values of each statistic, and how the job ran.
py::tuple Relate(const Connection& connection, const py::tuple& source,
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
  auto result = connection.Run([&](client::Client& client, const client::CallOptions& call) {
    return client.RelateArrays(input, options, call);
  });
  py::list values;
  for (auto& entry : result->entries) values.append(Adopt(std::move(entry.values)));
  return py::make_tuple(std::move(values), Execution(result->execution));
}

}  // namespace

void AddPairedStatistics(ConnectionClass& connection) {
  connection.def("relate", &Relate, py::arg("source"), py::arg("y_source"), py::arg("weights"),
                 py::arg("statistics"), py::arg("ddof"), py::arg("is_reliability"),
                 py::arg("ignore_nan"), py::arg("wrap"));
}

}  // namespace gridfold::python
