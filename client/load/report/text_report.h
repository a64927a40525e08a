// The report for people, on a terminal.
#ifndef GRIDFOLD_CLIENT_LOAD_REPORT_TEXT_REPORT_H_
#define GRIDFOLD_CLIENT_LOAD_REPORT_TEXT_REPORT_H_

#include <ostream>

#include "client/command_line/output/terminal.h"
#include "client/load/run/load_result.h"

namespace gridfold::load {

void PrintReport(const LoadResult& result, const client::TextStyle& style, std::ostream& out);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_REPORT_TEXT_REPORT_H_
