// Completion of a program's command line by shells, as scripts that shells load.
#ifndef GRIDFOLD_MANUAL_COMPLETION_H_
#define GRIDFOLD_MANUAL_COMPLETION_H_

#include <functional>
#include <string>
#include <vector>

#include "manual/command_description.h"

namespace gridfold::manual {

// Each script completes commands, options, the values that an option lists, and files where an
// option or an argument names one.
std::string WriteBashCompletion(const CommandDescription& program);
std::string WriteZshCompletion(const CommandDescription& program);
std::string WriteFishCompletion(const CommandDescription& program);

// Calls `visit` for the program and every command below it, with the options of those above the
// command, which a command takes as well.
void ForEachCommand(
    const CommandDescription& program,
    const std::function<void(const CommandDescription& command,
                             const std::vector<OptionDescription>& inherited)>& visit);

// The text up to its first full stop or colon, for a list of choices.
std::string Brief(const std::string& text);

}  // namespace gridfold::manual

#endif  // GRIDFOLD_MANUAL_COMPLETION_H_
