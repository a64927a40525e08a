// Arrays that stay on the server, in the memory of its engine: sent once, used many times.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_RESIDENT_ARRAY_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_RESIDENT_ARRAY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gridfold/element_type.h"
#include "gridfold/element_view.h"

namespace gridfold::client {

// Consecutive elements of a one-dimensional array, or a run of another one along its first
// dimension.
struct ArraySlice {
  uint64_t first = 0;
  uint64_t count = 0;
};

// A dimension of a view: `count` indices of one of the array's dimensions, each `step` further than
// the one before.
struct ViewDimension {
  uint32_t axis = 0;  // The array's dimension, from 0. No other one of the view goes along it.
  uint64_t count = 0;
  int64_t step = 1;  // Negative: backwards.
};

// Elements of an array at regular distances, in any order of its dimensions, as NumPy's slices with
// steps, whole indices and transpositions choose them. Of an array of shape [480, 640, 3],
// a[::2, 639, ::-1].T is
//
//   StridedView{.first = {0, 639, 2}, .dimensions = {{2, 3, -1}, {0, 240, 2}}}
struct StridedView {
  // The index of its first element: one for each of the array's dimensions. Where no dimension goes
  // along one of these, all elements have this index.
  std::vector<uint64_t> first;
  // From the outermost in; none: one element, without dimensions.
  std::vector<ViewDimension> dimensions;
};

// An array on the server, or a part of it, as the input of an operation. Nothing is written through
// a view, and Client::ReadArray takes none of a sharded array.
struct ResidentArray {
  std::string name;
  std::optional<ArraySlice> slice = std::nullopt;  // Nothing: the whole array.
  std::optional<StridedView> view = std::nullopt;  // Not together with `slice`.
};

// The extents of what `part` means of an array of the extents `whole`.
std::vector<uint64_t> ShapeOf(const ResidentArray& part, const std::vector<uint64_t>& whole);

// Whether an array is on one device of the server or on all. A sharded array has consecutive
// elements, or rows, on each of them; all of them work on it, or one that copies the others'
// parts.
enum class ArrayPlacement : uint8_t {
  kDefault = 0,  // On one, unless none has room for so large an array.
  kOneDevice = 1,
  kSharded = 2,
};

// What Client::CreateArray makes.
struct NewArray {
  std::string name = "";  // Up to 128 letters, digits and "._-/"; empty: the server chooses.
  ElementType element_type = ElementType::kFloat64;
  // Up to eight extents, as [elements] or [rows, columns]; none of an array without dimensions, of
  // one element.
  std::vector<uint64_t> shape = {};
  // The array is deleted when nobody has used it for this long; nothing: an hour.
  std::optional<absl::Duration> idle_expiry = std::nullopt;
  // The device to hold it, as an index of ServerInfo::devices. Arrays that requests use together
  // are best on the same one: else they are copied there each time. Nothing: that with the most
  // room.
  std::optional<uint32_t> device = std::nullopt;
  ArrayPlacement placement = ArrayPlacement::kDefault;
};

// Consecutive elements of a sharded array.
struct ArrayShard {
  uint32_t device = 0;  // The device that holds them, as an index of ServerInfo::devices.
  uint64_t first_element = 0;
  uint64_t element_count = 0;
};

struct ArrayDescription {
  std::string name;
  ElementType element_type = ElementType::kFloat64;
  std::vector<uint64_t> shape;  // As in NewArray.
  uint64_t size_bytes = 0;
  absl::Duration idle_expiry;
  absl::Duration idle_time;  // Since a request last used it.
  // The device that holds it, or the first elements of it, as an index of ServerInfo::devices.
  uint32_t device = 0;
  std::vector<ArrayShard> shards = {};  // Of a sharded array.
};

// Elements that were read from the server.
struct ArrayData {
  ElementType element_type = ElementType::kFloat64;
  std::vector<uint64_t> shape;  // Of what was asked for.
  std::string data;             // The elements, row-major.

  // The elements as T, viewed in place: valid as long as `data` is. FAILED_PRECONDITION where they
  // are of another type.
  template <Element T>
  absl::StatusOr<std::span<const T>> Values() const {
    return ViewElements<T>(element_type, data);
  }
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_RESIDENT_ARRAY_H_
