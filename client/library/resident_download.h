// Large arrays on the server, read over several connections.
#ifndef GRIDFOLD_CLIENT_LIBRARY_RESIDENT_DOWNLOAD_H_
#define GRIDFOLD_CLIENT_LIBRARY_RESIDENT_DOWNLOAD_H_

#include <cstddef>
#include <span>

#include "absl/status/status.h"
#include "client/library/array_calls.h"
#include "client/library/call_budget.h"
#include "gridfold/resident_array.h"

namespace gridfold::client {

// Reads all elements of `array` into `to`, which has as many bytes, in parts of whole rows. A part
// that a connection loses is read again. Nobody may write or delete the array meanwhile. Errors:
// those of Client::ReadArray; INTERNAL where the server sends more or less than the part.
absl::Status ReadInParts(ArrayCalls& calls, const CallBudget& budget, const ArrayDescription& array,
                         std::span<std::byte> to);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_RESIDENT_DOWNLOAD_H_
