// What every command needs: a server, its options, and somewhere to print.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_SESSION_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_SESSION_H_

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/command_line/arguments/array_reference.h"
#include "client/command_line/connection_options.h"
#include "client/command_line/exit_code.h"
#include "client/command_line/input/input_array.h"
#include "client/command_line/input/load_array.h"
#include "client/command_line/output/progress.h"
#include "client/command_line/output/terminal.h"
#include "client/command_line/report/answer.h"
#include "gridfold/client.h"

namespace gridfold::client {

// The flags that all commands share.
struct SessionOptions {
  ConnectionOptions connection;
  std::string tenant;
  Priority priority = Priority::kNormal;
  double timeout_s = 300;  // 0: none.
  ArrayTransport transport = ArrayTransport::kAuto;
  int stream_count = 0;  // 0: the library's choice.
  bool json = false;
};

// What a call of Session::Ask returns.
template <typename Call>
using CallResult = std::invoke_result_t<Call&, Client&, const CallOptions&>;

// One run of the program. Not thread-safe.
class Session {
 public:
  // Results go to `out`, notes beside them to `error`.
  Session(const SessionOptions& options, const TextStyle& style, std::ostream& out,
          std::ostream& error);

  const SessionOptions& options() const { return options_; }
  const TextStyle& style() const { return style_; }
  std::ostream& out() const { return out_; }

  // Connects to the server. UNAVAILABLE says what to do about it; errors of a file end the program
  // with kInputOutput.
  absl::StatusOr<std::unique_ptr<Client>> Connect() const;

  // The largest message that both the server, which is asked, and the client take.
  absl::StatusOr<uint64_t> MessageBytesMax() const;

  // What the reference means, for which the server is asked where it depends on the array's shape.
  absl::StatusOr<ResidentArray> Find(const ArrayReference& reference) const;

  // Says how many values of an input are missing, and where there are no elements at all: neither
  // is an error, and either may be a surprise.
  void TellAbout(const InputOptions& options, const InputDescription& input) const;

  // Reads a file whole, of no more bytes than a request carries. Errors end the program with
  // kInputOutput.
  absl::StatusOr<std::string> Read(const std::string& path) const;

  // Shows what goes on, where somebody watches.
  std::unique_ptr<Progress> ShowProgress() const;

  // Runs `call`, of a connected client and options for it, which sends so many bytes of `input`,
  // and measures it, and shows how far it is.
  template <typename Call>
  auto Ask(const InputDescription& input, uint64_t size_bytes,
           std::optional<ArrayTransport> transport, Call call) const
      -> absl::StatusOr<Answer<typename CallResult<Call>::value_type>>;

  // The same for an array.
  template <typename Call>
  auto Ask(const InputArray& array, Call call) const {
    return Ask(array.description, array.sent_bytes(), array.transport, std::move(call));
  }

 private:
  std::string RequestLabel(uint64_t size_bytes) const;

  const SessionOptions options_;
  const TextStyle style_;
  std::ostream& out_;
  std::ostream& error_;
};

template <typename Call>
auto Session::Ask(const InputDescription& input, uint64_t size_bytes,
                  std::optional<ArrayTransport> transport, Call call) const
    -> absl::StatusOr<Answer<typename CallResult<Call>::value_type>> {
  absl::StatusOr<std::unique_ptr<Client>> client = Connect();
  if (!client.ok()) return client.status();
  const std::unique_ptr<Progress> progress = ShowProgress();
  progress->Begin(RequestLabel(size_bytes));
  CallOptions options;
  options.transport = transport;
  options.progress = [&progress](uint64_t sent_bytes, uint64_t all_bytes) {
    progress->Update(sent_bytes, all_bytes);
  };
  const absl::Time start = absl::Now();
  auto result = call(**client, options);
  const absl::Duration round_trip_time = absl::Now() - start;
  if (!result.ok()) return result.status();
  return Answer<typename CallResult<Call>::value_type>{
      .input = input, .result = *std::move(result), .round_trip_time = round_trip_time};
}

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_SESSION_H_
