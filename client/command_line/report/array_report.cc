#include "client/command_line/report/array_report.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "client/command_line/output/number_format.h"
#include "client/command_line/output/table.h"

namespace gridfold::client {

namespace {

// Of a sharded array all, with commas between them.
std::string FormatDevices(const ArrayDescription& array) {
  if (array.shards.empty()) return absl::StrCat(array.device);
  return absl::StrJoin(array.shards, ",", [](std::string* text, const ArrayShard& shard) {
    absl::StrAppend(text, shard.device);
  });
}

}  // namespace

void PrintArrays(std::span<const ArrayDescription> arrays, const TextStyle& style,
                 std::ostream& out) {
  if (arrays.empty()) {
    out << "no arrays\n";
    return;
  }
  Table table({Alignment::kLeft, Alignment::kRight, Alignment::kLeft, Alignment::kRight,
               Alignment::kRight, Alignment::kRight, Alignment::kRight});
  table.SetHeading({"name", "shape", "type", "size", "device", "idle", "expires after"});
  for (const ArrayDescription& array : arrays) {
    table.AddRow({array.name, FormatShape(array.shape, style.unicode),
                  std::string(ElementTypeName(array.element_type)), FormatBytes(array.size_bytes),
                  FormatDevices(array),
                  absl::FormatDuration(absl::Trunc(array.idle_time, absl::Seconds(1))),
                  absl::FormatDuration(array.idle_expiry)});
  }
  table.Print(style, out);
}

}  // namespace gridfold::client
