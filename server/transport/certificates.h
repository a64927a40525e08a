// Certificates and keys as the server uses them: whole, understood, and fitting each other. Pure
// functions; thread-safe.
#ifndef GRIDFOLD_SERVER_TRANSPORT_CERTIFICATES_H_
#define GRIDFOLD_SERVER_TRANSPORT_CERTIFICATES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace gridfold::server {

// Contents of PEM files.
struct CertificateTexts {
  std::string certificate;  // With its intermediates after it.
  std::string key;
  std::string client_ca;  // Empty where clients need no certificate.

  bool operator==(const CertificateTexts&) const = default;
};

// What is wrong with the content of a file of certificates: that it has none, or one of them is cut
// off or makes no sense. OK where there is nothing wrong.
absl::Status CheckCertificates(const std::string& pem);

// What is wrong with the first certificate and its key: the key makes no sense, is encrypted, or is
// another certificate's. OK where there is nothing wrong. Requires certificates that are.
absl::Status CheckKey(const std::string& certificate_pem, const std::string& key_pem);

// The earliest time at which the server's certificate, or one of its intermediates, expires.
// Requires certificates that are.
absl::Time ExpiryOf(const std::string& certificate_pem);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TRANSPORT_CERTIFICATES_H_
