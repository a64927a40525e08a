// What kind of file it is, by its first bytes.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_FILE_SIGNATURE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_FILE_SIGNATURE_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace gridfold::client {

// How many of a file's first bytes tell the kinds below apart.
inline constexpr size_t kSignatureBytes = 1024;

// What gridfold reads, but for text and raw elements, which have no signature.
enum class FileKind { kUnknown, kNpy, kGzip, kZstd, kZip, kHdf5 };

FileKind RecognizeKind(absl::string_view beginning);

// A kind of file that gridfold does not read.
struct ForeignKind {
  std::string name;    // For example "a Parquet file".
  std::string advice;  // What to do instead.
  bool is_certain;     // Else raw elements, too, begin so now and then.
};

// The foreign kind that a file that begins so is of, if any.
std::optional<ForeignKind> RecognizeForeignKind(absl::string_view beginning);

// Whether bytes are there that no text has: control characters other than white space, and
// `delimiter`. Tells text of any encoding that keeps ASCII from everything else.
bool LooksBinary(absl::string_view beginning, char delimiter);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_FILE_SIGNATURE_H_
