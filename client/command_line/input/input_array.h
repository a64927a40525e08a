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

// Where an array lies on the server.
struct ArrayPlace {
  uint32_t device = 0;
  bool is_sharded = false;  // Not on that device, but on all.
};

struct InputArray {
  InputDescription description;
  std::variant<HostArray, ResidentArray, RegionSlice> array;
  std::optional<ArrayPlace> place = std::nullopt;  // Where it is resident.
  std::shared_ptr<const void> owner = nullptr;     // Of what the server is to read, until it has.

  // Views a HostArray's elements, which must outlive it.
  ArrayInput input() const {
    if (const auto* const host = std::get_if<HostArray>(&array)) return host->view();
    if (const auto* const slice = std::get_if<RegionSlice>(&array)) return *slice;
    return std::get<ResidentArray>(array);
  }

  // What a request that takes the array carries of it.
  uint64_t sent_bytes() const {
    const auto* const host = std::get_if<HostArray>(&array);
    return host == nullptr ? 0 : host->view().bytes().size();
  }
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_INPUT_ARRAY_H_
