#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <iostream>

#include "absl/synchronization/mutex.h"
#include "client/load/program.h"

namespace {

std::atomic<bool> is_interrupted = false;

// The first interrupt ends the run with its report, the second one the program.
void Interrupt(int signal) {
  is_interrupted = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

int main(int argc, char** argv) {
  // Abseil looks for locks that are taken in circles, also as distributions build it for releases:
  // 4 % of the processor time of small calls. Tests leave that on.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  std::signal(SIGINT, Interrupt);
  std::signal(SIGTERM, Interrupt);
  // A reader that goes away, such as head, ends a write with an error instead of the program.
  std::signal(SIGPIPE, SIG_IGN);
  std::function<void(const std::string&)> show;
  if (gridfold::client::IsTerminal(STDERR_FILENO)) {
    show = [](const std::string& text) { std::cerr << text << std::flush; };
  }
  const gridfold::client::ExitCode code = gridfold::load::RunProgram(
      argc, argv, is_interrupted, show, gridfold::client::DetectStyle(STDOUT_FILENO),
      gridfold::client::DetectStyle(STDERR_FILENO), std::cout, std::cerr);
  gridfold::client::ExitWith(code);
}
