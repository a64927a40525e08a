// What the terminal can show.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_TERMINAL_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_TERMINAL_H_

#include <string>

#include "absl/strings/string_view.h"

namespace gridfold::client {

// How text is drawn on one output.
struct TextStyle {
  int width = 80;       // Columns.
  bool unicode = true;  // Else plain ASCII.
  bool colour = false;

  // `text` in the colour, where there are colours.
  std::string Bold(absl::string_view text) const;
  std::string Dim(absl::string_view text) const;
  std::string Bar(absl::string_view text) const;
  std::string Error(absl::string_view text) const;

  // What stands between the parts of a line.
  absl::string_view separator() const { return unicode ? " · " : " | "; }
};

// The style of standard output or standard error: UTF-8 by the locale, which it reads from the
// environment; the width of the terminal, or that of COLUMNS; colours on a terminal only, unless
// NO_COLOR is set or TERM is "dumb".
TextStyle DetectStyle(int file_descriptor);

// Whether somebody watches `file_descriptor`.
bool IsTerminal(int file_descriptor);

// Columns that UTF-8 text takes, where each character takes one.
int DisplayWidth(absl::string_view text);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_TERMINAL_H_
