#include "manual/man_page.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace gridfold::manual {
namespace {

// Text as man shows it literally. A line must not begin with what would be a request.
std::string Escape(absl::string_view text) {
  std::string escaped = absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}});
  if (absl::StartsWith(escaped, ".") || absl::StartsWith(escaped, "'")) {
    escaped.insert(0, "\\&");
  }
  return escaped;
}

std::string Bold(absl::string_view text) { return absl::StrCat("\\fB", Escape(text), "\\fR"); }

std::string Italic(absl::string_view text) { return absl::StrCat("\\fI", Escape(text), "\\fR"); }

std::string Section(absl::string_view title) {
  return absl::StrCat(".SH ", absl::AsciiStrToUpper(title), "\n");
}

std::string PageName(const CommandDescription& command) { return absl::StrJoin(command.path, "-"); }

std::string Synopsis(const CommandDescription& command) {
  std::string line = Bold(command.name());
  for (const OptionDescription& argument : command.arguments) {
    absl::StrAppend(&line, " [", Italic(argument.value_name), "]");
  }
  absl::StrAppend(&line, " [", Italic("option"), " ...]");
  if (!command.commands.empty()) absl::StrAppend(&line, " ", Italic("command"), " ...");
  return line + "\n";
}

std::string WriteOption(const OptionDescription& option) {
  std::string text = ".TP\n";
  absl::StrAppend(&text,
                  absl::StrJoin(option.names, ", ", [](std::string* out, const std::string& name) {
                    out->append(Bold(name));
                  }));
  if (option.takes_value()) {
    absl::StrAppend(&text, option.names.empty() ? "" : " ", Italic(option.value_name));
  }
  absl::StrAppend(&text, "\n", Escape(option.text), ".\n");
  if (!option.default_value.empty()) {
    absl::StrAppend(&text, "Default: ", Escape(option.default_value), ".\n");
  }
  if (!option.variable.empty()) {
    absl::StrAppend(&text, "Environment variable: ", Bold(option.variable), ".\n");
  }
  return text;
}

// Options under the headings that help has.
std::string WriteOptions(const std::vector<OptionDescription>& options) {
  std::string text;
  std::vector<std::string> groups;
  for (const OptionDescription& option : options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  for (const std::string& group : groups) {
    if (groups.size() > 1) absl::StrAppend(&text, ".SS ", Escape(group), "\n");
    for (const OptionDescription& option : options) {
      if (option.group == group) absl::StrAppend(&text, WriteOption(option));
    }
  }
  return text;
}

// A footer: a line that ends with a colon is a heading, indented lines are shown as they are.
std::string WriteFooter(absl::string_view footer) {
  std::string text;
  bool is_literal = false;
  for (absl::string_view line : absl::StrSplit(absl::StripAsciiWhitespace(footer), '\n')) {
    const bool is_indented = absl::ConsumePrefix(&line, "  ");
    if (is_indented != is_literal && !line.empty()) {
      absl::StrAppend(&text, is_indented ? ".nf\n" : ".fi\n");
      is_literal = is_indented;
    }
    const bool is_heading = !is_literal && absl::ConsumeSuffix(&line, ":");
    if (line.empty()) continue;
    absl::StrAppend(&text, is_heading ? Section(Escape(line)) : Escape(line) + "\n");
  }
  return is_literal ? text + ".fi\n" : text;
}

std::string WriteBelow(const CommandDescription& command) {
  std::string text = Section(command.name());
  absl::StrAppend(&text, Escape(command.text), ".\n.PP\n", Synopsis(command));
  absl::StrAppend(&text, WriteOptions(command.arguments), WriteOptions(command.options));
  return text;
}

std::string WriteCommandList(const CommandDescription& program, int section) {
  std::string text = Section("commands");
  for (const CommandDescription& command : program.commands) {
    absl::StrAppend(&text, ".TP\n", Bold(command.path.back()), "\n", Escape(command.text), ". See ",
                    Bold(PageName(command)), "(", section, ").\n");
  }
  return text;
}

ManPage WritePage(const CommandDescription& command, const CommandDescription& program, int section,
                  const std::string& date) {
  const bool is_program = &command == &program;
  std::string text =
      absl::StrCat(".\\\" Made from the program's own options; changes here are lost.\n.TH ",
                   absl::AsciiStrToUpper(PageName(command)), " ", section, " ", date, " \"",
                   program.version, "\" \"", program.path.front(), "\"\n");
  std::string summary = command.text;
  while (absl::EndsWith(summary, ".")) summary.pop_back();
  absl::StrAppend(&text, Section("name"), Escape(PageName(command)), " \\- ", Escape(summary), "\n",
                  Section("synopsis"), Synopsis(command), Section("description"), Escape(summary),
                  ".\n");
  if (!command.arguments.empty()) {
    absl::StrAppend(&text, Section("arguments"), WriteOptions(command.arguments));
  }
  absl::StrAppend(&text, Section("options"), WriteOptions(command.options));
  if (is_program) {
    if (!command.commands.empty()) absl::StrAppend(&text, WriteCommandList(command, section));
  } else {
    for (const CommandDescription& below : command.commands) {
      absl::StrAppend(&text, WriteBelow(below));
    }
    absl::StrAppend(&text, Section("see also"), Bold(PageName(program)), "(", section,
                    ") has the options of every command.\n");
  }
  absl::StrAppend(&text, WriteFooter(command.footer));
  return {absl::StrCat(PageName(command), ".", section), text};
}

}  // namespace

std::vector<ManPage> WriteManPages(const CommandDescription& program, int section,
                                   const std::string& date) {
  std::vector<ManPage> pages = {WritePage(program, program, section, date)};
  for (const CommandDescription& command : program.commands) {
    pages.push_back(WritePage(command, program, section, date));
  }
  return pages;
}

}  // namespace gridfold::manual
