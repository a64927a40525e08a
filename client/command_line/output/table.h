// Tables with aligned columns.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_TABLE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_TABLE_H_

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "client/command_line/output/terminal.h"

namespace gridfold::client {

enum class Alignment { kLeft, kRight };

// Collects rows and prints them, two spaces between columns. The last column is not padded.
class Table {
 public:
  explicit Table(std::vector<Alignment> alignments) : alignments_(std::move(alignments)) {}

  // As many cells as there are columns. The heading is optional.
  void SetHeading(std::vector<std::string> cells) { heading_ = std::move(cells); }
  void AddRow(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  void Print(const TextStyle& style, std::ostream& out) const;

 private:
  std::vector<int> Widths() const;
  std::string FormatRow(const std::vector<std::string>& cells,
                        const std::vector<int>& widths) const;

  std::vector<Alignment> alignments_;
  std::vector<std::string> heading_;
  std::vector<std::vector<std::string>> rows_;
};

// `text` with spaces before or after it, to take `width` columns.
std::string Pad(const std::string& text, int width, Alignment alignment);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_TABLE_H_
