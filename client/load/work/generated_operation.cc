#include "client/load/work/generated_operation.h"

#include <span>
#include <string>
#include <utility>
#include <variant>

#include "client/load/work/array_values.h"
#include "client/load/work/element_encoding.h"

namespace gridfold::load {
namespace {

std::string Encode(client::ElementType type, const std::vector<int32_t>& numbers) {
  return EncodeElements(type, std::span<const int32_t>(numbers));
}

client::ArrayInput ViewOf(const client::ArrayInput& array, const client::StridedView& view) {
  client::ResidentArray viewed = std::get<client::ResidentArray>(array.source());
  viewed.view = view;
  return viewed;
}

}  // namespace

uint64_t GeneratedOperation::size_bytes() const {
  return input.elements.size() + input.y_elements.size() + input.weights.size() +
         input.keys.size() + input.mask.size();
}

uint64_t GeneratedOperation::read_bytes(const RequestKind& kind) const {
  if (!view) return size_bytes();
  const uint64_t view_bytes =
      ProductOf(ShapeOf(*view)) * client::ElementSizeBytes(kind.element_type);
  return size_bytes() - input.elements.size() + view_bytes;
}

GeneratedOperation Generate(const RequestKind& kind, uint64_t element_count,
                            std::mt19937_64& random) {
  OperationValues values = DrawOperation(kind, element_count, random);
  GeneratedOperation operation{
      .input = {.elements =
                    Encode(kind.element_type, kind.view ? values.viewed_elements : values.elements),
                .y_elements = Encode(kind.element_type, values.y_elements),
                .weights = Encode(kind.element_type, values.weights),
                .keys = Encode(kind.key_type, values.keys),
                .mask = Encode(client::ElementType::kBool, values.mask)},
      .shape = WholeShape(kind, element_count),
      .known = std::make_shared<const KnownAnswer>(ComputeKnownAnswer(kind, values))};
  if (kind.view) operation.view = ResolveView(*kind.view, operation.shape);
  if (kind.where) operation.mask_shape = MaskShape(*kind.where, values.shape);
  operation.input.segment_offsets = std::move(values.segment_offsets);
  return operation;
}

std::vector<ArrayBytes> ArraysOf(const RequestKind& kind, const GeneratedOperation& operation) {
  const StreamedInput& input = operation.input;
  const Extents beside = operation.view ? ShapeOf(*operation.view) : operation.shape;
  std::vector<ArrayBytes> arrays = {{kind.element_type, operation.shape, input.elements}};
  for (const std::string* const bytes : {&input.y_elements, &input.weights}) {
    if (!bytes->empty()) arrays.push_back({kind.element_type, beside, *bytes});
  }
  if (!input.keys.empty()) arrays.push_back({kind.key_type, beside, input.keys});
  if (!input.mask.empty()) {
    arrays.push_back({client::ElementType::kBool, operation.mask_shape, input.mask});
  }
  return arrays;
}

OperationInput InputOf(const GeneratedOperation& operation,
                       std::vector<client::ArrayInput>::const_iterator& next) {
  const StreamedInput& input = operation.input;
  OperationInput made{.elements = operation.view ? ViewOf(*next, *operation.view) : *next,
                      .segment_offsets = input.segment_offsets};
  ++next;
  if (!input.y_elements.empty()) made.y_elements = *next++;
  if (!input.weights.empty()) made.weights = *next++;
  if (!input.keys.empty()) made.keys = *next++;
  if (!input.mask.empty()) made.mask = *next++;
  return made;
}

}  // namespace gridfold::load
