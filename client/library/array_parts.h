// Arrays cut into consecutive parts, whose answers make the answer for the whole.
#ifndef GRIDFOLD_CLIENT_LIBRARY_ARRAY_PARTS_H_
#define GRIDFOLD_CLIENT_LIBRARY_ARRAY_PARTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "gridfold/array_view.h"
#include "gridfold/histogram.h"
#include "gridfold/reduction.h"

namespace gridfold::client {

// Views that go beyond what is said here are never made: an array whose shape does not match its
// elements, or segments that do not, are left to the server's judgement.

struct ReductionPart {
  ArrayView array;
  ReductionOptions options;
};

struct ReductionParts {
  // At least two; none where the reduction cannot be cut, or is not larger than one part.
  std::vector<ReductionPart> parts;
  // Whether the groups go through all parts, whose accumulators are to be merged. Otherwise each
  // part has groups of its own, and its values follow those of the part before.
  bool are_merged = true;
  uint64_t part_bytes_max = 0;  // Of the largest one.
};

// Cuts an array into parts of about `part_bytes`.
ReductionParts SplitReduction(const ArrayView& array, const ReductionOptions& options,
                              uint64_t part_bytes);

struct HistogramPart {
  ArrayView array;
  HistogramOptions options;  // With the parts of the arrays beside the samples.
};

// As ReductionParts.
struct HistogramParts {
  std::vector<HistogramPart> parts;
  bool are_merged = true;
  uint64_t part_bytes_max = 0;  // Of all arrays together.
};

// Cuts samples, with what goes with them, into parts of about `part_bytes` of all arrays together.
HistogramParts SplitHistogram(const ArrayView& array, const HistogramOptions& options,
                              uint64_t part_bytes);

// Whether a shape, where the array has one, is one that a server takes, of as many elements as the
// array.
bool HasShapeOfElements(const ArrayView& array);

// Whether the elements can be sent in parts, as the groups are of a matrix, or of elements that
// stand in a row: the answer's shape then follows from its groups.
bool IsFlatOrMatrix(const ArrayView& array, const ReductionOptions& options);

// Whether a rule says how many bins there are: it looks at all samples together.
bool HasRule(const HistogramOptions& options);

// Whether some bins have no bounds, or a rule: their edges follow from the samples.
bool HasRangeToFind(const HistogramOptions& options);

// Whether products of floating-point elements are asked for: they depend on where in the whole the
// elements stand, so neither a stream nor parts may carry these.
bool HasProductOfFloats(ElementType type, const ReductionOptions& options);

// The array where it is one of the caller's memory; else nullptr.
const ArrayView* ViewOf(const std::optional<ArrayInput>& input);

// Whether samples or weights are bool, which a server takes of whole arrays only.
bool HasTruths(const ArrayView& array, const HistogramOptions& options);

// Whether the arrays beside the samples, where there are any, are the caller's too, and have as
// many elements.
bool HaveEqualCounts(const ArrayView& array, const HistogramOptions& options);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_ARRAY_PARTS_H_
