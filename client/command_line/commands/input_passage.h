// How an input gets from a file to the server: at once, from memory or from where the file lies
// mapped, the way that the library chooses; or, where it is too large for a request and cannot be
// mapped, in pieces, or by way of an array that is kept there for the while.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_INPUT_PASSAGE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_INPUT_PASSAGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/command_line/arguments/second_array.h"
#include "client/command_line/commands/outgoing_array.h"
#include "client/command_line/input/input_array.h"
#include "client/command_line/session.h"

namespace gridfold::client {

// What else a request and its answer carry.
struct RequestShare {
  uint64_t array_count = 1;  // Among which a message is divided.
  uint64_t other_bytes = 0;  // Of the request.
  // Of the answer, for each element; 0: it does not grow with them.
  uint64_t result_bytes_per_element = 0;
  // Whether an array of any size may be given to the library at once.
  bool goes_by_library = true;
};

// An input that a request can carry, or that is there already; or one that it cannot.
using InputPassage = std::variant<InputArray, OutgoingArray>;

// What is read at a time where nothing else is asked for.
inline constexpr size_t kChunkBytes = size_t{1} << 20;

// Finds the array that the options mean, on the server or in a file, which is opened.
absl::StatusOr<InputPassage> FindInput(const Session& session, const InputOptions& options,
                                       size_t chunk_bytes);

// Maps a file that FindInput has opened, or reads it: as far as a request of this server carries,
// which it asks the server only where every server's does not suffice; and whole where it is to
// travel in a way that was asked for, such as memory that is `shared`.
absl::StatusOr<InputPassage> ReadInput(const Session& session, InputPassage opened, bool shared,
                                       const RequestShare& share);

// OpenPassage calls FindInput, then ReadInput.
absl::StatusOr<InputPassage> OpenPassage(const Session& session, const InputOptions& options,
                                         size_t chunk_bytes, const RequestShare& share);

// Opens an array beside the first one, like it but for what `second` says; none where it is not
// given.
absl::StatusOr<std::optional<InputPassage>> OpenSecond(const Session& session,
                                                       const InputOptions& first,
                                                       const SecondArray& second,
                                                       size_t chunk_bytes,
                                                       const RequestShare& share);

// Whether the server holds enough of a stream for questions whose parts do not end where messages
// do: segments, and scans. One with small messages may not.
absl::StatusOr<bool> TakesAnyStream(const Session& session);

// Keeps an array that is too large for a request on the server, under a name of its own, until what
// is returned is destroyed. It is kept at `place`, where one is given.
absl::StatusOr<InputArray> KeepOnServer(const Session& session, OutgoingArray array,
                                        std::optional<ArrayPlace> place = std::nullopt);

// Where an input that is there already lies, which other arrays of a request have to follow.
std::optional<ArrayPlace> PlaceOf(const InputPassage& input);
std::optional<ArrayPlace> PlaceOf(const std::optional<InputPassage>& input);

// Gives the array as a request names it: where no request carries it, it is kept on the server, at
// `place`, which all arrays of a request share and which is set by the first that lies on one.
absl::StatusOr<InputArray> Settle(const Session& session, InputPassage input,
                                  std::optional<ArrayPlace>& place);
absl::StatusOr<std::optional<InputArray>> Settle(const Session& session,
                                                 std::optional<InputPassage> input,
                                                 std::optional<ArrayPlace>& place);

// An input for an operation that takes all of it at once, with `other_bytes` beside it in a
// request: one that a request cannot carry is kept on the server.
absl::StatusOr<InputArray> OpenWhole(const Session& session, const InputOptions& options,
                                     uint64_t other_bytes = 0);

// Writes all elements to an array on the server, from `first_element` on, as they are read.
absl::Status WriteElements(const Session& session, Client& client, const std::string& name,
                           uint64_t first_element, OutgoingArray& array);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_INPUT_PASSAGE_H_
