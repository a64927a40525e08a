// The flags that lay out a histogram's bins.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_BIN_ARGUMENTS_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_BIN_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "absl/status/statusor.h"
#include "gridfold/histogram.h"

namespace gridfold::client {

// The flags' values, as they were given.
struct BinArguments {
  std::optional<uint64_t> bin_count = std::nullopt;
  std::optional<BinRule> rule = std::nullopt;  // In place of a number of bins.
  std::string range = {};                      // "LO,HI".
  std::string edges = {};                      // "A,B,C".
  bool logarithmic = false;
  std::string first_value = {};           // Of integer bins; an int64 or a uint64.
  std::vector<std::string> layouts = {};  // "even:10", one for each channel or axis.
};

// Adds the flags to `command`, to be written to `arguments`, which must outlive it. `takes_rules`:
// --bins may be the name of a rule.
void AddBinArguments(CLI::App& command, BinArguments& arguments, bool takes_rules);

// The bins that the flags describe; ten even bins over the range of the data where there are none.
// INVALID_ARGUMENT names the flags that do not go together, or the one that makes no sense.
absl::StatusOr<std::vector<BinSpecification>> ToBins(const BinArguments& arguments);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_BIN_ARGUMENTS_H_
