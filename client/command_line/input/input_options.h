// Which array is meant, as the command line says it.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_INPUT_OPTIONS_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_INPUT_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/command_line/arguments/array_reference.h"
#include "gridfold/element_type.h"

namespace gridfold::client {

enum class FileFormat { kAuto, kNpy, kRaw, kCsv };

// Whether the first row of CSV input names the columns.
enum class Heading { kAuto, kYes, kNo };

// What applies to CSV input only.
struct CsvOptions {
  // A number, counted from 1, or a name of the first row, which is then a heading.
  std::optional<std::string> column = std::nullopt;
  std::optional<char> delimiter = std::nullopt;  // Nothing: a comma, or a tab in .tsv.
  Heading heading = Heading::kAuto;
  std::vector<std::string> missing = {};       // Fields that stand for no value, as empty ones do.
  std::optional<char> comment = std::nullopt;  // Lines that begin with it are passed over.

  bool is_given() const {
    return column || delimiter || heading != Heading::kAuto || !missing.empty() || comment;
  }
};

struct InputOptions {
  std::string path = {};                                  // "-" is standard input.
  std::optional<ArrayReference> resident = std::nullopt;  // In place of all else: on the server.
  // kAuto: by the first bytes; CSV by the name's end (.csv, .tsv) or where one of `csv` is given;
  // raw where a type is. kRaw takes the bytes as they are, others are decompressed where they are
  // compressed.
  FileFormat format = FileFormat::kAuto;
  // Of raw and CSV input, and of .npy input that says no more than the elements' size.
  std::optional<ElementType> element_type = std::nullopt;
  std::vector<uint64_t> shape = {};                  // Extents; empty: as the file says.
  std::optional<std::string> member = std::nullopt;  // Of an archive.
  CsvOptions csv = {};
  bool shared = false;  // The elements are to travel through shared memory.
  // `csv` and `member` are those of another array, and matter only where they apply.
  bool is_second = false;
  bool can_ignore_nan = false;  // The command has --ignore-nan, which is not given.
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_INPUT_OPTIONS_H_
