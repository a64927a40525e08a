// The groups of a scan whose array is cut into parts: where they start, and the plan of a part.
#ifndef GRIDFOLD_KERNELS_FOLDS_SCAN_GROUPS_H_
#define GRIDFOLD_KERNELS_FOLDS_SCAN_GROUPS_H_

#include <cstdint>
#include <optional>

#include "kernels/contract/scan.h"

namespace gridfold::kernels {

class ScanGroups {
 public:
  // Requires a scan that is not by columns.
  explicit ScanGroups(ScanPlan plan);

  uint64_t element_count() const { return plan_.array.element_count; }
  bool is_reverse() const { return plan_.direction == ScanDirection::kReverse; }

  // Whether results depend on where in the tree (numerics/scans/tree.h) elements stand.
  bool OrderMatters() const;

  // Whether the elements before and behind this place are of different groups.
  bool IsBoundary(uint64_t element) const;

  // Where, in the scan's direction, the last group starts that starts among these elements: how
  // many of them come before.
  std::optional<uint64_t> LastStart(uint64_t first_element, uint64_t count) const;

  // The plan of so many elements of one group, and of these, of whichever groups they are.
  ScanPlan PlanOfOneGroup(uint64_t count) const;
  ScanPlan PlanOf(uint64_t first_element, uint64_t count) const;

 private:
  // The last boundary up to a place, and the first one from it on.
  uint64_t BoundaryUpTo(uint64_t element) const;
  uint64_t BoundaryFrom(uint64_t element) const;

  const ScanPlan plan_;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_SCAN_GROUPS_H_
