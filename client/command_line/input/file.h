// Files that are read.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_FILE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gridfold::client {

// Told after each read: how many bytes are here, and of how many where that is known.
using ReadProgress = std::function<void(uint64_t read_bytes, std::optional<uint64_t> total_bytes)>;

// A part of a regular file, mapped to be read where it lies: its bytes are those of the file until
// somebody changes it, and it must not become shorter. The destructor unmaps it.
class FileMapping {
 public:
  // From `offset` of the file that `descriptor` has open to its end, which is behind it. Nothing
  // where it cannot be mapped.
  static std::shared_ptr<const FileMapping> Map(int descriptor, uint64_t offset);
  ~FileMapping();
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  FileMapping(std::span<std::byte> pages, size_t skipped_bytes)
      : pages_(pages), bytes_(pages.subspan(skipped_bytes)) {}

  const std::span<std::byte> pages_;
  const std::span<const std::byte> bytes_;
};

// A file that is read piece by piece. Move-only.
class File {
 public:
  // For reading; "-" is standard input. Errors: those of ReadFile.
  static absl::StatusOr<File> OpenToRead(const std::string& path);
  // An empty file without a name, for reading and writing, which goes with its last descriptor. It
  // lies where TMPDIR says, or in /tmp. ReadAt reads what was written.
  static absl::StatusOr<File> OpenTemporary();
  ~File();
  File(File&& other) noexcept;
  File& operator=(File&&) = delete;

  // What is left to read of a regular file; nothing of a pipe and the like.
  std::optional<uint64_t> size_bytes() const;

  // Reads until the buffer is full or the file ends; returns how many bytes that are.
  absl::StatusOr<size_t> Read(std::span<char> buffer);
  // The same from `offset` of a regular file on, and without moving on what Read reads next.
  absl::StatusOr<size_t> ReadAt(uint64_t offset, std::span<char> buffer) const;
  // For a program that is started with it.
  int descriptor() const { return descriptor_; }
  // How far a regular file has been read; nothing for a pipe and the like.
  std::optional<uint64_t> position() const;
  // What is left to read, and so many bytes before it, as FileMapping::Map.
  std::shared_ptr<const FileMapping> Map(uint64_t bytes_before) const;
  absl::Status Write(absl::string_view bytes);

 private:
  File(int descriptor, bool is_standard, std::string name)
      : descriptor_(descriptor), is_standard_(is_standard), name_(std::move(name)) {}

  int descriptor_;  // -1: none.
  const bool is_standard_;
  const std::string name_;
};

// Whether both are one regular file, whatever it is called; "-" is standard input for `read_path`
// and standard output for `written_path`.
bool AreSameFile(const std::string& read_path, const std::string& written_path);

// `status` with the file's name before its message, where it is not there already.
absl::Status NamingFile(const std::string& path, const absl::Status& status);

// Everything in the file at `path`, or "-" for standard input. NOT_FOUND, PERMISSION_DENIED or
// another error of the system, which names the path; RESOURCE_EXHAUSTED beyond `bytes_max`.
absl::StatusOr<std::string> ReadFile(const std::string& path, uint64_t bytes_max,
                                     const ReadProgress& progress);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_FILE_H_
