#include "client/command_line/output/bar_chart.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "client/command_line/output/table.h"

namespace gridfold::client {
namespace {

constexpr int kBarColumnsMin = 10;

// Blocks of 1 to 8 eighths of a column.
constexpr std::array<absl::string_view, 8> kBlocks = {"▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};

}  // namespace

std::string DrawBar(double columns, bool unicode) {
  if (!(columns > 0)) return "";
  if (!unicode) {
    return std::string(static_cast<size_t>(std::max(1.0, std::round(columns))), '#');
  }
  const int eighths = std::max(1, static_cast<int>(std::lround(columns * 8)));
  std::string bar;
  for (int i = 0; i < eighths / 8; ++i) bar += std::string(kBlocks[7]);
  if (eighths % 8 > 0) bar += std::string(kBlocks[static_cast<size_t>(eighths % 8) - 1]);
  return bar;
}

void PrintBars(const std::vector<Bar>& bars, const TextStyle& style, std::ostream& out) {
  int label_width = 0;
  int value_width = 0;
  double longest = 0;
  for (const Bar& bar : bars) {
    label_width = std::max(label_width, DisplayWidth(bar.label));
    value_width = std::max(value_width, DisplayWidth(bar.value));
    if (std::isfinite(bar.length)) longest = std::max(longest, bar.length);
  }
  const int columns = std::max(kBarColumnsMin, style.width - label_width - value_width - 4);
  for (const Bar& bar : bars) {
    const double share = longest > 0 ? std::min(bar.length / longest, 1.0) : 0;
    const std::string drawn = DrawBar(share * columns, style.unicode);
    out << Pad(bar.label, label_width, Alignment::kRight) << "  "
        << Pad(bar.value, value_width, Alignment::kRight);
    if (!drawn.empty()) out << "  " << style.Bar(drawn);
    out << "\n";
  }
}

}  // namespace gridfold::client
