#include "client/hdf5/identifier.h"

#include "absl/strings/str_cat.h"

namespace gridfold::client {
namespace {

herr_t TakeFirst(unsigned number, const H5E_error2_t* error, void* text) {
  if (number == 0 && error->desc != nullptr) *static_cast<std::string*>(text) = error->desc;
  return 0;
}

}  // namespace

absl::Status LibraryError(absl::string_view what) {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, TakeFirst, &reason);
  return absl::InvalidArgumentError(
      absl::StrCat("HDF5: ", what, reason.empty() ? "" : ": ", reason));
}

}  // namespace gridfold::client
