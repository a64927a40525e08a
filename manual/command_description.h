// What a program's command line takes, as plain data, for whoever writes a manual of it.
#ifndef GRIDFOLD_MANUAL_COMMAND_DESCRIPTION_H_
#define GRIDFOLD_MANUAL_COMMAND_DESCRIPTION_H_

#include <map>
#include <string>
#include <vector>

#include "CLI/App.hpp"

namespace gridfold::manual {

// An option, a flag or a positional argument.
struct OptionDescription {
  std::vector<std::string> names;   // "-V", "--version"; of a positional argument none.
  std::string value_name;           // "FILE"; of a flag empty.
  std::string text;                 // What it is for, without a full stop.
  std::string default_value;        // As text, empty where there is none to tell.
  std::string variable;             // The environment variable that sets it too, or empty.
  std::string group;                // The heading under which help lists it.
  std::vector<std::string> values;  // Those that it takes, where there are few.
  bool takes_list = false;          // Of such values, with commas between.
  bool takes_path = false;          // Of a file.

  bool takes_value() const { return !value_name.empty(); }
};

// A program, or a command of it.
struct CommandDescription {
  std::vector<std::string> path;  // "gridfold", "array", "put".
  std::string text;
  std::string footer;   // Examples, exit codes and other paragraphs, as help shows them.
  std::string version;  // Of the program: "gridfold 0.1.0".
  std::vector<OptionDescription> options;
  std::vector<OptionDescription> arguments;  // Positional ones.
  std::vector<CommandDescription> commands;  // Below this one.

  std::string name() const;  // "gridfold array put".
};

// The values that stand for the name of a value: "TYPE" for those of element types. A name that
// ends in ",..." takes several of them.
using Vocabulary = std::map<std::string, std::vector<std::string>>;

// Describes `app` and the commands below it. The values of options are those of `vocabulary`, and
// those that a name of a value such as {low,normal,high} lists.
CommandDescription Describe(const CLI::App& app, const Vocabulary& vocabulary);

}  // namespace gridfold::manual

#endif  // GRIDFOLD_MANUAL_COMMAND_DESCRIPTION_H_
