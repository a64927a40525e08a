// A dataset, block after block.
#ifndef GRIDFOLD_CLIENT_HDF5_DATASET_READER_H_
#define GRIDFOLD_CLIENT_HDF5_DATASET_READER_H_

#include <hdf5.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/hdf5/element_layout.h"

namespace gridfold::client {

// The elements of a dataset in row-major order, of which some are in memory at a time: about
// 16 MiB, or what a row of chunks takes, up to 256 MiB.
class DatasetReader {
 public:
  // Errors are INVALID_ARGUMENT: no such dataset, no numbers, an empty one, or one that refers to
  // other files, which are never opened.
  static absl::StatusOr<DatasetReader> Open(hid_t file, const std::string& path);

  const std::string& descr() const { return layout_.descr; }
  const std::vector<hsize_t>& shape() const { return shape_; }

  // Gives all elements to `take`, piece by piece, until one of its calls fails. INVALID_ARGUMENT
  // where the file is damaged.
  absl::Status ReadAll(const std::function<absl::Status(absl::string_view)>& take);

 private:
  DatasetReader(Identifier dataset, ElementLayout layout)
      : dataset_(std::move(dataset)), layout_(std::move(layout)) {}

  absl::Status FindShape();
  absl::Status FindBlocks();
  // Reads the block of `start`, of which `rows` along the split dimension.
  absl::Status ReadBlock(const std::vector<hsize_t>& start, hsize_t rows, std::string& elements);

  Identifier dataset_;
  ElementLayout layout_;
  std::vector<hsize_t> shape_ = {};
  uint64_t element_bytes_ = 0;
  // A block is whole along all dimensions after this one, has so many rows along it, and one along
  // those before it.
  size_t split_dimension_ = 0;
  hsize_t block_rows_ = 1;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_HDF5_DATASET_READER_H_
