#include "client/command_line/arguments/mask_argument.h"

#include <utility>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/str_cat.h"
#include "client/command_line/arguments/array_reference.h"
#include "client/command_line/exit_code.h"
#include "client/command_line/input/load_array.h"

namespace gridfold::client {

MaskArgument::MaskArgument(CLI::App& command, const std::string& group) {
  CLI::Option* const file =
      command
          .add_option("--where", path_,
                      "Which elements count: a file of bool, of the array's shape or of its last "
                      "dimensions")
          ->type_name("FILE")
          ->group(group);
  command
      .add_option("--where-array", reference_, "The same on the server: NAME, or NAME[FIRST:COUNT]")
      ->type_name("NAME")
      ->excludes(file)
      ->group(group);
}

absl::StatusOr<std::optional<ArrayInput>> MaskArgument::Load() {
  if (!is_given()) return std::nullopt;
  if (!reference_.empty()) {
    absl::StatusOr<ResidentArray> resident = ParseReference("--where-array", reference_);
    if (!resident.ok()) return WithExitCode(resident.status(), ExitCode::kUsage);
    return std::optional<ArrayInput>(*std::move(resident));
  }
  absl::StatusOr<HostArray> mask = LoadArray({.path = path_}, nullptr);
  if (!mask.ok()) return WithExitCode(mask.status(), ExitCode::kInputOutput);
  if (mask->element_type != ElementType::kBool) {
    return WithExitCode(
        absl::InvalidArgumentError(absl::StrCat("--where: ", path_, " has elements of type ",
                                                ElementTypeName(mask->element_type),
                                                ", and a mask has bool; save it .astype('?')")),
        ExitCode::kInputOutput);
  }
  mask_ = *std::move(mask);
  return std::optional<ArrayInput>(mask_.view());
}

}  // namespace gridfold::client
