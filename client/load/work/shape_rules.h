// What the dimensions, views, groups and masks of a kind of request must be.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_SHAPE_RULES_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_SHAPE_RULES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "client/load/work/scenario.h"

namespace gridfold::load {

// What is generated is kept with four bytes an element while it is prepared.
inline constexpr uint64_t kElementCountMax = uint64_t{1} << 34;

// Each returns INVALID_ARGUMENT that names the field at fault, one of the kind at `path`. The later
// ones are for what the earlier ones find right.
absl::Status ValidateRows(const RequestKind& kind, const std::string& path);
absl::Status ValidateElements(const RequestKind& kind, const std::string& path);
absl::Status ValidateView(const RequestKind& kind, const std::string& path);
absl::Status ValidateGroups(const RequestKind& kind, const std::string& path);
absl::Status ValidateAxes(const RequestKind& kind, const std::string& path);
absl::Status ValidateMask(const RequestKind& kind, const std::string& path);

// The elements of the smallest of a kind's arrays, and of its largest.
uint64_t ElementCountMin(const RequestKind& kind);
uint64_t ElementCountMax(const RequestKind& kind);

// The elements that an operation is about at most, and those that every group has at least, and at
// most; not of groups by key.
uint64_t OperationElementsMax(const RequestKind& kind);
uint64_t GroupElementsMin(const RequestKind& kind);
uint64_t GroupElementsMax(const RequestKind& kind);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_SHAPE_RULES_H_
