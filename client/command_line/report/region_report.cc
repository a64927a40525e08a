#include "client/command_line/report/region_report.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/command_line/output/number_format.h"
#include "client/command_line/output/table.h"

namespace gridfold::client {

void PrintRegions(std::span<const RegionDescription> regions, const TextStyle& style,
                  std::ostream& out) {
  if (regions.empty()) {
    out << "no regions\n";
    return;
  }
  Table table({Alignment::kLeft, Alignment::kRight, Alignment::kRight, Alignment::kRight,
               Alignment::kRight});
  table.SetHeading({"name", "size", "owner", "idle", "expires after"});
  for (const RegionDescription& region : regions) {
    table.AddRow({region.name, FormatBytes(region.size_bytes),
                  region.owner_process_id ? absl::StrCat(*region.owner_process_id) : "",
                  absl::FormatDuration(absl::Trunc(region.idle_time, absl::Seconds(1))),
                  absl::FormatDuration(region.idle_expiry)});
  }
  table.Print(style, out);
}

}  // namespace gridfold::client
