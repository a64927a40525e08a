// Values of a column whose type the values themselves decide.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_CSV_VALUES_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_CSV_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/command_line/input/csv_column.h"
#include "gridfold/element_type.h"

namespace gridfold::client {

// Takes fields one at a time. Integers are kept as they are until a value comes that is none.
class CsvValues {
 public:
  // Adds the last field of `column`. INVALID_ARGUMENT where it is no number.
  absl::Status Add(const CsvColumn& column, absl::string_view field);

  // Forgets the values that were added, but not what is known about their type.
  void Drop();

  uint64_t size_bytes() const { return values_.size() * sizeof(uint64_t); }
  uint64_t missing_count() const { return missing_count_; }

  // The type of all values that were added. INVALID_ARGUMENT names the line of an integer that has
  // no type, or that missing values leave none.
  absl::StatusOr<ElementType> Type() const;

  // The values, of type Type().
  const std::vector<uint64_t>& bits() const { return values_; }

 private:
  struct Integer {
    std::string text;
    uint64_t line = 0;
  };

  void AddInteger(uint64_t bits, bool is_negative, const CsvColumn& column,
                  absl::string_view field);
  void AddFloat(double value);
  void BecomeFloats();

  std::vector<uint64_t> values_;  // Bits of integers, or of doubles.
  bool are_floats_ = false;       // What `values_` are.
  bool has_decimals_ = false;     // Finite values that are written as no integer is.
  bool has_negative_ = false;
  bool has_large_ = false;  // Beyond int64.
  Integer first_large_;
  Integer first_too_large_;  // Beyond uint64, or below int64. No text: none.
  Integer first_inexact_;    // Not exact in float64. No text: none.
  uint64_t missing_count_ = 0;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_CSV_VALUES_H_
