// Operations on generated arrays, as the server is to be asked for them.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_GENERATED_OPERATION_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_GENERATED_OPERATION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "client/load/work/array_shape.h"
#include "client/load/work/known_answer.h"
#include "client/load/work/operation_options.h"
#include "client/load/work/prepared_request.h"
#include "client/load/work/scenario.h"
#include "client/load/work/server_arrays.h"
#include "gridfold/array_input.h"
#include "gridfold/resident_array.h"

namespace gridfold::load {

// An operation, its arrays as bytes, and what its answer must be.
struct GeneratedOperation {
  StreamedInput input;
  Extents shape;                                           // Of the array of `input.elements`.
  std::optional<client::StridedView> view = std::nullopt;  // What of that array is meant.
  Extents mask_shape = {};
  std::shared_ptr<const KnownAnswer> known;

  // The bytes of all arrays.
  uint64_t size_bytes() const;
  // The bytes of what the operation is about: of an array with a view, those of the view.
  uint64_t read_bytes(const RequestKind& kind) const;
};

GeneratedOperation Generate(const RequestKind& kind, uint64_t element_count,
                            std::mt19937_64& random);

// The operation's arrays, which must outlive them.
std::vector<ArrayBytes> ArraysOf(const RequestKind& kind, const GeneratedOperation& operation);

// The operation on the arrays of ArraysOf, the first of which is at `next`, which goes past them.
OperationInput InputOf(const GeneratedOperation& operation,
                       std::vector<client::ArrayInput>::const_iterator& next);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_GENERATED_OPERATION_H_
