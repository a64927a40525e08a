#include "client/command_line/arguments/field_option.h"

#include <initializer_list>
#include <optional>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gridfold/error_details.h"

namespace gridfold::client {
namespace {

struct FieldOptions {
  absl::string_view field;  // And every field inside it.
  std::initializer_list<const char*> options;
};

// The first that fits counts, so what is inside another one stands before it.
const FieldOptions kFieldOptions[] = {
    // Layouts of bins.
    {"bins.even.bin_count", {"--layout", "--bins"}},
    {"bins.even", {"--layout", "--range", "--bins"}},
    {"bins.logarithmic.bin_count", {"--layout", "--bins"}},
    {"bins.logarithmic", {"--layout", "--range", "--log"}},
    {"bins.edges", {"--layout", "--edges"}},
    {"bins.integer.bin_count", {"--layout", "--bins"}},
    {"bins.integer", {"--layout", "--integer"}},
    {"bins", {"--layout", "--edges", "--integer", "--bins", "--range"}},
    {"channel_count", {"--channels"}},
    {"quantiles", {"--quantiles", "--quantile"}},
    {"y_array.resident_array", {"--y-array"}},
    {"y_array", {"--y", "--y-column", "--y-array"}},
    {"weights.resident_array", {"--weights-array"}},
    {"weights", {"--weights", "--weights-column", "--weights-array"}},
    // Reductions and scans.
    {"statistics", {"--stat"}},
    {"delta_degrees_of_freedom", {"--ddof"}},
    {"fractional_degrees_of_freedom", {"--ddof"}},
    {"empty_group", {"--empty"}},
    {"where.resident_array", {"--where-array"}},
    {"where", {"--where", "--where-array"}},
    {"initial", {"--initial"}},
    {"first_index", {"--first-index"}},
    {"grouping.axis", {"--axis"}},
    {"grouping.axes", {"--axis"}},
    {"keep_dimensions", {"--keep-dimensions"}},
    {"execution_options.strategy", {"--strategy"}},
    {"grouping.segments", {"--segments"}},
    {"grouping", {"--axis", "--segments"}},
    {"nan_policy", {"--ignore-nan"}},
    {"overflow_policy", {"--wrap"}},
    {"operation", {"--op"}},
    {"direction", {"--reverse"}},
    {"mode", {"--exclusive"}},
    {"exact", {"--exact"}},
    {"window", {"--window"}},
    {"min_count", {"--min-count"}},
    {"output_type", {"--output-type"}},
    {"destination.in_place", {"--in-place"}},
    {"destination", {"--to-array", "--in-place", "--output"}},
    // Order statistics.
    {"ranks", {"--rank"}},
    {"method", {"--method"}},
    {"quantile_method", {"--method"}},
    {"count", {"--count"}},
    // Arrays.
    {"array.inline_array.shape", {"--shape", "FILE"}},
    {"array.streamed_array.column_count", {"--shape", "FILE"}},
    {"array.streamed_array.row_shape", {"--shape", "FILE"}},
    {"array.inline_array", {"FILE"}},
    {"array.streamed_array", {"FILE"}},
    {"array.region_slice", {"--shared"}},
    {"array.resident_array", {"--array"}},
    {"array.name", {"NAME"}},
    {"array.slice", {"NAME"}},
    {"array.view", {"NAME"}},
    {"array", {"--array", "FILE"}},
    {"accumulators", {"FILE"}},
    {"minuend", {"FILE"}},
    {"subtrahends", {"--subtract"}},
    {"name", {"NAME", "--array"}},
    {"shape", {"--shape", "FILE"}},
    {"element_type", {"--type"}},
    {"idle_expiry", {"--expire"}},
    {"device", {"--device"}},
    {"placement", {"--sharded"}},
    {"first_element", {"--first"}},
    // Of every call, and of the client.
    {"gridfold-tenant", {"--tenant"}},
    {"gridfold-priority", {"--priority"}},
    {"authorization", {"--token-file"}},
    {"tenant", {"--tenant"}},
    {"target", {"--server"}},
    {"token", {"--token-file"}},
    {"tls.ca_file", {"--tls-ca"}},
    {"tls.certificate_file", {"--tls-certificate"}},
    {"tls.key_file", {"--tls-key"}},
    {"tls.server_name", {"--tls-server-name"}},
};

// "bins[2].even" is "bins.even", and 2 is the first index.
struct Path {
  std::string fields;
  std::optional<size_t> index;
};

Path Normalize(absl::string_view field) {
  for (const absl::string_view outer : {"request.", "header."}) absl::ConsumePrefix(&field, outer);
  Path path;
  while (!field.empty()) {
    const size_t bracket = field.find('[');
    absl::StrAppend(&path.fields, field.substr(0, bracket));
    if (bracket == absl::string_view::npos) break;
    field.remove_prefix(bracket + 1);
    const size_t end = field.find(']');
    size_t index = 0;
    if (!path.index && absl::SimpleAtoi(field.substr(0, end), &index)) path.index = index;
    field.remove_prefix(end == absl::string_view::npos ? field.size() : end + 1);
  }
  return path;
}

bool IsInside(absl::string_view field, absl::string_view outer) {
  return absl::ConsumePrefix(&field, outer) && (field.empty() || field[0] == '.');
}

// Of the command or those above it.
const CLI::Option* FindOption(const CLI::App& command, const std::string& name) {
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
    if (const CLI::Option* const option = app->get_option_no_throw(name)) return option;
  }
  return nullptr;
}

std::string Name(const CLI::Option& option, const char* name, std::optional<size_t> index) {
  const auto values = option.results();
  const bool is_one_of_several = index && values.size() > 1 && *index < values.size();
  const bool is_positional = name[0] != '-';
  if (is_positional && (is_one_of_several || values.size() == 1)) {
    return values[is_one_of_several ? *index : 0];
  }
  return is_one_of_several ? absl::StrCat(name, " ", values[*index]) : name;
}

}  // namespace

std::string OptionOfField(const CLI::App& command, const std::string& field) {
  const Path path = Normalize(field);
  for (const FieldOptions& one : kFieldOptions) {
    if (!IsInside(path.fields, one.field)) continue;
    std::string first;
    for (const char* const name : one.options) {
      const CLI::Option* const option = FindOption(command, name);
      if (option == nullptr) continue;
      if (option->count() > 0) return Name(*option, name, path.index);
      if (first.empty()) first = name;
    }
    return first;
  }
  return "";
}

std::string MessageWithOption(const CLI::App& command, const absl::Status& status) {
  const std::string message(status.message());
  // Errors of the client begin with the name of an option of its own.
  const size_t colon = message.find(": ");
  const std::string field = ViolatedField(status).value_or(
      absl::IsInvalidArgument(status) && colon != std::string::npos ? message.substr(0, colon)
                                                                    : "");
  absl::string_view rest = message;
  if (field.empty() || !absl::ConsumePrefix(&rest, field)) return message;
  const std::string option = OptionOfField(command, field);
  return option.empty() ? message : absl::StrCat(option, rest);
}

}  // namespace gridfold::client
