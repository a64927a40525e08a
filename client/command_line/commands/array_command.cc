// gridfold array: arrays that are kept on the server.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/command_line/arguments/array_reference.h"
#include "client/command_line/arguments/input_arguments.h"
#include "client/command_line/arguments/number_list.h"
#include "client/command_line/arguments/number_option.h"
#include "client/command_line/commands/command.h"
#include "client/command_line/commands/command_group.h"
#include "client/command_line/commands/input_passage.h"
#include "client/command_line/commands/outgoing_array.h"
#include "client/command_line/output/array_file.h"
#include "client/command_line/output/standard_output.h"
#include "client/command_line/report/array_report.h"
#include "client/command_line/report/json_report.h"

namespace gridfold::client {
namespace {

constexpr char kArrayFooter[] = R"(
Examples:
  gridfold array put delay delay.npy                 send it once,
  gridfold reduce --array delay --stat mean,max      compute on it as often as you like
  gridfold histogram --array 'delay[0:1000]' --bins 20
  gridfold array put large large.npy --sharded       on all devices of the server
  gridfold array create samples --type float32 --shape 1000000 --expire 24h
  gridfold array write samples part7.npy --first 700000
  gridfold array get 'delay[5:3]' --output part.npy
  gridfold array get 'images{0, ::2, ::-1}' --output part.npy    as NumPy's images[0, ::2, ::-1]
  gridfold array list
  gridfold array delete delay
)";

// The part of a command line that says when nobody needs an array any more.
class ExpiryArgument {
 public:
  explicit ExpiryArgument(CLI::App& command) {
    command
        .add_option("--expire", text_,
                    "Delete the array when it has not been used for so long; default 1h")
        ->type_name("TIME");
  }

  absl::StatusOr<std::optional<absl::Duration>> ToDuration() const {
    if (text_.empty()) return std::nullopt;
    absl::Duration duration;
    if (absl::ParseDuration(text_, &duration) && duration != absl::InfiniteDuration() &&
        duration != -absl::InfiniteDuration()) {
      return std::optional<absl::Duration>(duration);
    }
    return WithExitCode(absl::InvalidArgumentError(absl::StrCat(
                            "--expire: '", text_, "' is not a time such as 30s, 90m or 24h")),
                        ExitCode::kUsage);
  }

 private:
  std::string text_;
};

// The part of a command line that says where an array is to lie.
class PlaceArgument {
 public:
  explicit PlaceArgument(CLI::App& command) {
    AddNumberOption<uint32_t>(
        command, "--device", number_,
        "The device to hold the array, as 'gridfold info' numbers them; default: the one with the "
        "most room");
    command.add_flag("--sharded", is_sharded_,
                     "Hold the array on all devices, each with consecutive elements or rows: most "
                     "questions about it are answered by all of them");
  }

  std::optional<uint32_t> device() const { return number_; }
  ArrayPlacement placement() const {
    return is_sharded_ ? ArrayPlacement::kSharded : ArrayPlacement::kDefault;
  }

 private:
  std::optional<uint32_t> number_;
  bool is_sharded_ = false;
};

void Report(const Session& session, const ArrayDescription& array) {
  if (session.options().json) {
    session.out() << ToJson(array);
  } else {
    PrintArrays({&array, 1}, session.style(), session.out());
  }
}

class NameArgument {
 public:
  explicit NameArgument(CLI::App& command) {
    command.add_option("NAME", text_, "The array's name")->required();
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class CreateArrayCommand : public Command {
 public:
  explicit CreateArrayCommand(CLI::App& parent)
      : command_(*parent.add_subcommand("create", "Make an array whose elements are all 0")),
        name_(command_),
        expiry_(command_),
        place_(command_) {
    command_.add_option("--type", type_, "Type of the elements, for example float32")
        ->type_name("TYPE")
        ->required();
    command_.add_option("--shape", shape_, "Number of elements, or of rows and columns, or more")
        ->type_name("ELEMENTS | ROWS,COLUMNS,...")
        ->required();
  }

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    const absl::StatusOr<ElementType> type = ParseTypeArgument("--type", type_);
    if (!type.ok()) return WithExitCode(type.status(), ExitCode::kUsage);
    absl::StatusOr<std::vector<uint64_t>> shape = ParseNumberList<uint64_t>("--shape", shape_);
    if (!shape.ok()) return WithExitCode(shape.status(), ExitCode::kUsage);
    const absl::StatusOr<std::optional<absl::Duration>> expiry = expiry_.ToDuration();
    if (!expiry.ok()) return expiry.status();
    const absl::StatusOr<std::unique_ptr<Client>> client = session.Connect();
    if (!client.ok()) return client.status();
    const absl::StatusOr<ArrayDescription> array =
        (*client)->CreateArray({.name = name_.text(),
                                .element_type = *type,
                                .shape = *std::move(shape),
                                .idle_expiry = *expiry,
                                .device = place_.device(),
                                .placement = place_.placement()});
    if (array.ok()) Report(session, *array);
    return array.status();
  }

 private:
  CLI::App& command_;
  NameArgument name_;
  ExpiryArgument expiry_;
  PlaceArgument place_;
  std::string type_;
  std::string shape_;
};

class PutArrayCommand : public Command {
 public:
  explicit PutArrayCommand(CLI::App& parent)
      : command_(*parent.add_subcommand("put", "Make an array of a file's elements")),
        name_(command_),
        input_(command_, InputPlaces::kFile),
        expiry_(command_),
        place_(command_) {}

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    const absl::StatusOr<InputOptions> input = input_.ToOptions();
    if (!input.ok()) return WithExitCode(input.status(), ExitCode::kUsage);
    const absl::StatusOr<std::optional<absl::Duration>> expiry = expiry_.ToDuration();
    if (!expiry.ok()) return expiry.status();
    absl::StatusOr<OutgoingArray> elements = OutgoingArray::Open(*input, kChunkBytes);
    if (!elements.ok()) return elements.status();
    if (absl::Status status = elements->LearnSize(session); !status.ok()) return status;
    const absl::StatusOr<std::unique_ptr<Client>> client = session.Connect();
    if (!client.ok()) return client.status();
    const absl::StatusOr<ArrayDescription> array =
        (*client)->CreateArray({.name = name_.text(),
                                .element_type = elements->stream().element_type(),
                                .shape = elements->stream().ShapeOf(*elements->size_bytes()),
                                .idle_expiry = *expiry,
                                .device = place_.device(),
                                .placement = place_.placement()});
    if (!array.ok()) return array.status();
    absl::Status status = WriteElements(session, **client, name_.text(), 0, *elements);
    if (status.ok()) {
      elements->TellAbout(session);
      Report(session, *array);
    } else {
      // Half an array is of no use, and its name would be in the way of another try.
      (void)(*client)->DeleteArray(name_.text());
    }
    return status;
  }

 private:
  CLI::App& command_;
  NameArgument name_;  // Before FILE.
  InputArguments input_;
  ExpiryArgument expiry_;
  PlaceArgument place_;
};

class WriteArrayCommand : public Command {
 public:
  explicit WriteArrayCommand(CLI::App& parent)
      : command_(*parent.add_subcommand("write", "Write a file's elements into an array")),
        name_(command_),
        input_(command_, InputPlaces::kFile) {
    AddNumberOption<uint64_t>(command_, "--first", first_element_,
                              "Where they go: number of an element, counted row by row")
        ->default_str(absl::StrCat(first_element_));
  }

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    const absl::StatusOr<InputOptions> input = input_.ToOptions();
    if (!input.ok()) return WithExitCode(input.status(), ExitCode::kUsage);
    absl::StatusOr<OutgoingArray> elements = OutgoingArray::Open(*input, kChunkBytes);
    if (!elements.ok()) return elements.status();
    const absl::StatusOr<std::unique_ptr<Client>> client = session.Connect();
    if (!client.ok()) return client.status();
    const absl::StatusOr<ArrayDescription> array = (*client)->GetArray(name_.text());
    if (!array.ok()) return array.status();
    const ElementType type = elements->stream().element_type();
    if (array->element_type != type) {
      return absl::InvalidArgumentError(
          absl::StrCat(input->path, " has elements of type ", ElementTypeName(type), ", and array ",
                       name_.text(), " of type ", ElementTypeName(array->element_type)));
    }
    if (absl::Status status = CheckRoom(*array, *elements); !status.ok()) return status;
    absl::Status status = WriteElements(session, **client, name_.text(), first_element_, *elements);
    if (!status.ok()) return status;
    elements->TellAbout(session);
    Report(session, *array);
    return status;
  }

 private:
  // Before a part of them is written: whether they fit.
  absl::Status CheckRoom(const ArrayDescription& array, const OutgoingArray& elements) const {
    const uint64_t element_bytes = ElementSizeBytes(array.element_type);
    const uint64_t room = array.size_bytes / element_bytes;
    const uint64_t count = elements.size_bytes().value_or(0) / element_bytes;
    if (first_element_ <= room && count <= room - first_element_) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("--first: ", count, " elements from ",
                                                   first_element_, " on are more than the array's ",
                                                   room));
  }

  CLI::App& command_;
  NameArgument name_;  // Before FILE.
  InputArguments input_;
  uint64_t first_element_ = 0;
};

class GetArrayCommand : public Command {
 public:
  explicit GetArrayCommand(CLI::App& parent)
      : command_(*parent.add_subcommand("get", "Read an array, or a part of it")) {
    command_
        .add_option("NAME", reference_,
                    "The array; NAME[FIRST:COUNT] is those elements of it, or rows, and "
                    "'NAME{::2, 0}' what NumPy's [::2, 0] chooses")
        ->required();
    command_
        .add_option("--output", output_,
                    "Where to: .npy where the name ends so, else bare elements; - writes .npy to "
                    "standard output")
        ->type_name("FILE")
        ->required();
  }

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    if (absl::Status status = CheckBinaryOutput("--output", output_); !status.ok()) return status;
    const absl::StatusOr<ArrayReference> reference = ParseReference("NAME", reference_);
    if (!reference.ok()) return WithExitCode(reference.status(), ExitCode::kUsage);
    const absl::StatusOr<ResidentArray> array = session.Find(*reference);
    if (!array.ok()) return array.status();
    const absl::StatusOr<std::unique_ptr<Client>> client = session.Connect();
    if (!client.ok()) return client.status();
    const absl::StatusOr<ArrayData> elements = (*client)->ReadArray(*array);
    if (!elements.ok()) return elements.status();
    const absl::Status status =
        WriteArrayFile(output_, elements->element_type, elements->shape, elements->data);
    return status.ok() ? status : WithExitCode(status, ExitCode::kInputOutput);
  }

 private:
  CLI::App& command_;
  std::string reference_;
  std::string output_;
};

class ShowArrayCommand : public Command {
 public:
  explicit ShowArrayCommand(CLI::App& parent)
      : command_(*parent.add_subcommand("show", "Describe an array")), name_(command_) {}

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    const absl::StatusOr<std::unique_ptr<Client>> client = session.Connect();
    if (!client.ok()) return client.status();
    const absl::StatusOr<ArrayDescription> array = (*client)->GetArray(name_.text());
    if (array.ok()) Report(session, *array);
    return array.status();
  }

 private:
  CLI::App& command_;
  NameArgument name_;
};

class ListArraysCommand : public Command {
 public:
  explicit ListArraysCommand(CLI::App& parent)
      : command_(*parent.add_subcommand("list", "List the arrays on the server")) {}

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    const absl::StatusOr<std::unique_ptr<Client>> client = session.Connect();
    if (!client.ok()) return client.status();
    const absl::StatusOr<std::vector<ArrayDescription>> arrays = (*client)->ListArrays();
    if (!arrays.ok()) return arrays.status();
    if (session.options().json) {
      session.out() << ToJson(*arrays);
    } else {
      PrintArrays(*arrays, session.style(), session.out());
    }
    return absl::OkStatus();
  }

 private:
  CLI::App& command_;
};

class DeleteArrayCommand : public Command {
 public:
  explicit DeleteArrayCommand(CLI::App& parent)
      : command_(*parent.add_subcommand("delete", "Delete an array")), name_(command_) {}

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    const absl::StatusOr<std::unique_ptr<Client>> client = session.Connect();
    if (!client.ok()) return client.status();
    return (*client)->DeleteArray(name_.text());
  }

 private:
  CLI::App& command_;
  NameArgument name_;
};

}  // namespace

std::unique_ptr<Command> MakeArrayCommand(CLI::App& program) {
  auto group =
      std::make_unique<CommandGroup>(program, "array", "Keep arrays on the server", kArrayFooter);
  group->Add<PutArrayCommand>();
  group->Add<GetArrayCommand>();
  group->Add<ListArraysCommand>();
  group->Add<ShowArrayCommand>();
  group->Add<DeleteArrayCommand>();
  group->Add<CreateArrayCommand>();
  group->Add<WriteArrayCommand>();
  return group;
}

}  // namespace gridfold::client
