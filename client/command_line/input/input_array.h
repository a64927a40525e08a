// The array that a command is about: read from a file, on the server, or in memory that both share.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_INPUT_ARRAY_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_INPUT_ARRAY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include "client/command_line/input/host_array.h"
#include "client/command_line/report/answer.h"
#include "gridfold/array_input.h"

namespace gridfold::client {

struct InputArray {
  InputDescription description;
  std::variant<HostArray, ArrayView, ResidentArray> array;
  std::optional<uint32_t> device = std::nullopt;           // Where it lies on the server.
  std::shared_ptr<const void> owner = nullptr;             // Of an ArrayView's elements.
  std::optional<ArrayTransport> transport = std::nullopt;  // Nothing: the session's.

  // Views the elements, which must outlive it.
  ArrayInput input() const {
    if (const auto* const host = std::get_if<HostArray>(&array)) return host->view();
    if (const auto* const view = std::get_if<ArrayView>(&array)) return *view;
    return std::get<ResidentArray>(array);
  }

  // What goes to the server of it.
  uint64_t sent_bytes() const {
    const ArrayInput given = input();
    const auto* const view = std::get_if<ArrayView>(&given.source());
    return view == nullptr ? 0 : view->bytes().size();
  }
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_INPUT_ARRAY_H_
