#include "manual/completion.h"

#include <algorithm>

namespace gridfold::manual {
namespace {

void Visit(const CommandDescription& command, const std::vector<OptionDescription>& inherited,
           const std::function<void(const CommandDescription&,
                                    const std::vector<OptionDescription>&)>& visit) {
  visit(command, inherited);
  std::vector<OptionDescription> passed_on = inherited;
  for (const OptionDescription& option : command.options) {
    const std::string& name = option.names.back();
    // Each command has a help of its own, and only the program a version.
    if (name != "--help" && name != "--version") passed_on.push_back(option);
  }
  for (const CommandDescription& below : command.commands) Visit(below, passed_on, visit);
}

}  // namespace

void ForEachCommand(const CommandDescription& program,
                    const std::function<void(const CommandDescription&,
                                             const std::vector<OptionDescription>&)>& visit) {
  Visit(program, {}, visit);
}

std::string Brief(const std::string& text) {
  const size_t end = std::min(text.find(". "), text.find(": "));
  std::string brief = text.substr(0, end);
  while (!brief.empty() && brief.back() == '.') brief.pop_back();
  return brief;
}

}  // namespace gridfold::manual
