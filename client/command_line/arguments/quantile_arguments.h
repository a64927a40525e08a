// Options that say which quantiles are asked for.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_QUANTILE_ARGUMENTS_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_QUANTILE_ARGUMENTS_H_

#include <optional>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "absl/status/statusor.h"
#include "gridfold/quantiles.h"

namespace gridfold::client {

// `--quantile` and `--method`.
class QuantileArguments {
 public:
  // `*this` must outlive the parsing. `description` is what help says of --quantile.
  void AddTo(CLI::App& command, const std::string& description, const std::string& group);

  bool are_given() const { return !quantiles_.empty(); }
  // By default that of most questions.
  QuantileMethod method(QuantileMethod otherwise = QuantileMethod::kLinear) const {
    return method_.value_or(otherwise);
  }

  // None where there are none. INVALID_ARGUMENT, which ends the program with kUsage, for a text
  // that is no list of numbers.
  absl::StatusOr<std::vector<double>> ToQuantiles() const;

 private:
  std::string quantiles_;
  std::optional<QuantileMethod> method_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_QUANTILE_ARGUMENTS_H_
