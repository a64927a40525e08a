// The bins of a histogram as what is drawn of them.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_BIN_ROWS_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_BIN_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "client/command_line/output/heat_map.h"
#include "gridfold/histogram.h"

namespace gridfold::client {

struct BinRows {
  struct Row {
    std::string label;  // "[0, 10)", "7" or "7 to 9".
    double sum = 0;     // Counts or weights of the row's bins.
    uint64_t first_bin = 0;
    uint64_t end_bin = 0;  // One after the last.
  };

  std::vector<Row> rows;
  uint64_t bins_per_row = 1;
};

// The integer of bin 0 in the layout of channel or axis `index`, where it has integer bins.
absl::int128 FirstValue(const HistogramOptions& options, size_t index);

// How many bins share a place where there are at most `places_max` (0: any number).
uint64_t BinsPerPlace(uint64_t bin_count, uint64_t places_max);

// At most `rows_max` rows (0: any number) of equally many neighbouring bins each. Of a sparse
// histogram only the rows with a listed bin. `first_value` is the integer of bin 0 where the bins
// are integers: an int64 or a uint64.
BinRows MakeBinRows(const HistogramCounts& counts, const ResolvedBins& bins,
                    absl::int128 first_value, uint64_t rows_max);

// The bins of two dimensions as a map of at most `columns_max` by `rows_max` places (0: any number)
// of equally many neighbouring bins each, a row named by its lower edge.
HeatMap MakeBinMap(const HistogramCounts& counts, const std::vector<ResolvedBins>& bins,
                   const std::vector<absl::int128>& first_values, uint64_t columns_max,
                   uint64_t rows_max);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_BIN_ROWS_H_
