#include "server/transport/certificates.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace gridfold::server {

namespace {

template <auto* kFree>
struct Free {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Bio = std::unique_ptr<BIO, Free<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Context = std::unique_ptr<SSL_CTX, Free<SSL_CTX_free>>;

Bio OpenText(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Asked for a passphrase, OpenSSL would wait at the terminal.
int NoPassphrase(char*, int, int, void*) { return -1; }

// The first error is the cause, those after it say what it led to.
absl::Status Unusable() {
  const char* const reason = ERR_reason_error_string(ERR_peek_error());
  ERR_clear_error();
  return absl::InvalidArgumentError(reason == nullptr ? "it makes no sense" : reason);
}

// Certificates that begin in a text, which may hold keys and other things too.
size_t CountBegins(absl::string_view text) {
  size_t count = 0;
  for (const absl::string_view begin :
       {"-----BEGIN CERTIFICATE-----", "-----BEGIN X509 CERTIFICATE-----",
        "-----BEGIN TRUSTED CERTIFICATE-----"}) {
    for (size_t at = text.find(begin); at != text.npos; at = text.find(begin, at + 1)) ++count;
  }
  return count;
}

std::vector<Certificate> ParseAll(const std::string& pem) {
  const Bio bio = OpenText(pem);
  std::vector<Certificate> certificates;
  while (X509* const one = PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)) {
    certificates.emplace_back(one);
  }
  ERR_clear_error();
  return certificates;
}

}  // namespace

absl::Status CheckCertificates(const std::string& pem) {
  // gRPC takes it for the end.
  if (absl::StrContains(pem, absl::string_view("\0", 1))) {
    return absl::InvalidArgumentError("it has a byte of zero");
  }
  const size_t begun = CountBegins(pem);
  if (begun == 0) return absl::InvalidArgumentError("there is no certificate in it");
  const size_t whole = ParseAll(pem).size();
  if (whole == begun) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("of ", begun, " certificates that begin in it, ", whole, " can be read"));
}

absl::Status CheckKey(const std::string& certificate_pem, const std::string& key_pem) {
  if (absl::StrContains(key_pem, absl::string_view("\0", 1))) {
    return absl::InvalidArgumentError("it has a byte of zero");
  }
  ERR_clear_error();
  const Key key(PEM_read_bio_PrivateKey(OpenText(key_pem).get(), nullptr, NoPassphrase, nullptr));
  if (key == nullptr) return Unusable();
  const std::vector<Certificate> certificates = ParseAll(certificate_pem);
  // What OpenSSL would refuse in a handshake, such as a key that is too short, it refuses here.
  const Context context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr) return absl::InternalError("OpenSSL does not start");
  if (SSL_CTX_use_certificate(context.get(), certificates.at(0).get()) != 1 ||
      SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    return Unusable();
  }
  return absl::OkStatus();
}

absl::Time ExpiryOf(const std::string& certificate_pem) {
  absl::Time expiry = absl::InfiniteFuture();
  for (const Certificate& certificate : ParseAll(certificate_pem)) {
    std::tm time = {};
    if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &time) == 1) {
      expiry = std::min(expiry, absl::FromTM(time, absl::UTCTimeZone()));
    }
  }
  return expiry;
}

}  // namespace gridfold::server
