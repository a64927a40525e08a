// Connection.histogram.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/python/native/array.h"
#include "client/python/native/bins.h"
#include "client/python/native/connection.h"
#include "client/python/native/execution.h"
#include "client/python/native/loop_connection.h"
#include "pybind11/stl.h"

namespace gridfold::python {

namespace py = pybind11;

FirstInteger ToFirstInteger(const py::object& number) {
  if (number < py::int_(0)) return {.value = number.cast<int64_t>()};
  const auto first = number.cast<uint64_t>();
  if (first >> 63 != 0) return {.unsigned_value = first};
  return {.value = static_cast<int64_t>(first)};
}

client::BinSpecification ToBins(const py::tuple& bins) {
  const auto kind = bins[0].cast<std::string>();
  if (kind == "even") {
    return client::EvenBins{bins[1].cast<uint64_t>(), bins[2].cast<std::optional<double>>(),
                            bins[3].cast<std::optional<double>>()};
  }
  if (kind == "rule") {
    return client::EvenBins{.lower_bound = bins[2].cast<std::optional<double>>(),
                            .upper_bound = bins[3].cast<std::optional<double>>(),
                            .rule = client::BinRuleOf(bins[1].cast<std::string>())};
  }
  if (kind == "edges") return client::EdgeBins{bins[1].cast<std::vector<double>>()};
  if (kind == "integer") {
    const FirstInteger first = ToFirstInteger(bins[1]);
    return client::IntegerBins{first.value, bins[2].cast<uint64_t>(), first.unsigned_value};
  }
  if (kind == "logarithmic") {
    return client::LogarithmicBins{bins[1].cast<uint64_t>(), bins[2].cast<double>(),
                                   bins[3].cast<double>()};
  }
  throw py::value_error("no kind of bins: " + kind);
}

namespace {

// (counts or weight sums, underflow, overflow, NaN, quantile values).
py::tuple ToPython(client::HistogramCounts channel, bool is_weighted) {
  return py::make_tuple(
      is_weighted ? Adopt(std::move(channel.weight_sums)) : Adopt(std::move(channel.counts)),
      channel.underflow_count, channel.overflow_count, channel.nan_count,
      Adopt(std::move(channel.quantile_values)));
}

py::tuple ToPython(client::HistogramResult result, bool is_weighted) {
  py::list channels;
  for (client::HistogramCounts& channel : result.channels) {
    channels.append(ToPython(std::move(channel), is_weighted));
  }
  py::list edges;
  for (client::ResolvedBins& resolved : result.bins) {
    edges.append(Adopt(std::move(resolved.edges)));
  }
  return py::make_tuple(channels, edges, Execution(result.execution));
}

template <typename Engine>
py::object Histogram(const Engine& engine, const py::tuple& source,
                     const std::vector<py::tuple>& bins, const std::optional<py::tuple>& y_source,
                     const std::optional<py::tuple>& weights, bool clamp,
                     std::vector<double> quantiles) {
  client::HistogramOptions options{.out_of_range_policy = clamp ? client::OutOfRangePolicy::kClamp
                                                                : client::OutOfRangePolicy::kDrop,
                                   .quantiles = std::move(quantiles)};
  for (const py::tuple& specification : bins) options.bins.push_back(ToBins(specification));
  if (y_source) options.y_array = ToInput(*y_source);
  if (weights) options.weights = ToInput(*weights);
  const client::ArrayInput input = ToInput(source);
  const auto to_python = [is_weighted = weights.has_value()](client::HistogramResult result) {
    return ToPython(std::move(result), is_weighted);
  };
  return engine.Ask(&client::Client::ComputeHistogram, &client::Client::StartComputeHistogram,
                    to_python, input, options);
}

}  // namespace

template <typename Engine>
void AddHistograms(py::class_<Engine>& engine) {
  engine.def("histogram", &Histogram<Engine>, py::arg("source"), py::arg("bins"),
             py::arg("y_source"), py::arg("weights"), py::arg("clamp"), py::arg("quantiles"));
}
template void AddHistograms(py::class_<Connection>& engine);
template void AddHistograms(py::class_<LoopConnection>& engine);

}  // namespace gridfold::python
