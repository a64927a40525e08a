// Who may call the server, and how the wire is secured.
#ifndef GRIDFOLD_SERVER_TRANSPORT_SECURITY_OPTIONS_H_
#define GRIDFOLD_SERVER_TRANSPORT_SECURITY_OPTIONS_H_

#include <string>

namespace gridfold::server {

// Paths of PEM files. Without a certificate there is no TLS.
struct TlsFiles {
  std::string certificate = "";  // With its intermediates after it.
  std::string key = "";          // The certificate's, not encrypted.
  std::string client_ca = "";  // Where not empty, clients must have a certificate of one of these.

  bool is_used() const { return !certificate.empty(); }
};

struct SecurityOptions {
  TlsFiles tls = {};
  std::string token_file = "";  // tenants/token_table.h; empty: callers are taken at their word.
  // Where calls are noted (process/audit_log.h): a file, or "stderr"; empty: nowhere.
  std::string audit_log = "";
  bool reflection = true;  // Whether the server tells its services to whoever asks.
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TRANSPORT_SECURITY_OPTIONS_H_
