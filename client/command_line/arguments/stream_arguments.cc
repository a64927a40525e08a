#include "client/command_line/arguments/stream_arguments.h"

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "client/command_line/arguments/number_option.h"

namespace gridfold::client {
namespace {

// One element's at least.
constexpr uint64_t kChunkBytesMin = 8;
constexpr uint64_t kChunkBytesMax = uint64_t{1} << 30;

}  // namespace

StreamArguments::StreamArguments(CLI::App& command) {
  const char* const group = "Input";
  CLI::Option* const stream =
      command
          .add_flag("--stream", is_given_,
                    "Send the array as it is read, of any size, in little memory; as arrays are "
                    "sent that are too large for a request, where the question allows it")
          ->excludes(command.get_option("--array"))
          ->excludes(command.get_option("--shared"))
          ->group(group);
  AddNumberOption(command, "--chunk-bytes", chunk_bytes_,
                  "With --stream: bytes that are read and sent at a time; default 2 MiB",
                  kChunkBytesMin, kChunkBytesMax)
      ->needs(stream)
      ->group(group);
}

}  // namespace gridfold::client
