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
  command.add_option("--where-array", reference_, "The same on the server")
      ->type_name(kReferenceForm)
      ->excludes(file)
      ->group(group);
}

absl::StatusOr<std::optional<ArrayInput>> MaskArgument::Load(const Session& session) {
  if (!is_given()) return std::nullopt;
  if (!reference_.empty()) {
    const absl::StatusOr<ArrayReference> reference = ParseReference("--where-array", reference_);
    if (!reference.ok()) return WithExitCode(reference.status(), ExitCode::kUsage);
    absl::StatusOr<ResidentArray> resident = session.Find(*reference);
    if (!resident.ok()) return resident.status();
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
