// The array that a command is about: read from a file, or on the server.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_INPUT_ARRAY_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_INPUT_ARRAY_H_

#include <cstdint>
#include <variant>

#include "client/command_line/input/host_array.h"
#include "client/command_line/report/answer.h"
#include "gridfold/array_input.h"

namespace gridfold::client {

struct InputArray {
  InputDescription description;
  std::variant<HostArray, ResidentArray> array;
  bool shared = false;  // A HostArray that the server is to read in shared memory.

  // Views a HostArray's elements, which must outlive it.
  ArrayInput input() const {
    if (const auto* const host = std::get_if<HostArray>(&array)) return host->view();
    return std::get<ResidentArray>(array);
  }

  // What a request that takes the array carries of it.
  uint64_t sent_bytes() const {
    const auto* const host = std::get_if<HostArray>(&array);
    return host == nullptr || shared ? 0 : host->view().bytes().size();
  }
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_INPUT_ARRAY_H_
