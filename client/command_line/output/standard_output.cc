#include "client/command_line/output/standard_output.h"

namespace gridfold::client {

ExitCode FinishOutput(ExitCode code, absl::string_view program, std::ostream& out,
                      std::ostream& error) {
  out.flush();
  if (out.good()) return code;
  error << program << ": standard output: cannot be written\n";
  return code == ExitCode::kSuccess ? ExitCode::kInputOutput : code;
}

}  // namespace gridfold::client
