#include "client/load/work/scenario_file.h"

#include <cstdint>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/command_line/report/relation_report.h"
#include "client/load/work/named_value.h"
#include "client/load/work/yaml.h"
#include "nlohmann/json.hpp"

namespace gridfold::load {
namespace {

using nlohmann::json;

// Reads the fields of an object, and remembers the first error.
class ObjectReader {
 public:
  ObjectReader(const json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object_.is_object()) Fail("", "must be an object");
  }

  // The field, where it is there; nullptr otherwise.
  const json* Find(const std::string& key) {
    known_.insert(key);
    if (!error_.ok()) return nullptr;
    const auto field = object_.find(key);
    return field == object_.end() ? nullptr : &*field;
  }

  template <typename T>
  void Read(const std::string& key, T& value) {
    const json* const field = Find(key);
    if (field != nullptr) Convert(*field, key, value);
  }

  // A value by its name.
  template <typename T>
  using Names = std::initializer_list<std::pair<absl::string_view, T>>;
  template <typename T>
  void ReadName(const std::string& key, Names<T> names, T& value) {
    ReadText(
        key, [&](absl::string_view text) { return ParseName<T>(text, names); }, value);
  }

  // A value by its text.
  template <typename Parser, typename T>
  void ReadText(const std::string& key, Parser parse, T& value) {
    std::string text;
    if (Find(key) == nullptr) return;
    Read(key, text);
    if (!error_.ok()) return;
    const auto parsed = parse(text);
    if (parsed.ok()) {
      value = *parsed;
    } else {
      Fail(key, std::string(parsed.status().message()));
    }
  }

  template <typename T>
  void Convert(const json& field, const std::string& key, T& value) {
    const bool is_of_type = std::is_same_v<T, std::string> ? field.is_string()
                            : std::is_same_v<T, bool>      ? field.is_boolean()
                            : std::is_same_v<T, double>    ? field.is_number()
                            : std::is_unsigned_v<T>        ? field.is_number_unsigned()
                                                           : field.is_number_integer();
    if (is_of_type && !IsInRange<T>(field)) {
      Fail(key, "is a larger number than there may be");
    } else if (is_of_type) {
      value = field.get<T>();
    } else {
      Fail(key, std::is_same_v<T, std::string> ? "must be text"
                : std::is_same_v<T, bool>      ? "must be true or false"
                : std::is_same_v<T, double>    ? "must be a number"
                : std::is_unsigned_v<T>        ? "must be a whole number that is not negative"
                                               : "must be a whole number");
    }
  }

  // Whether T holds a number of its kind, which would wrap around otherwise.
  template <typename T>
  static bool IsInRange(const json& field) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      return field.is_number_unsigned() ? std::in_range<T>(field.get<uint64_t>())
                                        : std::in_range<T>(field.get<int64_t>());
    } else {
      return true;
    }
  }

  template <typename T>
  void ConvertPair(const json& field, const std::string& key, std::pair<T, T>& value) {
    if (!field.is_array() || field.size() != 2) return Fail(key, "must be two numbers");
    Convert(field[0], key, value.first);
    Convert(field[1], key, value.second);
  }

  // Numbers; `what` says so of the field.
  template <typename T>
  void ReadList(const std::string& key, const std::string& what, std::vector<T>& values) {
    const json* const field = Find(key);
    if (field == nullptr) return;
    if (!field->is_array()) return Fail(key, absl::StrCat("must be a list of ", what));
    values.assign(field->size(), T());
    for (size_t i = 0; i < field->size(); ++i) Convert((*field)[i], key, values[i]);
  }

  // What `read` makes of an object, which is at `place` of this one.
  template <typename Function>
  void ReadObject(const json& object, const std::string& place, Function read) {
    ObjectReader reader(object, absl::StrCat(path_, ".", place));
    read(reader);
    if (error_.ok()) error_ = reader.Finish();
  }

  void Fail(const std::string& key, const std::string& what) {
    if (!error_.ok()) return;
    const std::string separator = path_.empty() || key.empty() ? "" : ".";
    const std::string place = absl::StrCat(path_, separator, key);
    error_ = absl::InvalidArgumentError(
        absl::StrCat(place.empty() ? "the scenario" : place, ": ", what));
  }

  // The first error, or a field that nobody asked for.
  absl::Status Finish() {
    if (!error_.ok()) return error_;
    for (const auto& [key, value] : object_.items()) {
      if (!known_.contains(key)) Fail(key, "there is no such field");
    }
    return error_;
  }

 private:
  const json& object_;
  const std::string path_;
  std::set<std::string> known_;
  absl::Status error_;
};

void ReadElements(ObjectReader& reader, ElementCounts& elements) {
  const json* const field = reader.Find("elements");
  if (field == nullptr) return;
  if (field->is_object()) {
    elements.choices.clear();
    const auto bounds = field->find("log_uniform");
    if (field->size() != 1 || bounds == field->end()) {
      return reader.Fail("elements",
                         "must be {\"log_uniform\": [low, high]} where it is an object");
    }
    return reader.ConvertPair(*bounds, "elements", elements.log_uniform.emplace());
  }
  const json list = field->is_array() ? *field : json::array({*field});
  elements.choices.assign(list.size(), 0);
  for (size_t i = 0; i < list.size(); ++i) {
    reader.Convert(list[i], "elements", elements.choices[i]);
  }
}

// Statistics by the names that `parse` knows.
template <typename Statistic, typename Parser>
void ReadStatistics(ObjectReader& reader, Parser parse, std::vector<Statistic>& statistics) {
  const json* const field = reader.Find("statistics");
  if (field == nullptr) return;
  if (!field->is_array()) return reader.Fail("statistics", "must be a list of names");
  statistics.clear();
  for (const json& entry : *field) {
    std::string name;
    reader.Convert(entry, "statistics", name);
    const std::optional<Statistic> statistic = parse(name);
    if (!statistic) return reader.Fail("statistics", absl::StrCat("\"", name, "\" is none"));
    statistics.push_back(*statistic);
  }
}

void ReadViewedDimension(ObjectReader& reader, ScenarioView::Dimension& dimension) {
  reader.Read("axis", dimension.axis);
  if (reader.Find("count") != nullptr) reader.Read("count", dimension.count.emplace());
  reader.Read("step", dimension.step);
}

void ReadView(ObjectReader& reader, ScenarioView& view) {
  reader.ReadList("first", "indices", view.first);
  const json* const dimensions = reader.Find("dimensions");
  if (dimensions == nullptr) return;
  if (!dimensions->is_array()) return reader.Fail("dimensions", "must be a list of objects");
  for (const json& dimension : *dimensions) {
    const std::string place = absl::StrCat("dimensions[", view.dimensions.size(), "]");
    reader.ReadObject(dimension, place, [&](ObjectReader& inner) {
      ReadViewedDimension(inner, view.dimensions.emplace_back());
    });
  }
}

// A part, or an object that says more.
void ReadMask(ObjectReader& reader, std::optional<ScenarioMask>& mask) {
  const json* const field = reader.Find("where");
  if (field == nullptr) return;
  if (!field->is_object()) return reader.Convert(*field, "where", mask.emplace().part);
  reader.ReadObject(*field, "where", [&](ObjectReader& inner) {
    inner.Read("part", mask.emplace().part);
    if (inner.Find("dimensions") != nullptr) {
      inner.Read("dimensions", mask->dimension_count.emplace());
    }
  });
}

// Which elements there are groups of, and which of them count.
void ReadSelection(ObjectReader& reader, RequestKind& kind) {
  reader.ReadList("row_shape", "extents", kind.row_shape);
  if (reader.Find("axes") != nullptr) reader.ReadList("axes", "axes", kind.axes.emplace());
  reader.Read("keep_dimensions", kind.keep_dimensions);
  if (const json* const view = reader.Find("view")) {
    reader.ReadObject(*view, "view",
                      [&](ObjectReader& inner) { ReadView(inner, kind.view.emplace()); });
  }
  ReadMask(reader, kind.where);
}

absl::StatusOr<client::ElementType> ParseType(absl::string_view name) {
  const std::optional<client::ElementType> type = client::ParseElementType(name);
  // Answers of bool are not known by another way.
  if (type && *type != client::ElementType::kBool) return *type;
  return absl::InvalidArgumentError(absl::StrCat("\"", name, "\" is no element type here"));
}

// By its name; whether statistics can be answered in it is not judged here.
absl::StatusOr<client::ElementType> ParseOutputType(absl::string_view name) {
  const std::optional<client::ElementType> type = client::ParseElementType(name);
  if (type) return *type;
  return absl::InvalidArgumentError(absl::StrCat("\"", name, "\" is no element type"));
}

absl::StatusOr<absl::Duration> ParseTime(absl::string_view text) {
  absl::Duration value;
  if (absl::ParseDuration(text, &value)) return value;
  return absl::InvalidArgumentError("must be a time with its unit, such as \"5ms\"");
}

void ReadOperation(ObjectReader& reader, RequestKind& kind) {
  using client::ScanMode;
  using client::ScanOperation;
  reader.ReadName<OperationKind>("operation",
                                 {{"reduce", OperationKind::kReduce},
                                  {"scan", OperationKind::kScan},
                                  {"histogram", OperationKind::kHistogram},
                                  {"quantile", OperationKind::kQuantiles},
                                  {"topk", OperationKind::kTop},
                                  {"group", OperationKind::kKeyedReduction},
                                  {"relate", OperationKind::kRelation}},
                                 kind.operation);
  if (kind.operation == OperationKind::kRelation) {
    ReadStatistics(reader, client::ParseRelation, kind.relations);
  } else {
    ReadStatistics(reader, client::ParseStatistic, kind.statistics);
  }
  reader.ReadText("output_type", ParseOutputType, kind.output_type);
  reader.ReadName<ScanOperation>("scan",
                                 {{"sum", ScanOperation::kSum},
                                  {"product", ScanOperation::kProduct},
                                  {"min", ScanOperation::kMin},
                                  {"max", ScanOperation::kMax}},
                                 kind.scan_operation);
  reader.ReadName<ScanMode>(
      "mode", {{"inclusive", ScanMode::kInclusive}, {"exclusive", ScanMode::kExclusive}},
      kind.scan_mode);
  reader.ReadName<ResultDestination>("destination",
                                     {{"inline", ResultDestination::kInline},
                                      {"resident", ResultDestination::kResident},
                                      {"shared", ResultDestination::kShared}},
                                     kind.destination);
  reader.ReadName<BinLayout>(
      "layout", {{"even", BinLayout::kEven}, {"integer", BinLayout::kInteger}}, kind.bin_layout);
  reader.Read("bins", kind.bin_count);
  reader.Read("y_bins", kind.y_bin_count);
  reader.Read("weighted", kind.is_weighted);
  reader.Read("batch", kind.batch_size);
  if (const json* const range = reader.Find("range")) {
    reader.ConvertPair(*range, "range", kind.bin_range.emplace());
  }
}

// The methods of quantiles that have no weights.
absl::StatusOr<client::QuantileMethod> ParseMethod(absl::string_view name) {
  std::vector<absl::string_view> names;
  for (const client::QuantileMethod method : client::UnweightedQuantileMethods()) {
    names.push_back(client::QuantileMethodName(method));
    if (names.back() == name) return method;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", name, "\" is none of ", absl::StrJoin(names, ", ")));
}

// What quantiles and the largest elements need.
void ReadOrder(ObjectReader& reader, RequestKind& kind) {
  if (kind.operation == OperationKind::kQuantiles) kind.quantiles = {0.5};
  reader.ReadList("quantiles", "numbers", kind.quantiles);
  reader.ReadText("method", ParseMethod, kind.quantile_method);
  reader.Read("k", kind.top_count);
  reader.Read("smallest", kind.top_smallest);
}

void ReadKeys(ObjectReader& reader, RequestKind& kind) {
  reader.ReadText("key_type", ParseType, kind.key_type);
  reader.Read("key_count", kind.key_count);
  reader.ReadName<KeyGroups>("keys", {{"found", KeyGroups::kFound}, {"range", KeyGroups::kRange}},
                             kind.key_groups);
  reader.Read("sorted_keys", kind.are_keys_sorted);
}

void ReadArray(ObjectReader& reader, RequestKind& kind) {
  reader.ReadText("element_type", ParseType, kind.element_type);
  ReadElements(reader, kind.elements);
  reader.Read("columns", kind.column_count);
  reader.ReadName<GroupBy>("group_by",
                           {{"all", GroupBy::kAll},
                            {"rows", GroupBy::kRows},
                            {"columns", GroupBy::kColumns},
                            {"segments", GroupBy::kSegments}},
                           kind.group_by);
  reader.Read("segment_elements", kind.segment_elements);
  reader.ReadName<Distribution>("distribution",
                                {{"uniform", Distribution::kUniform},
                                 {"normal", Distribution::kNormal},
                                 {"exponential", Distribution::kExponential},
                                 {"constant", Distribution::kConstant}},
                                kind.distribution);
  if (const json* const values = reader.Find("values")) {
    std::pair<int64_t, int64_t> range;
    reader.ConvertPair(*values, "values", range);
    std::tie(kind.value_min, kind.value_max) = range;
  }
  reader.ReadName<ArrayTransport>("transport",
                                  {{"inline", ArrayTransport::kInline},
                                   {"stream", ArrayTransport::kStream},
                                   {"resident", ArrayTransport::kResident},
                                   {"shared", ArrayTransport::kShared}},
                                  kind.transport);
}

void ReadCalls(ObjectReader& reader, RequestKind& kind) {
  using client::Priority;
  reader.Read("name", kind.name);
  reader.Read("weight", kind.weight);
  reader.Read("tenant", kind.tenant);
  reader.ReadName<Priority>(
      "priority",
      {{"low", Priority::kLow}, {"normal", Priority::kNormal}, {"high", Priority::kHigh}},
      kind.priority);
  reader.ReadText("timeout", ParseTime, kind.timeout);
  reader.Read("cancel", kind.cancelled_part);
  reader.ReadText("cancel_within", ParseTime, kind.cancel_within);
}

absl::StatusOr<RequestKind> ReadRequestKind(const json& object, const std::string& path) {
  ObjectReader reader(object, path);
  RequestKind kind;
  ReadOperation(reader, kind);
  ReadOrder(reader, kind);
  ReadKeys(reader, kind);
  ReadArray(reader, kind);
  ReadSelection(reader, kind);
  ReadCalls(reader, kind);
  if (kind.name.empty()) {
    kind.name = absl::StrCat(OperationName(kind.operation), " ", TransportName(kind.transport));
  }
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  return kind;
}

// Settings are text or numbers.
void ReadLoad(ObjectReader& reader, LoadSettings& load) {
  const json* const field = reader.Find("load");
  if (field == nullptr) return;
  if (!field->is_object()) return reader.Fail("load", "must be an object");
  for (const auto& [key, value] : field->items()) {
    if (!value.is_string() && !value.is_number()) {
      return reader.Fail("load." + key, "must be text or a number");
    }
    load[key] = value.is_string() ? value.get<std::string>() : value.dump();
  }
}

}  // namespace

absl::StatusOr<ScenarioFile> ParseScenario(const std::string& text) {
  const absl::StatusOr<json> document = ParseYaml(text);
  if (!document.ok()) return document.status();
  ScenarioFile file;
  ObjectReader reader(*document, "");
  reader.Read("name", file.scenario.name);
  reader.Read("description", file.scenario.description);
  ReadLoad(reader, file.load);
  const json* const requests = reader.Find("requests");
  if (requests != nullptr && !requests->is_array()) reader.Fail("requests", "must be a list");
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  for (size_t i = 0; requests != nullptr && i < requests->size(); ++i) {
    absl::StatusOr<RequestKind> kind =
        ReadRequestKind((*requests)[i], absl::StrCat("requests[", i, "]"));
    if (!kind.ok()) return kind.status();
    file.scenario.requests.push_back(*std::move(kind));
  }
  if (absl::Status status = Validate(file.scenario); !status.ok()) return status;
  return file;
}

}  // namespace gridfold::load
