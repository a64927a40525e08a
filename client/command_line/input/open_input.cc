#include "client/command_line/input/open_input.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/command_line/input/decompression.h"
#include "client/command_line/input/file_signature.h"
#include "client/command_line/input/hdf5_input.h"
#include "client/command_line/input/zip_archive.h"

namespace gridfold::client {
namespace {

// A compressed member of a compressed archive is as deep as anything that somebody means.
constexpr int kDepthMax = 3;

// Members that an error lists.
constexpr size_t kListedMembersMax = 20;

constexpr size_t kCopyBytes = size_t{1} << 20;

// A file that tells how far it has been read.
class FileSource : public ByteSource {
 public:
  FileSource(std::shared_ptr<File> file, ReadProgress progress)
      : file_(std::move(file)), progress_(std::move(progress)), total_bytes_(file_->size_bytes()) {}

  // Tells about large reads on the way.
  absl::StatusOr<size_t> Read(std::span<char> buffer) override {
    size_t used = 0;
    while (used < buffer.size()) {
      const std::span<char> step =
          buffer.subspan(used, std::min(buffer.size() - used, kProgressBytes));
      const absl::StatusOr<size_t> size = file_->Read(step);
      if (!size.ok()) return size.status();
      used += *size;
      read_bytes_ += *size;
      if (progress_) progress_(read_bytes_, total_bytes_);
      if (*size < step.size()) break;
    }
    return used;
  }

  std::optional<uint64_t> size_bytes() const override { return file_->size_bytes(); }

  std::shared_ptr<const FileMapping> Map(uint64_t bytes_before) const override {
    return file_->Map(bytes_before);
  }

 private:
  static constexpr size_t kProgressBytes = size_t{4} << 20;

  const std::shared_ptr<File> file_;
  const ReadProgress progress_;
  const std::optional<uint64_t> total_bytes_;
  uint64_t read_bytes_ = 0;
};

// Copies all of `source` to a temporary file, so that it can be read anywhere.
absl::StatusOr<std::shared_ptr<File>> Spool(ByteSource& source) {
  absl::StatusOr<File> file = File::OpenTemporary();
  if (!file.ok()) return file.status();
  std::string buffer(kCopyBytes, '\0');
  while (true) {
    const absl::StatusOr<size_t> size = source.Read({buffer.data(), buffer.size()});
    if (!size.ok()) return size.status();
    const absl::string_view piece(buffer.data(), *size);
    if (absl::Status status = file->Write(piece); !status.ok()) return status;
    if (*size < buffer.size()) return std::make_shared<File>(*std::move(file));
  }
}

std::string ListMembers(const std::vector<ZipMember>& members) {
  std::string list;
  for (size_t i = 0; i < std::min(members.size(), kListedMembersMax); ++i) {
    absl::StrAppend(&list, i == 0 ? "" : ", ", absl::StripSuffix(members[i].name, ".npy"));
  }
  if (members.size() > kListedMembersMax) {
    absl::StrAppend(&list, " and ", members.size() - kListedMembersMax, " more");
  }
  return list;
}

bool HasMember(const std::vector<ZipMember>& members, absl::string_view name) {
  return std::any_of(members.begin(), members.end(),
                     [name](const ZipMember& member) { return member.name == name; });
}

// Kinds of files that are zip archives inside.
absl::Status CheckNotForeign(const std::vector<ZipMember>& members) {
  if (HasMember(members, "xl/workbook.xml")) {
    return absl::InvalidArgumentError(
        "this is an Excel file, which gridfold does not read: save the sheet as CSV");
  }
  const bool is_torch = std::any_of(members.begin(), members.end(), [](const ZipMember& member) {
    return absl::EndsWith(member.name, "/data.pkl");
  });
  if (!is_torch) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "this is a PyTorch file, which gridfold does not read: save the array with "
      "numpy.save('array.npy', tensor.numpy())");
}

absl::StatusOr<ZipMember> ChooseMember(const std::vector<ZipMember>& members,
                                       const std::optional<std::string>& name) {
  if (name) {
    for (const ZipMember& member : members) {
      if (member.name == *name || member.name == absl::StrCat(*name, ".npy")) return member;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("--member: the archive has no '", *name, "', only: ", ListMembers(members)));
  }
  if (absl::Status status = CheckNotForeign(members); !status.ok()) return status;
  if (members.empty()) return absl::InvalidArgumentError("the archive is empty");
  if (members.size() == 1) return members[0];
  return absl::InvalidArgumentError(
      absl::StrCat("the archive has ", members.size(),
                   " members; choose one with --member: ", ListMembers(members)));
}

// What was found out on the way to the elements.
class Recognition {
 public:
  Recognition(const InputOptions& options, std::shared_ptr<File> file, const ReadProgress& progress)
      : options_(options),
        name_(options.path),
        first_byte_(file->position()),
        file_(file),
        progress_(progress),
        can_reopen_(options.path != "-" && first_byte_.has_value()),
        content_(std::make_unique<PeekedSource>(
            std::make_unique<FileSource>(std::move(file), progress))) {}

  absl::StatusOr<OpenedInput> Finish() {
    if (options_.format != FileFormat::kRaw) {
      if (absl::Status status = Unwrap(); !status.ok()) return status;
    }
    if (options_.member && !has_chosen_member_ && !options_.is_second) {
      return absl::InvalidArgumentError(
          "--member is for archives (.npz) and HDF5 files, and the file is none");
    }
    const absl::StatusOr<FileFormat> format = Detect();
    if (!format.ok()) return format.status();
    if (*format != FileFormat::kCsv && options_.csv.is_given() && !options_.is_second) {
      return absl::InvalidArgumentError(
          "--column, --delimiter, --header, --missing and --comment are for CSV, and the file is "
          "none");
    }
    return OpenedInput{.content = std::move(content_),
                       .format = *format,
                       .delimiter = Delimiter(),
                       .can_reopen = can_reopen_};
  }

 private:
  // Decompresses and unpacks until there is nothing more to.
  absl::Status Unwrap() {
    for (int depth = 0;; ++depth) {
      const absl::StatusOr<absl::string_view> beginning = content_->Peek(kSignatureBytes);
      if (!beginning.ok()) return beginning.status();
      const FileKind kind = RecognizeKind(*beginning);
      if (kind == FileKind::kUnknown || kind == FileKind::kNpy) return absl::OkStatus();
      if (depth == kDepthMax) {
        return absl::InvalidArgumentError("the file is compressed over and over: unpack it");
      }
      absl::StatusOr<std::unique_ptr<ByteSource>> content = Open(kind);
      if (!content.ok()) return content.status();
      content_ = std::make_unique<PeekedSource>(*std::move(content));
      is_wrapped_ = true;
    }
  }

  absl::StatusOr<std::unique_ptr<ByteSource>> Open(FileKind kind) {
    if (kind == FileKind::kZip) return OpenZip();
    if (kind == FileKind::kHdf5) return OpenHdf5();
    const absl::string_view suffix = kind == FileKind::kGzip ? ".gz" : ".zst";
    if (absl::EndsWithIgnoreCase(name_, suffix)) name_.erase(name_.size() - suffix.size());
    return kind == FileKind::kGzip ? DecompressGzip(std::move(content_))
                                   : DecompressZstd(std::move(content_));
  }

  // Has what the content is in a file from `first_byte_` on.
  absl::Status KeepInFile() {
    if (!is_wrapped_ && first_byte_) return absl::OkStatus();
    absl::StatusOr<std::shared_ptr<File>> spooled = Spool(*content_);
    if (!spooled.ok()) return spooled.status();
    file_ = *std::move(spooled);
    first_byte_ = 0;
    return absl::OkStatus();
  }

  // The member that is meant, as .npy.
  absl::StatusOr<std::unique_ptr<ByteSource>> OpenHdf5() {
    if (absl::Status status = KeepInFile(); !status.ok()) return status;
    const bool is_chosen = std::exchange(has_chosen_member_, true);
    return ReadHdf5(*file_, is_chosen ? std::nullopt : options_.member, progress_);
  }

  absl::StatusOr<std::unique_ptr<ByteSource>> OpenZip() {
    if (absl::Status status = KeepInFile(); !status.ok()) return status;
    const absl::StatusOr<ZipArchive> archive = ZipArchive::Open(file_, *first_byte_);
    if (!archive.ok()) return archive.status();
    const absl::StatusOr<ZipMember> member =
        ChooseMember(archive->members(), has_chosen_member_ ? std::nullopt : options_.member);
    if (!member.ok()) return member.status();
    has_chosen_member_ = true;
    name_ = member->name;
    return archive->OpenMember(*member);
  }

  bool HasSuffix(absl::string_view suffix) const { return absl::EndsWithIgnoreCase(name_, suffix); }

  absl::StatusOr<FileFormat> Detect() {
    if (options_.format == FileFormat::kRaw) return FileFormat::kRaw;
    const absl::StatusOr<absl::string_view> beginning = content_->Peek(kSignatureBytes);
    if (!beginning.ok()) return beginning.status();
    FileFormat format = options_.format;
    if (format == FileFormat::kAuto) format = Guess(*beginning);
    if (beginning->empty() && format != FileFormat::kRaw) {
      return absl::InvalidArgumentError(is_wrapped_ ? "there is nothing in it"
                                                    : "the file is empty");
    }
    if (format != FileFormat::kNpy) {
      const std::optional<ForeignKind> foreign = RecognizeForeignKind(*beginning);
      if (foreign && (foreign->is_certain || format != FileFormat::kRaw)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "this is ", foreign->name, ", which gridfold does not read: ", foreign->advice,
            options_.element_type ? "; --format raw takes it as elements all the same" : ""));
      }
    }
    if (format == FileFormat::kCsv && LooksBinary(*beginning, Delimiter())) {
      return absl::InvalidArgumentError("the file holds binary data and is no CSV");
    }
    if (format != FileFormat::kAuto) return format;
    return absl::InvalidArgumentError(
        "the format is not known: give --type for raw elements, or --format csv");
  }

  FileFormat Guess(absl::string_view beginning) const {
    if (RecognizeKind(beginning) == FileKind::kNpy) return FileFormat::kNpy;
    const bool may_be_csv = options_.csv.is_given() && !options_.is_second;
    if (may_be_csv || HasSuffix(".csv") || HasSuffix(".tsv")) return FileFormat::kCsv;
    if (HasSuffix(".npy") && !RecognizeForeignKind(beginning)) return FileFormat::kNpy;
    if (options_.element_type) return FileFormat::kRaw;
    return options_.csv.is_given() ? FileFormat::kCsv : FileFormat::kAuto;
  }

  char Delimiter() const { return options_.csv.delimiter.value_or(HasSuffix(".tsv") ? '\t' : ','); }

  const InputOptions& options_;
  std::string name_;                    // Of what `content_` is.
  std::optional<uint64_t> first_byte_;  // Of a regular file: where it began.
  std::shared_ptr<File> file_;
  const ReadProgress progress_;
  const bool can_reopen_;
  std::unique_ptr<PeekedSource> content_;
  bool is_wrapped_ = false;
  bool has_chosen_member_ = false;
};

}  // namespace

absl::StatusOr<OpenedInput> OpenInput(const InputOptions& options, const ReadProgress& progress) {
  absl::StatusOr<File> file = File::OpenToRead(options.path);
  if (!file.ok()) return file.status();
  return Recognition(options, std::make_shared<File>(*std::move(file)), progress).Finish();
}

}  // namespace gridfold::client
