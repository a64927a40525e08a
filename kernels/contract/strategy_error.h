// A plan may name the strategy that is to run it. Which there are, and which of them can take it,
// only the engine knows, so the engine refuses it.
#ifndef GRIDFOLD_KERNELS_CONTRACT_STRATEGY_ERROR_H_
#define GRIDFOLD_KERNELS_CONTRACT_STRATEGY_ERROR_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace gridfold::kernels {

// The field of requests that names a strategy.
inline constexpr char kStrategyField[] = "execution_options.strategy";

// INVALID_ARGUMENT of kStrategyField: "reduce/x cannot take this request; what can: reduce/y,
// reduce/z".
absl::Status StrategyError(absl::string_view strategy, const std::vector<std::string>& takers);

// That error, unless nothing is named or the name is the only strategy there is for the plan.
absl::Status CheckOnlyStrategy(absl::string_view named, absl::string_view only);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_STRATEGY_ERROR_H_
