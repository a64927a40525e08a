// Shared-memory regions, for people.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_REGION_REPORT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_REGION_REPORT_H_

#include <ostream>
#include <span>

#include "client/command_line/output/terminal.h"
#include "gridfold/region.h"

namespace gridfold::client {

// A row for each, under a heading; or that there are none.
void PrintRegions(std::span<const RegionDescription> regions, const TextStyle& style,
                  std::ostream& out);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_REGION_REPORT_H_
