// What the HDF5 library hands out, owned.
#ifndef GRIDFOLD_CLIENT_HDF5_IDENTIFIER_H_
#define GRIDFOLD_CLIENT_HDF5_IDENTIFIER_H_

#include <hdf5.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace gridfold::client {

// A file, dataset, type or whatever else the library counts references to. Move-only.
class Identifier {
 public:
  explicit Identifier(hid_t id = H5I_INVALID_HID) : id_(id) {}
  ~Identifier() {
    if (id_ >= 0) H5Idec_ref(id_);
  }
  Identifier(Identifier&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Identifier& operator=(Identifier&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }

  hid_t get() const { return id_; }
  bool is_valid() const { return id_ >= 0; }

 private:
  hid_t id_;
};

// INVALID_ARGUMENT: `what` has failed, and why, by the innermost of the library's errors.
absl::Status LibraryError(absl::string_view what);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_HDF5_IDENTIFIER_H_
