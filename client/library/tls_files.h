// What is wrong with certificates and keys that a client was given, before gRPC is: with files that
// make no sense it refuses every connection, and does not say which file or why.
#ifndef GRIDFOLD_CLIENT_LIBRARY_TLS_FILES_H_
#define GRIDFOLD_CLIENT_LIBRARY_TLS_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "gridfold/client_options.h"

namespace gridfold::client {

// The contents of the files of TlsOptions; empty where none is named.
struct TlsTexts {
  std::string ca;
  std::string certificate;
  std::string key;
};

// INVALID_ARGUMENT that names the option and the file at fault: one without a certificate, with one
// that is cut off or makes no sense, or with a key that is encrypted or another certificate's.
// Thread-safe.
absl::Status CheckTlsTexts(const TlsOptions& files, const TlsTexts& texts);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_TLS_FILES_H_
