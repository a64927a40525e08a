// An array as the input of a call: as it is, or through memory that the server shares.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_SHARED_INPUT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_SHARED_INPUT_H_

#include <algorithm>
#include <span>
#include <variant>

#include "absl/status/statusor.h"
#include "client/command_line/input/input_array.h"
#include "gridfold/shared_region.h"

namespace gridfold::client {

// What `call` of an ArrayInput gives. Errors also those of SharedRegion::Create.
template <typename Call>
auto WithInput(Client& client, const InputArray& array, Call call)
    -> decltype(call(array.input())) {
  const auto* const host = std::get_if<HostArray>(&array.array);
  // There are no regions without bytes, and nothing to gain from one.
  if (!array.shared || host == nullptr || host->element_count() == 0) return call(array.input());
  const std::span<const std::byte> elements = host->view().bytes();
  const absl::StatusOr<SharedRegion> region =
      SharedRegion::Create(client, {.size_bytes = elements.size()});
  if (!region.ok()) return region.status();
  std::copy(elements.begin(), elements.end(), region->bytes().begin());
  return call(region->Slice(host->element_type, host->shape));
}

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_SHARED_INPUT_H_
