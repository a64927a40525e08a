// Names of arrays, regions and tenants, which callers choose. Pure functions; thread-safe.
#ifndef GRIDFOLD_SERVER_BASE_IDENTIFIER_H_
#define GRIDFOLD_SERVER_BASE_IDENTIFIER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace gridfold::server {

// INVALID_ARGUMENT that names `field` where the name is empty, longer than `bytes_max`, or has
// other characters than letters, digits and "._-/".
absl::Status ValidateIdentifier(absl::string_view name, uint64_t bytes_max,
                                absl::string_view field);

// The same for the name of an array.
absl::Status ValidateArrayName(absl::string_view name, absl::string_view field);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_BASE_IDENTIFIER_H_
