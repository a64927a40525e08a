// How an array in the caller's memory gets to the server.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_ARRAY_TRANSPORT_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_ARRAY_TRANSPORT_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace gridfold::client {

// The answer has the same bits whichever way it came by. What an operation does not allow is
// replaced by the way that comes nearest: kStreams by kStream, that by kInline, and what is too
// large for a message by kResident. ExecutionStatistics tells which way it was.
enum class ArrayTransport : uint8_t {
  kAuto,      // The fastest that there is, by the array's size and by what the server allows.
  kInline,    // In the request.
  kStream,    // In messages of one call, on which the server computes while others are under way.
  kStreams,   // In consecutive parts over several connections, whose results the server merges.
  kRegion,    // Through memory that the client and a server on the same host share.
  kResident,  // To an array that is kept on the server until the call has ended.
};

// "auto", "inline", "stream", "streams", "region" or "resident".
absl::string_view ArrayTransportName(ArrayTransport transport);

// The reverse of ArrayTransportName; nothing for other text.
std::optional<ArrayTransport> ParseArrayTransport(absl::string_view name);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_ARRAY_TRANSPORT_H_
