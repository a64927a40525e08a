#include "client/command_line/plot/plot_file.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/command_line/output/output_file.h"
#include "client/command_line/plot/png_image.h"
#include "client/command_line/plot/svg_axes.h"
#include "client/command_line/plot/svg_style.h"

namespace gridfold::client {
namespace {

constexpr absl::string_view kSvgTag = "<svg ";

bool IsPage(const std::string& path) { return absl::EndsWith(path, ".html"); }

bool IsImage(const std::string& path) { return absl::EndsWith(path, ".png"); }

// The drawing with what it needs where no page surrounds it: its language, style and paper.
std::string StandAlone(const std::string& title, absl::string_view svg) {
  svg.remove_prefix(kSvgTag.size());
  const size_t tag_end = svg.find('>') + 1;
  return absl::StrCat(
      kSvgTag, "xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\" ",
      svg.substr(0, tag_end), "\n<title>", EscapeHtml(title), "</title>\n<style>", ChartStyle(),
      "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>", svg.substr(tag_end));
}

std::string Page(const std::string& title, const std::string& svg) {
  return absl::StrCat(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
      EscapeHtml(title),
      "</title>\n<style>\n:root { color-scheme: light dark; }\n"
      "body { font: 15px/1.5 system-ui, sans-serif; max-width: 1120px; margin: 2em auto; "
      "padding: 0 1.5em; }\nh1 { font-size: 1.3em; overflow-wrap: anywhere; } "
      "svg { width: 100%; "
      "height: auto; }\n",
      ChartStyle(), "</style>\n</head>\n<body>\n<h1>", EscapeHtml(title), "</h1>\n", svg,
      "</body>\n</html>\n");
}

}  // namespace

absl::Status CheckPlotPath(const std::string& path) {
  if (IsPage(path) || IsImage(path) || absl::EndsWith(path, ".svg")) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--plot: '", path, "' ends in none of .svg, .html and .png"));
}

absl::Status WritePlot(const std::string& path, const std::string& title, const std::string& svg) {
  if (absl::Status status = CheckPlotPath(path); !status.ok()) return status;
  if (!IsImage(path)) {
    return WriteFile(path, {IsPage(path) ? Page(title, svg) : StandAlone(title, svg)});
  }
  const absl::StatusOr<std::string> png = ToPng(StandAlone(title, svg));
  return png.ok() ? WriteFile(path, {*png}) : png.status();
}

}  // namespace gridfold::client
