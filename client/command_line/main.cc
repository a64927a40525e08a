#include <unistd.h>

#include <csignal>
#include <iostream>

#include "client/command_line/program.h"

int main(int argc, char** argv) {
  // A reader that goes away, such as head, ends a write with an error instead of the program.
  std::signal(SIGPIPE, SIG_IGN);
  const gridfold::client::ExitCode code = gridfold::client::RunProgram(
      argc, argv, gridfold::client::DetectStyle(STDOUT_FILENO),
      gridfold::client::DetectStyle(STDERR_FILENO), std::cout, std::cerr);
  gridfold::client::ExitWith(code);
}
