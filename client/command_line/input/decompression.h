// Compressed files, as the bytes that were compressed.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_DECOMPRESSION_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_DECOMPRESSION_H_

#include <memory>

#include "client/command_line/input/byte_source.h"

namespace gridfold::client {

// Each function below reads `source` piece by piece, in memory that does not grow with what comes
// out. Errors of reading: INVALID_ARGUMENT names the format and says whether the data are damaged
// or cut off; RESOURCE_EXHAUSTED where there is no memory for the decompressor.

// A gzip file (RFC 1952) of any number of members; zeros may follow them, as on tapes.
std::unique_ptr<ByteSource> DecompressGzip(std::unique_ptr<ByteSource> source);

// Bare deflated data (RFC 1951), as members of zip archives are.
std::unique_ptr<ByteSource> DecompressDeflate(std::unique_ptr<ByteSource> source);

// A Zstandard file (RFC 8878) of any number of frames, with windows of 128 MiB at most.
std::unique_ptr<ByteSource> DecompressZstd(std::unique_ptr<ByteSource> source);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_DECOMPRESSION_H_
