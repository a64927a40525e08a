#include "client/hdf5/dataset_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace gridfold::client {
namespace {

constexpr uint64_t kBlockBytes = uint64_t{16} << 20;
constexpr uint64_t kChunksBytesMax = uint64_t{256} << 20;
constexpr size_t kCacheBytes = size_t{64} << 20;
constexpr size_t kCacheSlots = 12421;  // A prime number, as the library's manual advises.

// A link to another file is never followed: whoever has made this file does not choose what is
// read.
herr_t RefuseLink(const char*, const char*, const char*, const char*, unsigned*, hid_t, void*) {
  return -1;
}

absl::StatusOr<Identifier> OpenDataset(hid_t file, const std::string& path) {
  const Identifier access(H5Pcreate(H5P_DATASET_ACCESS));
  H5Pset_elink_cb(access.get(), RefuseLink, nullptr);
  H5Pset_chunk_cache(access.get(), kCacheSlots, kCacheBytes, /*rdcc_w0=*/1);
  Identifier dataset(H5Dopen2(file, path.c_str(), access.get()));
  if (!dataset.is_valid()) return LibraryError(absl::StrCat("there is no dataset '", path, "'"));
  const Identifier creation(H5Dget_create_plist(dataset.get()));
  const bool is_contiguous = H5Pget_layout(creation.get()) == H5D_CONTIGUOUS;
  if (H5Pget_layout(creation.get()) == H5D_VIRTUAL ||
      (is_contiguous && H5Pget_external_count(creation.get()) != 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("HDF5: the elements of '", path, "' are in other files"));
  }
  return dataset;
}

}  // namespace

absl::StatusOr<DatasetReader> DatasetReader::Open(hid_t file, const std::string& path) {
  absl::StatusOr<Identifier> dataset = OpenDataset(file, path);
  if (!dataset.ok()) return dataset.status();
  const Identifier type(H5Dget_type(dataset->get()));
  if (!type.is_valid()) return LibraryError("its type is damaged");
  absl::StatusOr<ElementLayout> layout = LayoutOf(type.get());
  if (!layout.ok()) return layout.status();
  DatasetReader reader(*std::move(dataset), *std::move(layout));
  if (absl::Status status = reader.FindShape(); !status.ok()) return status;
  if (absl::Status status = reader.FindBlocks(); !status.ok()) return status;
  return reader;
}

absl::Status DatasetReader::FindShape() {
  const Identifier space(H5Dget_space(dataset_.get()));
  if (H5Sget_simple_extent_type(space.get()) == H5S_NULL) {
    return absl::InvalidArgumentError("HDF5: the dataset has no elements and no shape");
  }
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank < 0) return LibraryError("its shape is damaged");
  shape_.resize(static_cast<size_t>(rank));
  H5Sget_simple_extent_dims(space.get(), shape_.data(), nullptr);
  element_bytes_ = H5Tget_size(layout_.memory_type.get());
  uint64_t size_bytes = element_bytes_;
  for (const hsize_t extent : shape_) {
    if (__builtin_mul_overflow(size_bytes, extent, &size_bytes)) {
      return absl::InvalidArgumentError("HDF5: the dataset claims more bytes than there are");
    }
  }
  return absl::OkStatus();
}

absl::Status DatasetReader::FindBlocks() {
  if (shape_.empty()) return absl::OkStatus();
  std::vector<hsize_t> chunk(shape_.size(), 1);
  const Identifier creation(H5Dget_create_plist(dataset_.get()));
  const bool is_chunked = H5Pget_layout(creation.get()) == H5D_CHUNKED;
  if (is_chunked && H5Pget_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data()) !=
                        static_cast<int>(chunk.size())) {
    return LibraryError("its chunks are damaged");
  }
  const uint64_t bytes_max = is_chunked ? kChunksBytesMax : kBlockBytes;
  // From the last dimension to the first, as long as a row of chunks fits.
  uint64_t row_bytes = element_bytes_;
  split_dimension_ = shape_.size() - 1;
  for (size_t d = shape_.size() - 1; d > 0; --d) {
    const uint64_t next_row_bytes = row_bytes * std::max<hsize_t>(shape_[d], 1);
    if (next_row_bytes > bytes_max ||
        std::min(chunk[d - 1], shape_[d - 1]) > bytes_max / next_row_bytes) {
      break;
    }
    row_bytes = next_row_bytes;
    split_dimension_ = d - 1;
  }
  const hsize_t step =
      std::max<hsize_t>(std::min<hsize_t>(chunk[split_dimension_], bytes_max / row_bytes), 1);
  block_rows_ = std::max<hsize_t>(kBlockBytes / row_bytes / step, 1) * step;
  return absl::OkStatus();
}

absl::Status DatasetReader::ReadBlock(const std::vector<hsize_t>& start, hsize_t rows,
                                      std::string& elements) {
  std::vector<hsize_t> count(shape_.size(), 1);
  count[split_dimension_] = rows;
  std::copy(shape_.begin() + static_cast<std::ptrdiff_t>(split_dimension_) + 1, shape_.end(),
            count.begin() + static_cast<std::ptrdiff_t>(split_dimension_) + 1);
  hsize_t element_count = 1;
  for (const hsize_t extent : count) element_count *= extent;
  elements.resize(element_count * element_bytes_);
  const Identifier file_space(H5Dget_space(dataset_.get()));
  const Identifier memory_space(H5Screate_simple(1, &element_count, nullptr));
  if (H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                          nullptr) < 0 ||
      H5Dread(dataset_.get(), layout_.memory_type.get(), memory_space.get(), file_space.get(),
              H5P_DEFAULT, elements.data()) < 0) {
    return LibraryError("its elements cannot be read");
  }
  return absl::OkStatus();
}

absl::Status DatasetReader::ReadAll(const std::function<absl::Status(absl::string_view)>& take) {
  std::string elements;
  if (shape_.empty()) {
    elements.resize(element_bytes_);
    if (H5Dread(dataset_.get(), layout_.memory_type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                elements.data()) < 0) {
      return LibraryError("its element cannot be read");
    }
    return take(elements);
  }
  if (std::find(shape_.begin(), shape_.end(), 0) != shape_.end()) return absl::OkStatus();
  std::vector<hsize_t> start(shape_.size(), 0);
  while (true) {
    const hsize_t rows = std::min(block_rows_, shape_[split_dimension_] - start[split_dimension_]);
    absl::Status status = ReadBlock(start, rows, elements);
    if (status.ok()) status = take(elements);
    if (!status.ok()) return status;
    start[split_dimension_] += rows;
    // What has come to its end begins again, and the dimension before it goes on.
    size_t d = split_dimension_;
    for (; start[d] == shape_[d]; --d) {
      if (d == 0) return absl::OkStatus();
      start[d] = 0;
      ++start[d - 1];
    }
  }
}

}  // namespace gridfold::client
