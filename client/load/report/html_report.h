// The report as one page, with everything in it: nothing is fetched, and no script runs.
#ifndef GRIDFOLD_CLIENT_LOAD_REPORT_HTML_REPORT_H_
#define GRIDFOLD_CLIENT_LOAD_REPORT_HTML_REPORT_H_

#include <string>

#include "client/load/run/load_result.h"

namespace gridfold::load {

std::string ToHtml(const LoadResult& result);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_REPORT_HTML_REPORT_H_
