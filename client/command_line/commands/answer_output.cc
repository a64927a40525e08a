#include "client/command_line/commands/answer_output.h"

#include <iterator>
#include <utility>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/command_line/output/array_file.h"
#include "client/command_line/output/output_file.h"
#include "client/command_line/output/standard_output.h"

namespace gridfold::client {
namespace {

struct NamedForm {
  const char* name;
  const char* suffix;
  AnswerForm form;
};

constexpr NamedForm kForms[] = {{"json", ".json", AnswerForm::kJson},
                                {"csv", ".csv", AnswerForm::kCsv},
                                {"markdown", ".md", AnswerForm::kMarkdown},
                                {"npy", ".npy", AnswerForm::kNpy}};

// The rows of another table below those of `table`. Both are of one command, but groups of several
// inputs may have different shapes: a table of its own follows then.
bool Join(DataTable added, DataTable& table) {
  if (table.heading.empty()) {
    table = std::move(added);
    return true;
  }
  if (added.heading != table.heading) return false;
  table.rows.insert(table.rows.end(), std::make_move_iterator(added.rows.begin()),
                    std::make_move_iterator(added.rows.end()));
  return true;
}

}  // namespace

bool IsFormName(const std::string& value) {
  for (const NamedForm& form : kForms) {
    if (value == form.name) return true;
  }
  return false;
}

AnswerForm FormOf(const std::string& value) {
  for (const NamedForm& form : kForms) {
    if (value == form.name || absl::EndsWith(value, form.suffix)) return form.form;
  }
  return AnswerForm::kText;
}

void AnswerOutput::AddTo(CLI::App& command, const char* group, bool has_arrays) {
  has_arrays_ = has_arrays;
  command
      .add_option("--output", value_,
                  has_arrays ? "Print the answer as json, csv, markdown or npy, every number in "
                               "full, or write FILE in the form that its name ends in: .json, "
                               ".csv, .md or .npy"
                             : "Print the answer as json, csv or markdown, every number in full, "
                               "or write FILE in the form that its name ends in: .json, .csv or "
                               ".md")
      ->type_name("FORM|FILE")
      ->group(group);
}

bool AnswerOutput::IsFile() const { return !value_.empty() && !IsFormName(value_); }

absl::Status AnswerOutput::Check(size_t answer_count) const {
  if (value_.empty()) return absl::OkStatus();
  const AnswerForm form = FormOf(value_);
  absl::Status status;
  if (form == AnswerForm::kText || (form == AnswerForm::kNpy && !has_arrays_)) {
    status = absl::InvalidArgumentError(
        absl::StrCat("--output: '", value_, "' is neither json, csv, markdown",
                     has_arrays_ ? " nor npy, nor ends in .json, .csv, .md or .npy"
                                 : " nor a file that ends in .json, .csv or .md"));
  } else if (form == AnswerForm::kNpy && answer_count > 1) {
    status = absl::InvalidArgumentError(
        absl::StrCat("--output: .npy holds one array, and there are ", answer_count, " inputs"));
  }
  if (!status.ok()) return WithExitCode(status, ExitCode::kUsage);
  if (form == AnswerForm::kNpy && !IsFile()) return CheckBinaryOutput("--output", "-");
  return absl::OkStatus();
}

AnswerForm AnswerOutput::form(const Session& session) const {
  if (!value_.empty()) return FormOf(value_);
  return session.options().json ? AnswerForm::kJson : AnswerForm::kText;
}

absl::Status AnswerOutput::Add(const Session& session, const AnswerForms& answer) {
  const bool is_first = !std::exchange(has_added_, true);
  switch (form(session)) {
    case AnswerForm::kText:
      if (!is_first) session.out() << "\n";
      answer.text(session.out());
      return absl::OkStatus();
    case AnswerForm::kJson:
      // One object in each line, as they come.
      if (IsFile()) {
        kept_text_ += answer.json();
      } else {
        session.out() << answer.json();
      }
      return absl::OkStatus();
    case AnswerForm::kCsv:
    case AnswerForm::kMarkdown:
      if (!Join(answer.table(), kept_table_)) {
        return WithExitCode(
            absl::InvalidArgumentError(
                "--output: the answers of these inputs have other dimensions, and are no table"),
            ExitCode::kUsage);
      }
      return absl::OkStatus();
    case AnswerForm::kNpy: {
      absl::StatusOr<HostArray> array = answer.array();
      if (!array.ok()) return WithExitCode(array.status(), ExitCode::kUsage);
      kept_array_ = *std::move(array);
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

absl::Status AnswerOutput::Print(const Session& session, const AnswerForms& answer) {
  const absl::Status status = Add(session, answer);
  return status.ok() ? Finish(session) : status;
}

absl::Status AnswerOutput::Finish(const Session& session) {
  const AnswerForm wanted = form(session);
  if (!has_added_ || wanted == AnswerForm::kText) return absl::OkStatus();
  absl::Status status;
  if (wanted == AnswerForm::kNpy) {
    status = WriteArrayFile(IsFile() ? value_ : "-", kept_array_.element_type, kept_array_.shape,
                            kept_array_.bytes);
  } else {
    if (wanted == AnswerForm::kCsv) kept_text_ = ToCsv(kept_table_);
    if (wanted == AnswerForm::kMarkdown) kept_text_ = ToMarkdown(kept_table_);
    if (!IsFile()) {
      session.out() << kept_text_;
    } else {
      status = WriteFile(value_, {kept_text_});
    }
  }
  return status.ok() ? status : WithExitCode(status, ExitCode::kInputOutput);
}

}  // namespace gridfold::client
