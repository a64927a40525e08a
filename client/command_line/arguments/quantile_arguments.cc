#include "client/command_line/arguments/quantile_arguments.h"

#include "client/command_line/arguments/choice.h"
#include "client/command_line/arguments/number_list.h"
#include "client/command_line/exit_code.h"

namespace gridfold::client {
namespace {

Choices<std::optional<QuantileMethod>> MethodChoices() {
  Choices<std::optional<QuantileMethod>> choices;
  for (const QuantileMethod method : UnweightedQuantileMethods()) {
    choices.emplace_back(QuantileMethodName(method), method);
  }
  return choices;
}

}  // namespace

void QuantileArguments::AddTo(CLI::App& command, const std::string& description,
                              const std::string& group) {
  command.add_option("-q,--quantile", quantiles_, description)->type_name("Q,...")->group(group);
  AddChoice<std::optional<QuantileMethod>>(
      command, "--method", method_, MethodChoices(),
      "What a quantile between two elements is, as in NumPy; mean is that of NumPy's median")
      ->default_str("linear")
      ->group(group);
}

absl::StatusOr<std::vector<double>> QuantileArguments::ToQuantiles() const {
  if (quantiles_.empty()) return std::vector<double>();
  absl::StatusOr<std::vector<double>> quantiles = ParseNumberList<double>("--quantile", quantiles_);
  if (!quantiles.ok()) return WithExitCode(quantiles.status(), ExitCode::kUsage);
  return quantiles;
}

}  // namespace gridfold::client
