// Input files of any format, opened, recognised by their first bytes and decompressed.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_OPEN_INPUT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_OPEN_INPUT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/command_line/input/byte_source.h"
#include "client/command_line/input/file.h"
#include "client/command_line/input/input_options.h"

namespace gridfold::client {

struct OpenedInput {
  std::unique_ptr<PeekedSource> content;  // Decompressed.
  FileFormat format;                      // Not kAuto.
  char delimiter;                         // Of CSV input.
  bool can_reopen;                        // A regular file, which can be read a second time.
};

// Opens the file or standard input. gzip and Zstandard are decompressed and members of zip archives
// (.npz) chosen, unless the options say kRaw; an archive that comes through a pipe goes through a
// temporary file. Errors: of the system, naming the file; INVALID_ARGUMENT, without its name, for a
// file that is empty, of a kind that gridfold does not read, or of no kind that is recognised, and
// for options that do not go with the file.
absl::StatusOr<OpenedInput> OpenInput(const InputOptions& options, const ReadProgress& progress);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_OPEN_INPUT_H_
