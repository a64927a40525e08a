#include "client/command_line/output/table.h"

#include <algorithm>
#include <cstddef>

namespace gridfold::client {

std::string Pad(const std::string& text, int width, Alignment alignment) {
  const std::string spaces(static_cast<size_t>(std::max(0, width - DisplayWidth(text))), ' ');
  return alignment == Alignment::kLeft ? text + spaces : spaces + text;
}

std::vector<int> Table::Widths() const {
  std::vector<int> widths(alignments_.size(), 0);
  const auto widen = [&](const std::vector<std::string>& cells) {
    for (size_t i = 0; i < cells.size(); ++i) {
      widths[i] = std::max(widths[i], DisplayWidth(cells[i]));
    }
  };
  widen(heading_);
  for (const auto& row : rows_) widen(row);
  return widths;
}

std::string Table::FormatRow(const std::vector<std::string>& cells,
                             const std::vector<int>& widths) const {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += "  ";
    const bool unpadded = i + 1 == cells.size() && alignments_[i] == Alignment::kLeft;
    line += unpadded ? cells[i] : Pad(cells[i], widths[i], alignments_[i]);
  }
  return line;
}

void Table::Print(const TextStyle& style, std::ostream& out) const {
  const std::vector<int> widths = Widths();
  if (!heading_.empty()) out << style.Bold(FormatRow(heading_, widths)) << "\n";
  for (const auto& row : rows_) out << FormatRow(row, widths) << "\n";
}

}  // namespace gridfold::client
