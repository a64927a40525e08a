// Connection.reduce_by_key.
#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "client/python/native/array.h"
#include "client/python/native/bins.h"
#include "client/python/native/connection.h"
#include "client/python/native/execution.h"
#include "client/python/native/loop_connection.h"
#include "pybind11/stl.h"

namespace gridfold::python {

namespace py = pybind11;

namespace {

// ("found", most keys), ("range", first, count) or ("bins", bins, clamp), with the coordinates of
// the bins' further dimensions.
void SetGroups(const py::tuple& groups, const std::vector<py::tuple>& further_keys,
               client::KeyedReductionOptions& options) {
  const auto kind = groups[0].cast<std::string>();
  if (kind == "found") {
    options.groups = client::FoundKeys{groups[1].cast<uint64_t>()};
  } else if (kind == "range") {
    const FirstInteger first = ToFirstInteger(groups[1]);
    options.groups = client::KeyRange{.first_key = first.value,
                                      .key_count = groups[2].cast<uint64_t>(),
                                      .first_unsigned_key = first.unsigned_value};
  } else {
    client::KeyBins bins{.out_of_range_policy = groups[2].cast<bool>()
                                                    ? client::OutOfRangePolicy::kClamp
                                                    : client::OutOfRangePolicy::kDrop};
    for (const py::handle one : groups[1]) bins.bins.push_back(ToBins(one.cast<py::tuple>()));
    for (size_t i = 0; i < further_keys.size(); ++i) {
      if (i == 0) {
        bins.y_keys = ToInput(further_keys[i]);
      } else {
        bins.further_keys.push_back(ToInput(further_keys[i]));
      }
    }
    options.groups = std::move(bins);
  }
}

py::tuple ToPython(client::KeyedReductionResult result, bool is_found) {
  py::list columns;
  for (auto& entry : result.entries) columns.append(Adopt(std::move(entry.values)));
  for (auto& of_quantile : result.quantile_values) columns.append(Adopt(std::move(of_quantile)));
  py::list edges;
  for (client::ResolvedBins& bins : result.bins) edges.append(Adopt(std::move(bins.edges)));
  return py::make_tuple(
      is_found ? py::object(Adopt(std::move(result.keys))) : py::object(py::none()),
      Adopt(std::move(result.counts)), py::tuple(columns), edges,
      py::make_tuple(result.underflow_count, result.overflow_count, result.nan_count),
      Execution(result.execution));
}

// (keys or None, counts, values of each statistic and then of each quantile, edges of bins,
// (underflow, overflow, NaN), execution).
template <typename Engine>
py::object ReduceByKey(const Engine& engine, const py::tuple& keys, const py::tuple& values,
                       const py::tuple& groups, const std::vector<py::tuple>& further_keys,
                       const std::vector<int>& statistics, bool ignore_nan, bool wrap,
                       uint32_t delta_degrees_of_freedom, const std::vector<double>& quantiles,
                       int method) {
  client::KeyedReductionOptions options{
      .nan_policy = ignore_nan ? client::NanPolicy::kIgnore : client::NanPolicy::kPropagate,
      .overflow_policy = wrap ? client::OverflowPolicy::kWrap : client::OverflowPolicy::kError,
      .delta_degrees_of_freedom = delta_degrees_of_freedom,
      .quantiles = quantiles,
      .quantile_method = static_cast<client::QuantileMethod>(method)};
  SetGroups(groups, further_keys, options);
  for (const int statistic : statistics) {
    options.statistics.push_back(static_cast<client::Statistic>(statistic));
  }
  const client::ArrayInput key_input = ToInput(keys);
  const client::ArrayInput value_input = ToInput(values);
  const bool is_found = std::holds_alternative<client::FoundKeys>(options.groups);
  const auto to_python = [is_found](client::KeyedReductionResult result) {
    return ToPython(std::move(result), is_found);
  };
  return engine.Ask(&client::Client::ReduceByKey, &client::Client::StartReduceByKey, to_python,
                    key_input, value_input, options);
}

}  // namespace

template <typename Engine>
void AddKeyedReductions(py::class_<Engine>& engine) {
  engine.def("reduce_by_key", &ReduceByKey<Engine>, py::arg("keys"), py::arg("values"),
             py::arg("groups"), py::arg("further_keys"), py::arg("statistics"),
             py::arg("ignore_nan"), py::arg("wrap"), py::arg("ddof"),
             py::arg("quantiles") = std::vector<double>{}, py::arg("method") = 1);
}
template void AddKeyedReductions(py::class_<Connection>& engine);
template void AddKeyedReductions(py::class_<LoopConnection>& engine);

}  // namespace gridfold::python
