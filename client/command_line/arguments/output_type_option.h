// --output-type: the type that results are answered in.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_OUTPUT_TYPE_OPTION_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_OUTPUT_TYPE_OPTION_H_

#include <optional>
#include <string>

#include "CLI/App.hpp"
#include "gridfold/element_type.h"

namespace gridfold::client {

// Adds --output-type, whose value goes to `type`, which must outlive the command.
CLI::Option* AddOutputTypeOption(CLI::App& command, std::optional<ElementType>& type,
                                 const std::string& description);

// What it says of reductions.
inline constexpr char kStatisticTypeHelp[] =
    "Floating-point type of statistics that are float64 otherwise, which are rounded to it: "
    "float16, "
    "bfloat16 or float32";

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_OUTPUT_TYPE_OPTION_H_
