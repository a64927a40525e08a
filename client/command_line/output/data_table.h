// Tables for programs and for documents: every value in full.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_DATA_TABLE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_DATA_TABLE_H_

#include <string>
#include <vector>

namespace gridfold::client {

// As many cells in every row as in the heading.
struct DataTable {
  std::vector<std::string> heading = {};
  std::vector<std::vector<std::string>> rows = {};
};

// RFC 4180 with line ends of Unix: fields with delimiters, quotes or line ends are in quotes.
std::string ToCsv(const DataTable& table);

// As GitHub and most others read it.
std::string ToMarkdown(const DataTable& table);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_DATA_TABLE_H_
