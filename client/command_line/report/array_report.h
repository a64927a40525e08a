// Arrays on the server, for people.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_ARRAY_REPORT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_ARRAY_REPORT_H_

#include <ostream>
#include <span>

#include "client/command_line/output/terminal.h"
#include "gridfold/resident_array.h"

namespace gridfold::client {

// A row for each, under a heading; or that there are none.
void PrintArrays(std::span<const ArrayDescription> arrays, const TextStyle& style,
                 std::ostream& out);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_ARRAY_REPORT_H_
