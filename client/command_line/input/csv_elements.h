// A column of a CSV file as elements.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_CSV_ELEMENTS_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_CSV_ELEMENTS_H_

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "client/command_line/input/csv_column.h"
#include "client/command_line/input/element_source.h"

namespace gridfold::client {

// Elements of a type that is known, in bounded memory. Decimals outside the type's range become
// infinite or 0, as strtod makes them; missing values become NaN. INVALID_ARGUMENT for float16 and
// bfloat16; reading, for a field that is no number of the type, and for a missing value where the
// type is an integer one.
absl::StatusOr<std::unique_ptr<ElementSource>> ReadCsvAs(ElementType type,
                                                         std::unique_ptr<CsvColumn> column);

// Opens the same column once more, at its beginning.
using ReopenColumn = std::function<absl::StatusOr<std::unique_ptr<CsvColumn>>()>;

// Elements of the type that all values together ask for: int64 where every value is one, uint64
// where every value is one, float64 where there are decimals. Where values are missing, integers
// become float64 if that is exact. The values are held in memory, of 8 bytes each, until the last
// one is known; beyond `held_bytes_max` they are read twice, by `reopen`, or, where it is null,
// refused with RESOURCE_EXHAUSTED. INVALID_ARGUMENT also for integers that no type of integers
// holds.
absl::StatusOr<std::unique_ptr<ElementSource>> ReadCsv(std::unique_ptr<CsvColumn> column,
                                                       const ReopenColumn& reopen,
                                                       uint64_t held_bytes_max);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_CSV_ELEMENTS_H_
