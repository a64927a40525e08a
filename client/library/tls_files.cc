#include "client/library/tls_files.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstddef>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace gridfold::client {
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

// Asked for a passphrase, OpenSSL would wait at the terminal.
int NoPassphrase(char*, int, int, void*) { return -1; }

Bio OpenText(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

absl::Status Unusable(const char* field, const std::string& path, absl::string_view reason) {
  ERR_clear_error();
  return absl::InvalidArgumentError(
      absl::StrCat("tls.", field, ": ", path, " cannot be used: ", reason));
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

// Also gives the first one.
absl::Status CheckCertificates(const char* field, const std::string& path, const std::string& text,
                               Certificate& first) {
  const size_t begun = CountBegins(text);
  if (begun == 0) return Unusable(field, path, "there is no certificate in it");
  const Bio bio = OpenText(text);
  size_t whole = 0;
  while (Certificate one{PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)}) {
    if (whole++ == 0) first = std::move(one);
  }
  ERR_clear_error();
  if (whole == begun) return absl::OkStatus();
  return Unusable(
      field, path,
      absl::StrCat("of ", begun, " certificates that begin in it, ", whole, " can be read"));
}

}  // namespace

absl::Status CheckTlsTexts(const TlsOptions& files, const TlsTexts& texts) {
  Certificate certificate;
  if (!files.ca_file.empty()) {
    absl::Status status = CheckCertificates("ca_file", files.ca_file, texts.ca, certificate);
    if (!status.ok()) return status;
  }
  if (files.certificate_file.empty()) return absl::OkStatus();
  absl::Status status =
      CheckCertificates("certificate_file", files.certificate_file, texts.certificate, certificate);
  if (!status.ok()) return status;
  const Key key(PEM_read_bio_PrivateKey(OpenText(texts.key).get(), nullptr, NoPassphrase, nullptr));
  if (key == nullptr) {
    return Unusable("key_file", files.key_file,
                    "there is no key in it, or one that wants a passphrase");
  }
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return Unusable("key_file", files.key_file, "it is not the key of the certificate");
  }
  return absl::OkStatus();
}

}  // namespace gridfold::client
