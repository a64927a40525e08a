// Scans for people.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_SCAN_REPORT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_SCAN_REPORT_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "client/command_line/report/answer.h"
#include "gridfold/scan.h"

namespace gridfold::client {

// Prints the first and the last of the results, or where they are: on the server, or in the file
// `output`, which is empty where they were not written. `rows_max` limits the results shown; 0
// shows all.
void PrintScan(const Answer<ScanResult>& answer, const std::string& output, uint64_t rows_max,
               const TextStyle& style, std::ostream& out);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_SCAN_REPORT_H_
