#include "gridfold/array_transport.h"

#include <array>

namespace gridfold::client {
namespace {

constexpr std::array<absl::string_view, 6> kNames = {"auto",    "inline", "stream",
                                                     "streams", "region", "resident"};

}  // namespace

absl::string_view ArrayTransportName(ArrayTransport transport) {
  return kNames[static_cast<size_t>(transport)];
}

std::optional<ArrayTransport> ParseArrayTransport(absl::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<ArrayTransport>(i);
  }
  return std::nullopt;
}

}  // namespace gridfold::client
