// Arrays that are kept on the server, in the memory of its engine: sent once, computed on many
// times.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_RESIDENT_ARRAY_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_RESIDENT_ARRAY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gridfold/element_type.h"

namespace gridfold::client {

// A run of an array's elements; of a two-dimensional array's rows.
struct ArraySlice {
  uint64_t first = 0;
  uint64_t count = 0;
};

// An array on the server, or a part of it, as the input of an operation.
struct ResidentArray {
  std::string name;
  std::optional<ArraySlice> slice = std::nullopt;  // Nothing: the whole array.
};

// What Client::CreateArray makes.
struct NewArray {
  std::string name = "";  // Up to 128 letters, digits and "._-/"; empty: the server chooses.
  ElementType element_type = ElementType::kFloat64;
  std::vector<uint64_t> shape = {};  // [elements], or [rows, columns].
  // The array is deleted when nobody has used it for this long; nothing: an hour.
  std::optional<absl::Duration> idle_expiry = std::nullopt;
  // The device to hold it, by its place in ServerInfo::devices: arrays that one request takes
  // together must lie on the same. Nothing: the one with the most room.
  std::optional<uint32_t> device = std::nullopt;
};

struct ArrayDescription {
  std::string name;
  ElementType element_type = ElementType::kFloat64;
  std::vector<uint64_t> shape;  // [elements], or [rows, columns].
  uint64_t size_bytes = 0;
  absl::Duration idle_expiry;
  absl::Duration idle_time;  // Since a request last used it.
  uint32_t device = 0;       // That has it, by its place in ServerInfo::devices.
};

// Elements that were read from the server.
struct ArrayData {
  ElementType element_type = ElementType::kFloat64;
  std::vector<uint64_t> shape;  // Of what was asked for: [elements], or [rows, columns].
  std::string data;             // The elements, row-major.

  // The elements as T, viewed in place: valid as long as `data` is. FAILED_PRECONDITION where they
  // are of another type.
  template <Element T>
  absl::StatusOr<std::span<const T>> Values() const {
    if (ElementTypeOf<T>() != element_type) {
      return absl::FailedPreconditionError(absl::StrCat("the array's elements are ",
                                                        ElementTypeName(element_type), ", not ",
                                                        ElementTypeName(ElementTypeOf<T>())));
    }
    return std::span<const T>(reinterpret_cast<const T*>(data.data()), data.size() / sizeof(T));
  }
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_RESIDENT_ARRAY_H_
