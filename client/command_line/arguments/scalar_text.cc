#include "client/command_line/arguments/scalar_text.h"

#include <cstdint>

#include "client/command_line/input/number_parsing.h"

namespace gridfold::client {

std::optional<Scalar> ParseScalar(absl::string_view text) {
  if (text == "true" || text == "false") return Scalar(text == "true");
  if (const auto integer = ParseStrictly<int64_t>(text)) return Scalar(*integer);
  if (const auto integer = ParseStrictly<uint64_t>(text)) return Scalar(*integer);
  if (const auto real = ParseNumber<double>(text)) return Scalar(*real);
  return std::nullopt;
}

std::optional<EmptyGroup> ParseEmptyGroup(absl::string_view text) {
  if (text == "error") return EmptyGroup{};
  if (text == "nan") return EmptyGroup{.policy = EmptyGroupPolicy::kNan};
  if (text == "null") return EmptyGroup{.policy = EmptyGroupPolicy::kNull};
  const std::optional<Scalar> value = ParseScalar(text);
  if (!value) return std::nullopt;
  return EmptyGroup{EmptyGroupPolicy::kValue, *value};
}

}  // namespace gridfold::client
