// How an array is split into groups, and what its NaNs and overflows do: options that reductions
// and scans share.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_GROUPING_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_GROUPING_H_

#include <cstdint>
#include <variant>
#include <vector>

namespace gridfold::client {

// The whole array is one group.
struct WholeArray {};

// Groups along an axis, as in NumPy. Of a matrix: 0 makes one group of each column, 1 of each row.
struct Axis {
  uint32_t axis;
};

// Groups along any number of axes together, in any order, as in NumPy: -1 is the last one. Scans
// take one. With none, every element is a group.
struct Axes {
  std::vector<int32_t> axes;
};

// Ragged segments of a one-dimensional array: segment i holds [offsets[i], offsets[i + 1]). There
// is one offset more than there are segments. They do not decrease; the first is 0, the last the
// number of elements.
struct Segments {
  std::vector<uint64_t> offsets;
};

using Grouping = std::variant<WholeArray, Axis, Segments, Axes>;

// What a NaN among floating-point elements does. The numbers are those of the wire.
enum class NanPolicy {
  kPropagate = 1,  // It makes sums, means, minima and the like NaN.
  kIgnore = 2,     // It is skipped.
};

// What an integer result outside its type does. The numbers are those of the wire.
enum class OverflowPolicy {
  kError = 1,  // The call fails with OUT_OF_RANGE.
  kWrap = 2,   // The result wraps around.
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_GROUPING_H_
