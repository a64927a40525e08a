// The flags that have an array sent piece by piece.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_STREAM_ARGUMENTS_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_STREAM_ARGUMENTS_H_

#include <cstddef>
#include <cstdint>

#include "CLI/App.hpp"

namespace gridfold::client {

class StreamArguments {
 public:
  // --array of the command excludes them.
  explicit StreamArguments(CLI::App& command);
  StreamArguments(const StreamArguments&) = delete;
  StreamArguments& operator=(const StreamArguments&) = delete;

  bool is_given() const { return is_given_; }
  // Bytes that are read and sent at a time.
  size_t chunk_bytes() const { return static_cast<size_t>(chunk_bytes_); }

 private:
  bool is_given_ = false;
  uint64_t chunk_bytes_ = uint64_t{2} << 20;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_STREAM_ARGUMENTS_H_
