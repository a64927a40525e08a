// Arrays from files of any of the formats.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_LOAD_ARRAY_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_LOAD_ARRAY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/command_line/input/file.h"
#include "client/command_line/input/host_array.h"
#include "gridfold/resident_array.h"

namespace gridfold::client {

enum class FileFormat { kAuto, kNpy, kRaw, kCsv };

struct InputOptions {
  std::string path;                                      // "-" is standard input.
  std::optional<ResidentArray> resident = std::nullopt;  // In place of all else: on the server.
  // kAuto: .npy by its first bytes; CSV by the name's end (.csv, .tsv) or where a column is given;
  // raw where a type is.
  FileFormat format = FileFormat::kAuto;
  std::optional<ElementType> element_type = std::nullopt;  // Of raw and CSV input.
  std::vector<uint64_t> shape = {};                  // [rows, columns]; empty: as the file says.
  std::optional<std::string> column = std::nullopt;  // Of CSV input: a number from 1, or a name.
  std::optional<char> delimiter = std::nullopt;  // Of CSV input: nothing is a comma, a tab in .tsv.
  bool shared = false;  // The server is to read the elements in shared memory.
};

// Reads the array. Errors name the file and say what is wrong with it.
absl::StatusOr<HostArray> LoadArray(const InputOptions& options, const ReadProgress& progress);

// The numbers of an array of integers as segment offsets: INVALID_ARGUMENT for negative ones and
// for floating-point types.
absl::StatusOr<std::vector<uint64_t>> ToOffsets(const HostArray& array);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_LOAD_ARRAY_H_
