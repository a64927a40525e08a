// The input of an operation: an array in the caller's memory, one on the server, or one in memory
// that both share.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_ARRAY_INPUT_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_ARRAY_INPUT_H_

#include <utility>
#include <variant>

#include "gridfold/array_view.h"
#include "gridfold/region.h"
#include "gridfold/resident_array.h"

namespace gridfold::client {

// Converts from everything that ArrayView does, from ResidentArray and from RegionSlice. Owns no
// elements.
//
//   client.ReduceArray(samples, options);                           // A std::vector, say.
//   client.ReduceArray(ResidentArray{"samples"}, options);
//   client.ReduceArray(ResidentArray{"samples", {{1000, 50}}}, options);
//   client.ReduceArray(ResidentArray{.name = "matrix", .view = transposed}, options);
class ArrayInput {
 public:
  // NOLINTBEGIN(google-explicit-constructor): stands for any of them.
  template <ElementRange Range>
  ArrayInput(const Range& elements) : source_(ArrayView(elements)) {}
  ArrayInput(const ArrayView& array) : source_(array) {}
  ArrayInput(ResidentArray array) : source_(std::move(array)) {}
  ArrayInput(RegionSlice slice) : source_(std::move(slice)) {}
  // NOLINTEND(google-explicit-constructor)

  const std::variant<ArrayView, ResidentArray, RegionSlice>& source() const { return source_; }

 private:
  std::variant<ArrayView, ResidentArray, RegionSlice> source_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_ARRAY_INPUT_H_
