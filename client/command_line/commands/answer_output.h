// The flag that says in which form a command prints its answers, or to which file, and the
// printing.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_ANSWER_OUTPUT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_ANSWER_OUTPUT_H_

#include <functional>
#include <ostream>
#include <string>
#include <utility>

#include "CLI/App.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/command_line/input/host_array.h"
#include "client/command_line/output/data_table.h"
#include "client/command_line/session.h"

namespace gridfold::client {

enum class AnswerForm { kText, kJson, kCsv, kMarkdown, kNpy };

// One answer in all forms, of which the wanted one is made. `array` may be nullptr where there is
// none.
struct AnswerForms {
  std::function<void(std::ostream&)> text;
  std::function<std::string()> json;
  std::function<DataTable()> table;
  std::function<absl::StatusOr<HostArray>()> array;
};

// Not thread-safe.
class AnswerOutput {
 public:
  AnswerOutput() = default;
  // Of a command that has its flag's value from elsewhere; .npy is among the forms.
  explicit AnswerOutput(std::string value) : value_(std::move(value)), has_arrays_(true) {}

  // Adds --output to a command. `has_arrays`: .npy is among the forms.
  void AddTo(CLI::App& command, const char* group, bool has_arrays);

  // Before anything is asked for: whether the flag's value makes sense, for so many answers.
  absl::Status Check(size_t answer_count) const;

  // The form that --output, or else --json, asks for.
  AnswerForm form(const Session& session) const;

  // Prints or keeps the next answer.
  absl::Status Add(const Session& session, const AnswerForms& answer);

  // The one answer of a command that has no more: Add and Finish.
  absl::Status Print(const Session& session, const AnswerForms& answer);

  // Once, after the last answer: prints or writes what was kept. An error of the file carries
  // kInputOutput.
  absl::Status Finish(const Session& session);

 private:
  bool IsFile() const;

  std::string value_;
  bool has_arrays_ = false;
  bool has_added_ = false;
  std::string kept_text_;  // Of JSON that is written to a file.
  DataTable kept_table_;
  HostArray kept_array_;
};

// The form that a value of --output asks for by its name, or as a file by how it ends: kText where
// it does not say.
AnswerForm FormOf(const std::string& value);

// Whether the value is the name of a form rather than a file's.
bool IsFormName(const std::string& value);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_ANSWER_OUTPUT_H_
