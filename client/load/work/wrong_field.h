// What is wrong with a scenario.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_WRONG_FIELD_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_WRONG_FIELD_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace gridfold::load {

// INVALID_ARGUMENT that names the field at `path`.
inline absl::Status WrongField(const std::string& path, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_WRONG_FIELD_H_
