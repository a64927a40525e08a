// Lines on a terminal that are drawn again and again, until somebody has seen enough.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_SCREEN_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_SCREEN_H_

#include <termios.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace gridfold::client {

// While it exists, standard input gives keys as they are pressed, and Ctrl-C and SIGTERM end
// WaitForEnd instead of the program: the last lines stay, and the terminal is as it was. One at a
// time; not thread-safe.
class Screen {
 public:
  // nullptr where standard input and standard output are not both a terminal. Writes to `out`,
  // which is standard output.
  static std::unique_ptr<Screen> Open(std::ostream& out);
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // In place of the lines that were shown before. Lines below the terminal's last one are left out.
  void Show(const std::vector<std::string>& lines);

  // Waits so long for q or Ctrl-C: whether it came, or nobody can press it any more.
  bool WaitForEnd(absl::Duration time);

 private:
  explicit Screen(std::ostream& out);

  std::ostream& out_;
  termios before_ = {};
  size_t line_count_ = 0;  // On the terminal.
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_SCREEN_H_
