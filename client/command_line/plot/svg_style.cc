#include "client/command_line/plot/svg_style.h"

#include <array>
#include <cstddef>

#include "absl/strings/str_format.h"

namespace gridfold::client {
namespace {

struct Colours {
  const char* paper;
  const char* text;
  const char* line;
  std::array<const char*, 8> series;
};

constexpr Colours kLight = {.paper = "#ffffff",
                            .text = "#656d76",
                            .line = "#d8dee4",
                            .series = {"#2563ab", "#c2590c", "#2f7d4f", "#9b3f8f", "#8a6d00",
                                       "#00798c", "#b03a48", "#6b6b6b"}};
constexpr Colours kDark = {.paper = "#0d1117",
                           .text = "#9198a1",
                           .line = "#30363d",
                           .series = {"#6cb0f5", "#f0a05a", "#6fcf97", "#d59bd0", "#dcc35c",
                                      "#5cc8d8", "#f08a97", "#b0b0b0"}};

std::string Rules(const Colours& colours) {
  std::string rules = absl::StrFormat(
      ".paper { fill: %s; } .label { fill: %s; } .axis { stroke: %s; } .grid { stroke: %s; }\n",
      colours.paper, colours.text, colours.text, colours.line);
  for (size_t i = 0; i < colours.series.size(); ++i) {
    absl::StrAppendFormat(&rules,
                          "path.s%1$d { stroke: %2$s; } circle.s%1$d, rect.s%1$d { fill: %2$s; }\n",
                          i, colours.series[i]);
  }
  return rules;
}

}  // namespace

std::string ChartStyle() {
  return ".label { font-size: 12px; } .grid { stroke-width: 0.6; }\n"
         "path { fill: none; stroke-width: 1.8; }\n" +
         Rules(kLight) + "@media screen and (prefers-color-scheme: dark) {\n" + Rules(kDark) +
         "}\n";
}

}  // namespace gridfold::client
