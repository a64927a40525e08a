#include "client/command_line/plot/png_image.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/command_line/child_process.h"

namespace gridfold::client {

absl::StatusOr<std::string> ToPng(const std::string& svg) {
  const absl::StatusOr<TemporaryFile> from = OpenTemporaryFile();
  if (!from.ok()) return from.status();
  const absl::StatusOr<TemporaryFile> to = OpenTemporaryFile();
  if (!to.ok()) return to.status();
  if (std::fwrite(svg.data(), 1, svg.size(), from->get()) != svg.size() ||
      std::fflush(from->get()) != 0) {
    return absl::ErrnoToStatus(errno, "a temporary file");
  }
  std::rewind(from->get());
  // Twice as wide in pixels as the drawing is in its units.
  absl::StatusOr<ChildProcess> converter = ChildProcess::Start(
      {"rsvg-convert", "--width=1120"},
      {.input = fileno(from->get()), .output = fileno(to->get()), .error = STDERR_FILENO});
  if (!converter.ok()) {
    return absl::FailedPreconditionError(
        "--plot: .png is made by rsvg-convert, which is not here (Debian's librsvg2-bin has it); "
        ".svg and .html need no other program");
  }
  const std::string failure = converter->Wait();
  std::string png = ReadTemporaryFile(to->get());
  if (failure.empty() && absl::StartsWith(png, "\x89PNG")) return png;
  return absl::InternalError(absl::StrCat("--plot: rsvg-convert has made no image: ", failure));
}

}  // namespace gridfold::client
