#include "client/command_line/output/array_file.h"

#include <functional>
#include <numeric>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/command_line/input/npy_format.h"

namespace gridfold::client {

namespace {

// What stands before the elements: nothing where the path asks for these alone.
absl::StatusOr<std::string> HeaderFor(const std::string& path, ElementType element_type,
                                      std::span<const uint64_t> shape) {
  if (!HasHeader(path)) return "";
  return NpyHeader(element_type, shape);
}

}  // namespace

bool HasHeader(absl::string_view path) { return path == "-" || absl::EndsWith(path, ".npy"); }

absl::Status WriteArrayFile(const std::string& path, ElementType element_type,
                            std::span<const uint64_t> shape, absl::string_view data) {
  const absl::StatusOr<std::string> header = HeaderFor(path, element_type, shape);
  if (!header.ok()) return header.status();
  return WriteFile(path, {*header, data});
}

absl::Status ArrayFileWriter::Write(ElementType element_type,
                                    const std::optional<std::vector<uint64_t>>& shape,
                                    absl::string_view data) {
  if (!file_) {
    if (absl::Status status = Open(element_type, shape); !status.ok()) return status;
  }
  written_bytes_ += data.size();
  return file_->Write(data);
}

absl::Status ArrayFileWriter::Open(ElementType element_type,
                                   const std::optional<std::vector<uint64_t>>& shape) {
  absl::StatusOr<std::string> header =
      HeaderFor(path_, element_type, shape.value_or(std::vector<uint64_t>{0}));
  if (!header.ok()) return header.status();
  if (!shape && !header->empty()) {
    return absl::InvalidArgumentError(
        ".npy begins with the number of elements, which is not known before a pipe ends: give "
        "--output a name without .npy");
  }
  absl::StatusOr<OutputFile> file = OutputFile::Open(path_);
  if (!file.ok()) return file.status();
  file_.emplace(*std::move(file));
  if (!header->empty()) {
    promised_bytes_ =
        std::accumulate(shape->begin(), shape->end(), uint64_t{ElementSizeBytes(element_type)},
                        std::multiplies<>());
  }
  return file_->Write(*header);
}

absl::Status ArrayFileWriter::Commit() {
  if (!file_) return absl::OkStatus();
  if (written_bytes_ == promised_bytes_.value_or(written_bytes_)) return file_->Commit();
  return absl::InvalidArgumentError(
      absl::StrCat(path_, ": its header promises ", *promised_bytes_, " bytes of elements, and ",
                   written_bytes_, " follow: the input has changed while it was read"));
}

}  // namespace gridfold::client
