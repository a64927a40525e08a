#include "client/command_line/output/data_table.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace gridfold::client {
namespace {

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

std::string CsvLine(const std::vector<std::string>& cells) {
  return absl::StrCat(absl::StrJoin(cells, ",",
                                    [](std::string* line, const std::string& cell) {
                                      line->append(CsvField(cell));
                                    }),
                      "\n");
}

std::string MarkdownLine(const std::vector<std::string>& cells) {
  return absl::StrCat(
      "| ",
      absl::StrJoin(
          cells, " | ",
          [](std::string* line, const std::string& cell) {
            line->append(absl::StrReplaceAll(cell, {{"|", "\\|"}, {"\n", " "}, {"\r", " "}}));
          }),
      " |\n");
}

}  // namespace

std::string ToCsv(const DataTable& table) {
  std::string text = CsvLine(table.heading);
  for (const std::vector<std::string>& row : table.rows) text += CsvLine(row);
  return text;
}

std::string ToMarkdown(const DataTable& table) {
  std::string text = MarkdownLine(table.heading);
  text += MarkdownLine(std::vector<std::string>(table.heading.size(), "---"));
  for (const std::vector<std::string>& row : table.rows) text += MarkdownLine(row);
  return text;
}

}  // namespace gridfold::client
