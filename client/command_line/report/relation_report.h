// What gridfold relate answers: for people, and as a table or an array.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_RELATION_REPORT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_RELATION_REPORT_H_

#include <optional>
#include <ostream>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/command_line/input/host_array.h"
#include "client/command_line/output/data_table.h"
#include "client/command_line/output/terminal.h"
#include "client/command_line/report/answer.h"
#include "gridfold/paired.h"

namespace gridfold::client {

inline constexpr PairedStatistic kRelations[] = {
    PairedStatistic::kDot, PairedStatistic::kCovariance, PairedStatistic::kCorrelation,
    PairedStatistic::kMean, PairedStatistic::kVariance};

// "dot", "covariance" and so on.
const char* RelationName(PairedStatistic statistic);
// The statistic of that name; none where there is none.
std::optional<PairedStatistic> ParseRelation(absl::string_view name);

// A row for each statistic; of matrices one for each of their rows.
void PrintRelations(const Answer<RelateResult>& answer, const TextStyle& style, std::ostream& out);

// The table has the rows that people see, under "statistic", "row" and "column_0" and so on; "row"
// is empty but of matrices.
DataTable ToTable(const Answer<RelateResult>& answer);

// The values of the one statistic. INVALID_ARGUMENT where there are several.
absl::StatusOr<HostArray> ToArray(const RelateResult& result);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_RELATION_REPORT_H_
