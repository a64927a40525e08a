#include "client/command_line/arguments/bin_arguments.h"

#include <limits>
#include <utility>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/command_line/arguments/number_list.h"
#include "client/command_line/arguments/number_option.h"

namespace gridfold::client {
namespace {

constexpr uint64_t kBinCountDefault = 10;

struct Range {
  double lower;
  double upper;
};

absl::StatusOr<Range> ParseRange(const std::string& text) {
  const absl::StatusOr<std::vector<double>> bounds = ParseNumberList<double>("--range", text);
  if (!bounds.ok()) return bounds.status();
  if (bounds->size() != 2) {
    return absl::InvalidArgumentError("--range: two numbers are needed, LO,HI");
  }
  return Range{(*bounds)[0], (*bounds)[1]};
}

// Bins from the integer `first` on, which is an int64 or a uint64; nothing where it is neither.
std::optional<IntegerBins> ParseIntegerBins(absl::string_view first, uint64_t bin_count) {
  if (const std::optional<int64_t> value = ParseNumber<int64_t>(first)) {
    return IntegerBins{.first_value = *value, .bin_count = bin_count};
  }
  if (const std::optional<uint64_t> value = ParseNumber<uint64_t>(first)) {
    return IntegerBins{.bin_count = bin_count, .first_unsigned_value = *value};
  }
  return std::nullopt;
}

absl::Status LayoutError(const std::string& layout) {
  return absl::InvalidArgumentError(
      absl::StrCat("--layout: '", layout,
                   "' is none of even:COUNT, even:COUNT:LO:HI, edges:A:B:..., log:COUNT:LO:HI, "
                   "integer:FIRST:COUNT"));
}

absl::StatusOr<BinSpecification> ParseLayout(const std::string& layout) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(layout, absl::MaxSplits(':', 1));
  if (parts.first == "integer") {
    const std::pair<std::string, std::string> ends =
        absl::StrSplit(parts.second, absl::MaxSplits(':', 1));
    const std::optional<uint64_t> bin_count = ParseNumber<uint64_t>(ends.second);
    const std::optional<IntegerBins> bins = ParseIntegerBins(ends.first, bin_count.value_or(0));
    if (!bin_count || !bins) return LayoutError(layout);
    return *bins;
  }
  const auto numbers = ParseNumberList<double>("--layout", parts.second, ':');
  if (!numbers.ok()) return LayoutError(layout);
  const std::vector<double>& values = *numbers;
  if (parts.first == "edges") return EdgeBins{values};
  const std::string count_text = std::string(parts.second.substr(0, parts.second.find(':')));
  const std::optional<uint64_t> count = ParseNumber<uint64_t>(count_text);
  if (!count) return LayoutError(layout);
  if (parts.first == "even" && values.size() == 1) return EvenBins{*count};
  if (values.size() != 3) return LayoutError(layout);
  if (parts.first == "even") return EvenBins{*count, values[1], values[2]};
  if (parts.first == "log") return LogarithmicBins{*count, values[1], values[2]};
  return LayoutError(layout);
}

// How many of the flags that exclude one another were given.
int KindCount(const BinArguments& arguments) {
  return (arguments.edges.empty() ? 0 : 1) + (arguments.logarithmic ? 1 : 0) +
         (arguments.first_value.empty() ? 0 : 1) + (arguments.layouts.empty() ? 0 : 1);
}

absl::StatusOr<BinSpecification> ToRangeBins(const BinArguments& arguments) {
  if (arguments.rule && arguments.logarithmic) {
    return absl::InvalidArgumentError("--bins: --log needs a number, no rule says how many");
  }
  const uint64_t bin_count = arguments.rule ? 0 : arguments.bin_count.value_or(kBinCountDefault);
  if (arguments.range.empty()) {
    if (arguments.logarithmic) return absl::InvalidArgumentError("--log needs --range");
    return EvenBins{.bin_count = bin_count, .rule = arguments.rule};
  }
  const absl::StatusOr<Range> range = ParseRange(arguments.range);
  if (!range.ok()) return range.status();
  if (arguments.logarithmic) return LogarithmicBins{bin_count, range->lower, range->upper};
  return EvenBins{bin_count, range->lower, range->upper, arguments.rule};
}

// A number of bins, or where the command takes rules the name of the one that says how many.
void ParseBins(const std::string& text, bool takes_rules, BinArguments& arguments) {
  arguments.bin_count.reset();
  arguments.rule = takes_rules ? BinRuleOf(text) : std::nullopt;
  if (arguments.rule) return;
  arguments.bin_count = ParseStrictly<uint64_t>(text);
  if (arguments.bin_count.value_or(0) > 0) return;
  throw CLI::ValidationError(
      "--bins",
      absl::StrCat("'", text, "' is not a whole number from 1 to ",
                   std::numeric_limits<uint64_t>::max(),
                   takes_rules ? ", nor one of auto, fd, scott, rice, sturges and sqrt" : ""));
}

absl::StatusOr<BinSpecification> ToOneLayout(const BinArguments& arguments) {
  if (!arguments.edges.empty()) {
    if (arguments.bin_count || arguments.rule || !arguments.range.empty()) {
      return absl::InvalidArgumentError("--edges goes without --bins and --range");
    }
    absl::StatusOr<std::vector<double>> edges = ParseNumberList<double>("--edges", arguments.edges);
    if (!edges.ok()) return edges.status();
    return EdgeBins{*std::move(edges)};
  }
  if (!arguments.first_value.empty()) {
    if (!arguments.bin_count || !arguments.range.empty()) {
      return absl::InvalidArgumentError("--integer needs --bins and goes without --range");
    }
    const std::optional<IntegerBins> bins =
        ParseIntegerBins(arguments.first_value, *arguments.bin_count);
    if (!bins) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--integer: '", arguments.first_value, "' is not a whole number from ",
          std::numeric_limits<int64_t>::min(), " to ", std::numeric_limits<uint64_t>::max()));
    }
    return *bins;
  }
  return ToRangeBins(arguments);
}

}  // namespace

void AddBinArguments(CLI::App& command, BinArguments& arguments, bool takes_rules) {
  const char* const group = "Bins";
  command
      .add_option_function<std::string>(
          "--bins",
          [&arguments, takes_rules](const std::string& text) {
            ParseBins(text, takes_rules, arguments);
          },
          takes_rules ? "Number of bins, or NumPy's rule for it: auto, fd, scott, rice, sturges or "
                        "sqrt; default 10"
                      : "Number of bins; default 10, where another option asks for bins")
      ->type_name(takes_rules ? "N|RULE" : "N")
      ->group(group);
  command.add_option("--range", arguments.range, "From where to where; default: the data's range")
      ->type_name("LO,HI")
      ->group(group);
  command.add_flag("--log", arguments.logarithmic, "Bins of equal ratio instead of equal width")
      ->group(group);
  command
      .add_option("--edges", arguments.edges, "Bins between these edges; -inf and inf may end them")
      ->type_name("A,B,...")
      ->group(group);
  command.add_option("--integer", arguments.first_value, "One bin for each integer from FIRST on")
      ->type_name("FIRST")
      ->group(group);
  command
      .add_option("--layout", arguments.layouts,
                  "Bins of one channel or axis, once for each: even:COUNT[:LO:HI], edges:A:B:..., "
                  "log:COUNT:LO:HI or integer:FIRST:COUNT")
      ->type_name("LAYOUT")
      ->allow_extra_args(false)
      ->group(group);
}

absl::StatusOr<std::vector<BinSpecification>> ToBins(const BinArguments& arguments) {
  if (KindCount(arguments) > 1) {
    return absl::InvalidArgumentError("--edges, --log, --integer and --layout do not go together");
  }
  std::vector<BinSpecification> bins;
  if (arguments.layouts.empty()) {
    absl::StatusOr<BinSpecification> layout = ToOneLayout(arguments);
    if (!layout.ok()) return layout.status();
    bins.push_back(*std::move(layout));
    return bins;
  }
  if (arguments.bin_count || arguments.rule || !arguments.range.empty()) {
    return absl::InvalidArgumentError("--layout goes without --bins and --range");
  }
  for (const std::string& text : arguments.layouts) {
    absl::StatusOr<BinSpecification> layout = ParseLayout(text);
    if (!layout.ok()) return layout.status();
    bins.push_back(*std::move(layout));
  }
  return bins;
}

}  // namespace gridfold::client
