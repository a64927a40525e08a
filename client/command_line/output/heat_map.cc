#include "client/command_line/output/heat_map.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "client/command_line/output/table.h"

namespace gridfold::client {
namespace {

// Columns kept for the labels of y.
constexpr int kLabelColumns = 16;

// A value is drawn at most this broad.
constexpr size_t kRepeatMax = 4;

constexpr std::array<absl::string_view, 5> kUnicodeShades = {" ", "░", "▒", "▓", "█"};
constexpr std::array<absl::string_view, 5> kAsciiShades = {" ", ".", ":", "+", "#"};

// Every value above nothing has a shade.
absl::string_view Shade(double value, double largest, bool unicode) {
  const auto& shades = unicode ? kUnicodeShades : kAsciiShades;
  if (!(value > 0) || !(largest > 0)) return shades[0];
  const double steps = static_cast<double>(shades.size() - 1);
  return shades[static_cast<size_t>(std::clamp(std::ceil(value / largest * steps), 1.0, steps))];
}

}  // namespace

int HeatMapColumns(int width) { return width - kLabelColumns; }

void PrintHeatMap(const HeatMap& map, const TextStyle& style, std::ostream& out) {
  if (map.values.empty()) return;
  int label_width = 0;
  for (const std::string& label : map.y_labels) {
    label_width = std::max(label_width, DisplayWidth(label));
  }
  const size_t columns = static_cast<size_t>(HeatMapColumns(style.width));
  const size_t repeat = std::clamp<size_t>(columns / map.x_count, 1, kRepeatMax);
  const double largest = *std::max_element(map.values.begin(), map.values.end());
  const std::string frame = style.unicode ? "│" : "|";
  for (size_t y = map.y_count; y-- > 0;) {
    std::string line;
    for (size_t x = 0; x < map.x_count; ++x) {
      const absl::string_view shade =
          Shade(map.values[x * map.y_count + y], largest, style.unicode);
      for (size_t i = 0; i < repeat; ++i) line.append(shade.data(), shade.size());
    }
    out << Pad(map.y_labels[y], label_width, Alignment::kRight) << " " << frame << style.Bar(line)
        << frame << "\n";
  }
  const int first_width =
      std::max(static_cast<int>(map.x_count * repeat) + 2 - DisplayWidth(map.x_last_label),
               DisplayWidth(map.x_first_label) + 1);
  out << std::string(static_cast<size_t>(label_width) + 1, ' ')
      << Pad(map.x_first_label, first_width, Alignment::kLeft) << map.x_last_label << "\n";
}

}  // namespace gridfold::client
