// Scenario files: YAML, and so JSON, as README.md describes it.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_SCENARIO_FILE_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_SCENARIO_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/load/run/load_settings.h"
#include "client/load/work/scenario.h"

namespace gridfold::load {

struct ScenarioFile {
  Scenario scenario;
  LoadSettings load;
};

// Parses and validates. INVALID_ARGUMENT says where the text is no YAML, or names the field that is
// wrong or unknown.
absl::StatusOr<ScenarioFile> ParseScenario(const std::string& text);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_SCENARIO_FILE_H_
