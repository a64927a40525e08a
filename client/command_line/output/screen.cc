#include "client/command_line/output/screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/command_line/output/terminal.h"

namespace gridfold::client {
namespace {

volatile std::sig_atomic_t ended = 0;

void End(int) { ended = 1; }

void Handle(void (*handler)(int)) {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, handler);
}

size_t RowsOfTerminal() {
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 2) return 24;
  return size.ws_row;
}

}  // namespace

std::unique_ptr<Screen> Screen::Open(std::ostream& out) {
  if (!IsTerminal(STDIN_FILENO) || !IsTerminal(STDOUT_FILENO)) return nullptr;
  return std::unique_ptr<Screen>(new Screen(out));
}

Screen::Screen(std::ostream& out) : out_(out) {
  tcgetattr(STDIN_FILENO, &before_);
  termios keys = before_;
  // Ctrl-C stays a signal.
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  ended = 0;
  Handle(End);
}

Screen::~Screen() {
  Handle(SIG_DFL);
  tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

void Screen::Show(const std::vector<std::string>& lines) {
  // To the first of the lines, and everything below away.
  if (line_count_ > 0) out_ << absl::StrCat("\x1b[", line_count_, "A\r\x1b[J");
  line_count_ = std::min(lines.size(), RowsOfTerminal() - 1);
  for (size_t i = 0; i < line_count_; ++i) out_ << lines[i] << "\n";
  out_.flush();
}

bool Screen::WaitForEnd(absl::Duration time) {
  const absl::Time end = absl::Now() + time;
  while (ended == 0) {
    const absl::Duration left = end - absl::Now();
    if (left <= absl::ZeroDuration()) return false;
    pollfd input = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    const int ready = poll(&input, 1, static_cast<int>(absl::ToInt64Milliseconds(left)) + 1);
    if (ready < 0 && errno != EINTR) return true;
    if (ready <= 0) continue;
    char key = 0;
    if (read(STDIN_FILENO, &key, 1) <= 0) return true;
    if (key == 'q' || key == 'Q') return true;
  }
  return true;
}

}  // namespace gridfold::client
