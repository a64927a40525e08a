// The datasets of a file.
#ifndef GRIDFOLD_CLIENT_HDF5_DATASET_LIST_H_
#define GRIDFOLD_CLIENT_HDF5_DATASET_LIST_H_

#include <hdf5.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace gridfold::client {

// Paths of the datasets whose elements gridfold has, in the order of their names; each once, by
// whatever links it can be reached. INVALID_ARGUMENT where the file is damaged or has more than
// 100,000 objects.
absl::StatusOr<std::vector<std::string>> ListDatasets(hid_t file);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_HDF5_DATASET_LIST_H_
