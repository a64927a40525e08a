// The report for programs: one JSON object.
#ifndef GRIDFOLD_CLIENT_LOAD_REPORT_JSON_REPORT_H_
#define GRIDFOLD_CLIENT_LOAD_REPORT_JSON_REPORT_H_

#include <string>

#include "client/load/run/load_result.h"

namespace gridfold::load {

// Field names are part of the program's interface: they are added to, never changed. Times are in
// microseconds but where a name says otherwise. README.md lists the fields. Ended by a newline.
std::string ToJson(const LoadResult& result);

// One line for each second of each level, below a line of names.
std::string ToCsv(const LoadResult& result);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_REPORT_JSON_REPORT_H_
