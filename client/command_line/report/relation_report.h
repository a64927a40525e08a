// What gridfold relate answers: for people, and as a table or an array.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_RELATION_REPORT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_RELATION_REPORT_H_

#include <ostream>

#include "absl/status/statusor.h"
#include "client/command_line/input/host_array.h"
#include "client/command_line/output/data_table.h"
#include "client/command_line/output/terminal.h"
#include "client/command_line/report/answer.h"
#include "gridfold/paired.h"

namespace gridfold::client {

// "dot", "covariance" and so on.
const char* RelationName(PairedStatistic statistic);

// A row for each statistic; of matrices one for each of their rows.
void PrintRelations(const Answer<RelateResult>& answer, const TextStyle& style, std::ostream& out);

// The table has the rows that people see, under "statistic", "row" and "column_0" and so on; "row"
// is empty but of matrices.
DataTable ToTable(const Answer<RelateResult>& answer);

// The values of the one statistic. INVALID_ARGUMENT where there are several.
absl::StatusOr<HostArray> ToArray(const RelateResult& result);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_RELATION_REPORT_H_
