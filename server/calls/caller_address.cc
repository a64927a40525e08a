#include "server/calls/caller_address.h"

#include <iterator>
#include <memory>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace gridfold::server {

namespace {

constexpr size_t kCallerTextBytesMax = 256;

// The last of several: what an edge adds comes after what the caller wrote.
absl::string_view LastValue(const grpc::CallbackServerContext& context, const char* key) {
  const auto [first, last] = context.client_metadata().equal_range(key);
  if (first == last) return "";
  const grpc::string_ref value = std::prev(last)->second;
  return absl::string_view(value.data(), value.size()).substr(0, kCallerTextBytesMax);
}

absl::string_view LastOfList(absl::string_view list) {
  const size_t comma = list.rfind(',');
  if (comma != absl::string_view::npos) list.remove_prefix(comma + 1);
  return absl::StripAsciiWhitespace(list);
}

std::string SubjectOf(const grpc::CallbackServerContext& context) {
  const std::shared_ptr<const grpc::AuthContext> authentication = context.auth_context();
  if (authentication == nullptr) return "";
  const std::vector<grpc::string_ref> subjects = authentication->FindPropertyValues("x509_subject");
  if (subjects.empty()) return "";
  return std::string(subjects.front().data(), subjects.front().size())
      .substr(0, kCallerTextBytesMax);
}

}  // namespace

CallerAddress AddressOfCaller(const grpc::CallbackServerContext& context) {
  CallerAddress caller{.peer = context.peer(), .certificate = SubjectOf(context)};
  if (!absl::StartsWith(caller.peer, "unix:")) return caller;
  const absl::string_view forwarded = LastOfList(LastValue(context, "x-forwarded-for"));
  if (!forwarded.empty()) caller.peer = std::string(forwarded);
  const absl::string_view certificate = LastValue(context, "x-client-certificate");
  if (!certificate.empty()) caller.certificate = std::string(certificate);
  return caller;
}

}  // namespace gridfold::server
