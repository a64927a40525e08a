#include "kernels/contract/strategy_error.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::kernels {

absl::Status StrategyError(absl::string_view strategy, const std::vector<std::string>& takers) {
  return InvalidField(
      kStrategyField,
      absl::StrCat(strategy, " cannot take this request; what can: ", absl::StrJoin(takers, ", ")));
}

absl::Status CheckOnlyStrategy(absl::string_view named, absl::string_view only) {
  if (named.empty() || named == only) return absl::OkStatus();
  return StrategyError(named, {std::string(only)});
}

}  // namespace gridfold::kernels
