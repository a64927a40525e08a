// HDF5's types as NumPy's.
#ifndef GRIDFOLD_CLIENT_HDF5_ELEMENT_LAYOUT_H_
#define GRIDFOLD_CLIENT_HDF5_ELEMENT_LAYOUT_H_

#include <hdf5.h>

#include <string>

#include "absl/status/statusor.h"
#include "client/hdf5/identifier.h"

namespace gridfold::client {

struct ElementLayout {
  std::string descr;       // As .npy names the type: "<f8".
  Identifier memory_type;  // As the library is to deliver elements: little-endian.
};

// How elements of a dataset's type are read: integers, also those of enumerations, float16,
// bfloat16 (which .npy calls bytes), float32, float64, and truth values as h5py and PyTables keep
// them. Types between, such as integers of three bytes, become the next larger one.
// INVALID_ARGUMENT, which names the type, for all others.
absl::StatusOr<ElementLayout> LayoutOf(hid_t type);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_HDF5_ELEMENT_LAYOUT_H_
