// gridfold_hdf5: what an HDF5 file holds, for `gridfold`, which starts this program where an input
// is such a file.
//
//   gridfold_hdf5 list < FILE                writes the paths of its datasets, each ended by a zero
//   byte gridfold_hdf5 read [DATASET] < FILE      writes the dataset, or the only one there is, as
//   .npy
//
// Errors are one line on standard error and exit code 1. It is a program of its own, since HDF5's
// library brings three dozen others along, and since a file that the library does not stand is then
// an error and not a crash.
#include <hdf5.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/hdf5/dataset_list.h"
#include "client/hdf5/dataset_reader.h"
#include "client/hdf5/identifier.h"
#include "client/hdf5/named_file.h"

namespace gridfold::client {
namespace {

// Datasets that an error lists.
constexpr size_t kListedMax = 20;

// However large a file says that its pieces are, no more is asked of the machine. Sanitizers have
// far more addresses in use than memory.
void LimitMemory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  constexpr rlim_t kMemoryBytesMax = rlim_t{4} << 30;
  const rlimit limit = {kMemoryBytesMax, kMemoryBytesMax};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

absl::Status Write(absl::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, "standard output");
}

absl::StatusOr<Identifier> OpenFile() {
  const Identifier access(H5Pcreate(H5P_FILE_ACCESS));
  // Where the file system has locks.
  H5Pset_file_locking(access.get(), /*use_file_locking=*/true, /*ignore_when_disabled=*/true);
  const absl::StatusOr<NamedFile> input = NamedFile::OfStandardInput();
  if (!input.ok()) return input.status();
  Identifier file(H5Fopen(input->path().c_str(), H5F_ACC_RDONLY, access.get()));
  if (!file.is_valid()) return LibraryError("the file is damaged or cut off");
  return file;
}

absl::StatusOr<std::string> ChooseDataset(hid_t file) {
  absl::StatusOr<std::vector<std::string>> names = ListDatasets(file);
  if (!names.ok()) return names.status();
  if (names->size() == 1) return names->front();
  if (names->empty()) return absl::InvalidArgumentError("HDF5: the file has no dataset of numbers");
  const size_t count = names->size();
  if (count > kListedMax) names->resize(kListedMax);
  return absl::InvalidArgumentError(
      absl::StrCat("HDF5: the file has ", count,
                   " datasets; choose one with --dataset: ", absl::StrJoin(*names, ", "),
                   count > kListedMax ? absl::StrCat(" and ", count - kListedMax, " more") : ""));
}

// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, version 1.
std::string NpyHeader(const DatasetReader& dataset) {
  constexpr size_t kAlignment = 64;
  constexpr size_t kFixedBytes = 10;  // What begins the file, with the length of the text.
  std::string text =
      absl::StrCat("{'descr': '", dataset.descr(), "', 'fortran_order': False, 'shape': (");
  for (const hsize_t extent : dataset.shape()) absl::StrAppend(&text, extent, ", ");
  text += "), }";
  const size_t end = (kFixedBytes + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  text.resize(end - kFixedBytes - 1, ' ');
  text += '\n';
  const char length[] = {static_cast<char>(text.size() & 0xFF),
                         static_cast<char>(text.size() >> 8)};
  return absl::StrCat(absl::string_view("\x93NUMPY\x01\x00", 8), absl::string_view(length, 2),
                      text);
}

absl::Status ReadTo(hid_t file, const std::string* name) {
  absl::StatusOr<std::string> path = name != nullptr ? *name : ChooseDataset(file);
  if (!path.ok()) return path.status();
  absl::StatusOr<DatasetReader> dataset = DatasetReader::Open(file, *path);
  if (!dataset.ok()) return dataset.status();
  absl::Status status = Write(NpyHeader(*dataset));
  return status.ok() ? dataset->ReadAll(Write) : status;
}

absl::Status Run(const std::vector<std::string>& arguments) {
  LimitMemory();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const absl::StatusOr<Identifier> file = OpenFile();
  if (!file.ok()) return file.status();
  absl::Status status;
  if (arguments[0] == "read") {
    status = ReadTo(file->get(), arguments.size() > 1 ? &arguments[1] : nullptr);
  } else {
    const absl::StatusOr<std::vector<std::string>> names = ListDatasets(file->get());
    status = names.status();
    if (names.ok()) {
      for (const std::string& name : *names) {
        if (status.ok()) status = Write(absl::string_view(name.c_str(), name.size() + 1));
      }
    }
  }
  if (status.ok() && std::fflush(stdout) != 0) return absl::ErrnoToStatus(errno, "standard output");
  return status;
}

}  // namespace
}  // namespace gridfold::client

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty() || (arguments[0] != "list" && arguments[0] != "read")) {
    std::fputs("usage: gridfold_hdf5 list|read [DATASET] < FILE\n", stderr);
    return 2;
  }
  const absl::Status status = gridfold::client::Run(arguments);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}
