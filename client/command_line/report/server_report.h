// A server for people.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_SERVER_REPORT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_SERVER_REPORT_H_

#include <optional>
#include <ostream>
#include <string>

#include "client/command_line/output/terminal.h"
#include "gridfold/server_info.h"

namespace gridfold::client {

// "SERVING", "NOT_SERVING" and so on, as the standard health service writes them.
std::string HealthName(HealthStatus health);

// Without statistics where the caller may not see them.
void PrintServer(const std::string& target, HealthStatus health, const ServerInfo& info,
                 const std::optional<ServerStatistics>& statistics, const TextStyle& style,
                 std::ostream& out);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_SERVER_REPORT_H_
