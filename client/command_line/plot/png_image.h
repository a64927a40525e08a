// Drawings as images.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_PLOT_PNG_IMAGE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_PLOT_PNG_IMAGE_H_

#include <string>

#include "absl/status/statusor.h"

namespace gridfold::client {

// The image, as PNG, that rsvg-convert makes of an SVG drawing with style and paper. It is a
// program of its own (Debian's librsvg2-bin): its libraries would take longer to load than most
// commands take. FAILED_PRECONDITION where there is no such program on the PATH, INTERNAL where it
// fails.
absl::StatusOr<std::string> ToPng(const std::string& svg);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_PLOT_PNG_IMAGE_H_
