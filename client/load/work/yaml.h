// YAML, of which JSON is a part.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_YAML_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_YAML_H_

#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace gridfold::load {

// The document as JSON has it: of what is not in quotes, numbers as JSON writes them, true, false
// and null are what they look like, and everything else is text. INVALID_ARGUMENT says where the
// text is no YAML, names a key twice, is deeper than 16 levels or has more than a million values.
absl::StatusOr<nlohmann::json> ParseYaml(const std::string& text);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_YAML_H_
