#include "client/command_line/output/terminal.h"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace gridfold::client {
namespace {

// Narrower than this nothing can be drawn; wider than that bars say no more.
constexpr int kWidthMin = 40;
constexpr int kWidthMax = 160;
constexpr int kWidthDefault = 80;

std::string Escape(bool colour, absl::string_view code, absl::string_view text) {
  if (!colour || text.empty()) return std::string(text);
  return absl::StrCat("\x1b[", code, "m", text, "\x1b[0m");
}

int DetectWidth(int file_descriptor) {
  int width = kWidthDefault;
  winsize size = {};
  const char* const columns = std::getenv("COLUMNS");
  if (ioctl(file_descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    width = size.ws_col;
  } else if (columns != nullptr && !absl::SimpleAtoi(columns, &width)) {
    width = kWidthDefault;
  }
  return std::clamp(width, kWidthMin, kWidthMax);
}

bool IsSet(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

std::string TextStyle::Bold(absl::string_view text) const { return Escape(colour, "1", text); }
std::string TextStyle::Dim(absl::string_view text) const { return Escape(colour, "2", text); }
std::string TextStyle::Bar(absl::string_view text) const { return Escape(colour, "36", text); }
std::string TextStyle::Error(absl::string_view text) const { return Escape(colour, "1;31", text); }

TextStyle DetectStyle(int file_descriptor) {
  std::setlocale(LC_CTYPE, "");
  const char* const term = std::getenv("TERM");
  const bool dumb = term != nullptr && absl::string_view(term) == "dumb";
  return {.width = DetectWidth(file_descriptor),
          .unicode = absl::string_view(nl_langinfo(CODESET)) == "UTF-8",
          .colour = IsTerminal(file_descriptor) && !IsSet("NO_COLOR") && !dumb};
}

bool IsTerminal(int file_descriptor) { return isatty(file_descriptor) == 1; }

int DisplayWidth(absl::string_view text) {
  // Continuation bytes are 10xxxxxx.
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
  }));
}

}  // namespace gridfold::client
