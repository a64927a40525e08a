// The flags that say which elements count.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_MASK_ARGUMENT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_MASK_ARGUMENT_H_

#include <optional>
#include <string>

#include "CLI/App.hpp"
#include "absl/status/statusor.h"
#include "client/command_line/input/host_array.h"
#include "client/command_line/session.h"
#include "gridfold/array_input.h"

namespace gridfold::client {

// --where with a file, or --where-array with an array on the server.
class MaskArgument {
 public:
  MaskArgument(CLI::App& command, const std::string& group);
  MaskArgument(const MaskArgument&) = delete;
  MaskArgument& operator=(const MaskArgument&) = delete;

  bool is_given() const { return !path_.empty() || !reference_.empty(); }

  // The mask, nothing where none is given; a file is read now. It views this object. Errors: those
  // of LoadArray, ParseReference and Session::Find; elements that are not bool.
  absl::StatusOr<std::optional<ArrayInput>> Load(const Session& session);

 private:
  std::string path_;
  std::string reference_;
  HostArray mask_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_MASK_ARGUMENT_H_
