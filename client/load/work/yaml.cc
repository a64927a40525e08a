#include "client/load/work/yaml.h"

#include "absl/strings/str_cat.h"
#include "yaml-cpp/yaml.h"

namespace gridfold::load {
namespace {

using nlohmann::json;

// Aliases may name what they are in, and make much of little.
constexpr int kDepthMax = 16;
constexpr int kValuesMax = 1'000'000;

// Throws what yaml-cpp throws.
class Conversion {
 public:
  json Convert(const YAML::Node& node, int depth = 0) {
    if (depth > kDepthMax || ++value_count_ > kValuesMax) {
      throw YAML::ParserException(node.Mark(), "too deep, or too many values");
    }
    if (node.IsMap()) return ConvertMap(node, depth);
    if (node.IsSequence()) {
      json list = json::array();
      for (const YAML::Node& entry : node) list.push_back(Convert(entry, depth + 1));
      return list;
    }
    return node.IsScalar() ? ConvertScalar(node) : json();
  }

 private:
  json ConvertMap(const YAML::Node& node, int depth) {
    json object = json::object();
    for (const auto& entry : node) {
      const auto key = entry.first.as<std::string>();
      if (object.contains(key)) {
        throw YAML::ParserException(entry.first.Mark(), absl::StrCat("there are two of ", key));
      }
      object[key] = Convert(entry.second, depth + 1);
    }
    return object;
  }

  static json ConvertScalar(const YAML::Node& node) {
    const std::string& text = node.Scalar();
    const bool is_quoted = node.Tag() == "!";
    if (is_quoted) return text;
    const json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
    return value.is_primitive() && !value.is_discarded() ? value : json(text);
  }

  int value_count_ = 0;
};

}  // namespace

absl::StatusOr<json> ParseYaml(const std::string& text) {
  try {
    return Conversion().Convert(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

}  // namespace gridfold::load
