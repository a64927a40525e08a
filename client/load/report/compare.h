// Two reports side by side.
#ifndef GRIDFOLD_CLIENT_LOAD_REPORT_COMPARE_H_
#define GRIDFOLD_CLIENT_LOAD_REPORT_COMPARE_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "client/command_line/output/terminal.h"

namespace gridfold::load {

// Prints the figures of two reports of `--json`, level by level, and how much the second differs.
// INVALID_ARGUMENT where one is no such report, or they have not as many levels.
absl::Status CompareReports(const std::string& before, const std::string& after,
                            const client::TextStyle& style, std::ostream& out);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_REPORT_COMPARE_H_
