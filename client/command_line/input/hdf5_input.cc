#include "client/command_line/input/hdf5_input.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/command_line/child_process.h"

namespace gridfold::client {
namespace {

constexpr size_t kListBytesMax = size_t{64} << 20;

// Beside this program, or where packages have it; empty where it is not installed.
std::string FindReader() {
  std::error_code error;
  const std::filesystem::path here =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* const place : {"gridfold_hdf5", "../libexec/gridfold/gridfold_hdf5"}) {
    const std::string path = here / place;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

// What the program writes.
class ReaderOutput : public ByteSource {
 public:
  // `output` is the pipe's end to read from, which this closes.
  ReaderOutput(ChildProcess process, int output, TemporaryFile errors, ReadProgress progress)
      : process_(std::move(process)),
        output_(output),
        errors_(std::move(errors)),
        progress_(std::move(progress)) {}
  ~ReaderOutput() override { close(output_); }

  absl::StatusOr<size_t> Read(std::span<char> buffer) override {
    size_t used = 0;
    while (used < buffer.size() && !has_ended_) {
      const ssize_t size = read(output_, buffer.data() + used, buffer.size() - used);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) return absl::ErrnoToStatus(errno, "gridfold_hdf5");
      used += static_cast<size_t>(size);
      if (size == 0) {
        if (absl::Status status = End(); !status.ok()) return status;
      }
    }
    read_bytes_ += used;
    if (progress_) progress_(read_bytes_, std::nullopt);
    return used;
  }

 private:
  absl::Status End() {
    has_ended_ = true;
    const std::string failure = process_.Wait();
    if (failure.empty()) return absl::OkStatus();
    const std::string said = ReadTemporaryFile(errors_.get());
    const absl::string_view message = absl::StripAsciiWhitespace(said);
    return absl::InvalidArgumentError(
        message.empty() ? absl::StrCat("HDF5: its library does not stand this file: ", failure)
                        : message);
  }

  ChildProcess process_;
  const int output_;
  const TemporaryFile errors_;
  const ReadProgress progress_;
  bool has_ended_ = false;
  uint64_t read_bytes_ = 0;
};

absl::StatusOr<std::unique_ptr<ByteSource>> StartReader(const File& file,
                                                        std::vector<std::string> arguments,
                                                        ReadProgress progress) {
  std::string reader = FindReader();
  if (reader.empty()) {
    return absl::InvalidArgumentError(
        "this is an HDF5 file, for which gridfold needs gridfold_hdf5 (of the package "
        "gridfold-hdf5), which is not installed; or save what is wanted as .npy, for example with "
        "numpy.save('dataset.npy', h5py.File('FILE')['DATASET'][:])");
  }
  arguments.insert(arguments.begin(), std::move(reader));
  absl::StatusOr<TemporaryFile> errors = OpenTemporaryFile();
  if (!errors.ok()) return errors.status();
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "a pipe");
  absl::StatusOr<ChildProcess> process = ChildProcess::Start(
      arguments, {.input = file.descriptor(), .output = ends[1], .error = fileno(errors->get())});
  close(ends[1]);
  if (!process.ok()) {
    close(ends[0]);
    return process.status();
  }
  return std::make_unique<ReaderOutput>(*std::move(process), ends[0], *std::move(errors),
                                        std::move(progress));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ByteSource>> ReadHdf5(const File& file,
                                                     const std::optional<std::string>& path,
                                                     ReadProgress progress) {
  std::vector<std::string> arguments = {"read"};
  if (path) arguments.push_back(*path);
  return StartReader(file, std::move(arguments), std::move(progress));
}

absl::StatusOr<std::vector<std::string>> ListHdf5(const File& file) {
  const absl::StatusOr<std::unique_ptr<ByteSource>> output = StartReader(file, {"list"}, nullptr);
  if (!output.ok()) return output.status();
  std::string list(kListBytesMax, '\0');
  const absl::StatusOr<size_t> size = (*output)->Read({list.data(), list.size()});
  if (!size.ok()) return size.status();
  list.resize(*size);
  return std::vector<std::string>(absl::StrSplit(list, '\0', absl::SkipEmpty()));
}

}  // namespace gridfold::client
