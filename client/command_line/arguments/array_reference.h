// Arrays on the server as they are written on the command line: NAME; NAME[FIRST:COUNT], some of
// its elements or rows; or NAME{INDEX,...}, what NumPy's basic indices choose of it.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_ARRAY_REFERENCE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_ARRAY_REFERENCE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gridfold/resident_array.h"

namespace gridfold::client {

// How options show what they take.
inline constexpr char kReferenceForm[] = "NAME[FIRST:COUNT] | NAME{INDEX,...}";

// BEGIN:END:STEP, as NumPy reads it; negative numbers count from the end.
struct SliceIndex {
  std::optional<int64_t> begin = std::nullopt;
  std::optional<int64_t> end = std::nullopt;
  int64_t step = 1;
};

// `...`: all dimensions that no other index is about.
struct EllipsisIndex {};

// One index of a dimension, some of them, or all of several dimensions.
using BasicIndex = std::variant<int64_t, SliceIndex, EllipsisIndex>;

// An array that the command line names, before anybody knows its shape.
struct ArrayReference {
  std::string flag;  // For errors.
  std::string text;  // As it was written.
  std::string name;
  std::optional<ArraySlice> slice = std::nullopt;
  std::vector<BasicIndex> indices = {};  // None: the array is meant as `slice` says.
};

// INVALID_ARGUMENT names `flag` and what is wrong with the brackets. What is a name is left to the
// server.
absl::StatusOr<ArrayReference> ParseReference(absl::string_view flag, absl::string_view text);

// What the reference means of an array of `shape`, which matters only where there are indices: a
// slice where that is the same. INVALID_ARGUMENT names the flag where an index is outside, or where
// there are more than dimensions.
absl::StatusOr<ResidentArray> Resolve(const ArrayReference& reference,
                                      const std::vector<uint64_t>& shape);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_ARRAY_REFERENCE_H_
