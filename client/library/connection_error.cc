#include "client/library/connection_error.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "client/library/target.h"
#include "google/protobuf/empty.pb.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/security/credentials.h"

namespace gridfold::client {
namespace {

constexpr char kFaultPayload[] = "gridfold/connection-fault";
constexpr absl::Duration kProbeTime = absl::Seconds(1);

constexpr char kNoHost[] = "there is no host of that name";
constexpr char kSpeaksTls[] = "the server speaks TLS only";
constexpr char kWantsCertificate[] =
    "the server has closed the connection; it may ask for the caller's certificate";

struct KnownCause {
  const char* part;  // Of gRPC's message.
  ConnectionFault fault;
  const char* text;
};

// OpenSSL and BoringSSL write the same reasons differently. The first that is found counts.
constexpr KnownCause kKnownCauses[] = {
    {"DNS resolution failed", ConnectionFault::kUnknownHost, kNoHost},
    {"Trying to connect an http1.x server", ConnectionFault::kNotGrpc,
     "the server speaks HTTP/1, not gRPC"},
    {"certificate verify failed", ConnectionFault::kUntrusted,
     "the server's certificate is not trusted: another authority has signed it, or it has expired"},
    {"CERTIFICATE_VERIFY_FAILED", ConnectionFault::kUntrusted,
     "the server's certificate is not trusted: another authority has signed it, or it has expired"},
    {"wrong version number", ConnectionFault::kNoTls, "the server does not speak TLS"},
    {"WRONG_VERSION_NUMBER", ConnectionFault::kNoTls, "the server does not speak TLS"},
    {"Connection refused", ConnectionFault::kRefused, "connection refused"},
    {"No such file or directory", ConnectionFault::kRefused, "there is no such socket"},
    {"timed out before receiving SETTINGS", ConnectionFault::kSilent, "no answer"},
    {"Socket closed", ConnectionFault::kClosed, "the server has closed the connection"},
    {"Connection reset", ConnectionFault::kClosed, "the server has closed the connection"},
};

// What lies between two parts of a text; nothing where they are not there.
std::optional<std::string> Between(absl::string_view text, absl::string_view before,
                                   absl::string_view after) {
  const size_t begin = text.find(before);
  if (begin == absl::string_view::npos) return std::nullopt;
  const absl::string_view rest = text.substr(begin + before.size());
  return std::string(rest.substr(0, rest.find(after)));
}

// What gRPC says of a call over `channel` that does not wait for a connection; nothing where the
// server has answered it.
std::optional<std::string> AskWhatIsWrong(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + kProbeTime));
  grpc::GenericStub stub(channel);
  const auto call =
      stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", grpc::ByteBuffer(), &queue);
  call->StartCall();
  grpc::ByteBuffer response;
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  if (status.ok()) return std::nullopt;
  return status.error_message();
}

bool SpeaksTls(const ClientOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const auto channel =
      grpc::CreateCustomChannel(options.target, grpc::SslCredentials({}), arguments);
  const std::optional<std::string> message = AskWhatIsWrong(channel);
  if (!message) return true;
  const ConnectionFault fault = ParseConnectionCause(*message).fault;
  return fault == ConnectionFault::kUntrusted || fault == ConnectionFault::kOtherName;
}

// What is behind a server that hangs up.
ConnectionCause WhyClosed(const ClientOptions& options) {
  if (options.tls) return {ConnectionFault::kCertificateWanted, kWantsCertificate};
  if (options.credentials == nullptr && SpeaksTls(options)) {
    return {ConnectionFault::kTlsOnly, kSpeaksTls};
  }
  return {ConnectionFault::kClosed,
          "the server has closed the connection: it takes no more, or is no gRPC server"};
}

std::string CannotConnect(const ClientOptions& options) {
  const std::optional<Proxy> proxy = ProxyOf(options.target);
  if (!proxy) return absl::StrCat("cannot connect to ", options.target);
  return absl::StrCat("cannot connect to ", options.target, " through the proxy ", proxy->address,
                      " that ", proxy->variable, " names");
}

}  // namespace

ConnectionCause ParseConnectionCause(const std::string& message) {
  if (const auto code = Between(message, "HTTP proxy returned response code ", " ")) {
    return {ConnectionFault::kProxy, absl::StrCat("the proxy refuses it with code ", *code)};
  }
  if (const auto name = Between(message, "Peer name ", " is not in peer certificate")) {
    return {ConnectionFault::kOtherName,
            absl::StrCat("the server's certificate is not for the name ", *name)};
  }
  for (const KnownCause& cause : kKnownCauses) {
    if (absl::StrContains(message, cause.part)) return {cause.fault, cause.text};
  }
  if (const auto reason = Between(message, "Ssl handshake failed: ", "\n")) {
    return {ConnectionFault::kOther, absl::StrCat("the TLS handshake failed: ", *reason)};
  }
  if (const auto reason = Between(message, "Failed to connect to remote host: ", "\n")) {
    return {ConnectionFault::kOther, absl::AsciiStrToLower(*reason)};
  }
  absl::string_view rest = message;
  absl::ConsumePrefix(&rest, "failed to connect to all addresses; last error: ");
  return {ConnectionFault::kOther, std::string(rest)};
}

absl::Status ConnectionError(const std::string& what, const ConnectionCause& cause) {
  absl::Status status = absl::UnavailableError(absl::StrCat(what, ": ", cause.text));
  status.SetPayload(kFaultPayload,
                    absl::Cord(std::string(1, static_cast<char>('a' + int(cause.fault)))));
  return status;
}

absl::Status WhyNotConnected(const std::shared_ptr<grpc::Channel>& channel,
                             const ClientOptions& options) {
  const std::optional<std::string> message = AskWhatIsWrong(channel);
  if (!message) return absl::OkStatus();
  ConnectionCause cause = ParseConnectionCause(*message);
  if (cause.fault == ConnectionFault::kSilent) {
    return NobodyAnswers(options, std::min(options.connect_timeout, kAttemptTimeMax));
  }
  if (cause.fault == ConnectionFault::kClosed) cause = WhyClosed(options);
  // What is wrong with the proxy says nothing of a server.
  if (ProxyOf(options.target) &&
      (cause.fault == ConnectionFault::kRefused || cause.fault == ConnectionFault::kUnknownHost)) {
    cause.fault = ConnectionFault::kProxy;
  }
  return ConnectionError(CannotConnect(options), cause);
}

absl::Status NobodyAnswers(const ClientOptions& options, absl::Duration timeout) {
  return ConnectionError(
      CannotConnect(options),
      {ConnectionFault::kSilent, absl::StrCat("no answer within ", absl::FormatDuration(timeout))});
}

std::optional<ConnectionFault> ConnectionFaultOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kFaultPayload);
  if (!payload.has_value()) return std::nullopt;
  return static_cast<ConnectionFault>(std::string(*payload)[0] - 'a');
}

}  // namespace gridfold::client
