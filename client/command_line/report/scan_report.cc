#include "client/command_line/report/scan_report.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "client/command_line/output/number_format.h"
#include "client/command_line/output/table.h"
#include "gridfold/array_view.h"

namespace gridfold::client {
namespace {

void PrintEnds(const ScanResult& scan, uint64_t rows_max, const TextStyle& style,
               std::ostream& out) {
  const uint64_t count = scan.element_count();
  const ArrayView results(scan.element_type, scan.data.data(), count);
  const bool all = rows_max == 0 || count <= rows_max;
  const uint64_t head = all ? count : (rows_max + 1) / 2;
  const uint64_t tail = all ? 0 : rows_max - head;
  Table table({Alignment::kRight, Alignment::kRight});
  table.SetHeading({"index", std::string(ElementTypeName(scan.element_type))});
  const auto add = [&](uint64_t index) {
    table.AddRow({FormatPosition(scan.shape, index), FormatElement(results, index)});
  };
  for (uint64_t index = 0; index < head; ++index) add(index);
  if (!all) table.AddRow({style.unicode ? "⋮" : ":", style.unicode ? "⋮" : ":"});
  for (uint64_t index = count - tail; index < count; ++index) add(index);
  table.Print(style, out);
}

}  // namespace

void PrintScan(const Answer<ScanResult>& answer, const std::string& output, uint64_t rows_max,
               const TextStyle& style, std::ostream& out) {
  const ScanResult& scan = answer.result;
  out << DescribeInput(answer.input, style) << "\n\n";
  if (scan.resident_array) {
    out << "the server has " << FormatShape(scan.shape, style.unicode) << " "
        << ElementTypeName(scan.element_type) << " elements in array " << scan.resident_array->name
        << "\n";
  } else if (output.empty()) {
    PrintEnds(scan, rows_max, style, out);
  } else {
    out << "wrote " << FormatShape(scan.shape, style.unicode) << " "
        << ElementTypeName(scan.element_type) << " elements to " << output << "\n";
  }
  out << "\n" << DescribeExecution(scan.execution, answer.round_trip_time, style) << "\n";
}

}  // namespace gridfold::client
