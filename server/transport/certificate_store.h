// The certificates in use, and the files that they come from: read again when they change. Thread-
// safe.
//
// What is new is used only when it is whole and fits together (certificates.h), and was there, as
// it is, at two checks after one another: a file that is being written may make sense by halves, as
// a list of authorities that is not complete does. Until then the old ones are used.
#ifndef GRIDFOLD_SERVER_TRANSPORT_CERTIFICATE_STORE_H_
#define GRIDFOLD_SERVER_TRANSPORT_CERTIFICATE_STORE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/sweeper.h"
#include "server/process/reload_report.h"
#include "server/process/watched_file.h"
#include "server/transport/certificates.h"
#include "server/transport/security_options.h"

namespace gridfold::server {

class CertificateStore {
 public:
  struct Current {
    CertificateTexts texts;
    absl::Time expiry;
    uint64_t number = 0;  // Of changes before it.
  };

  // Reads the files, and again every kFileCheckInterval. INVALID_ARGUMENT that names the option
  // where they are unusable now.
  static absl::StatusOr<std::unique_ptr<CertificateStore>> Load(const TlsFiles& files);

  std::shared_ptr<const Current> current() const;

  // Reads the files now, in a thread of its own, and takes what is whole in them without waiting
  // for another check. Callable from any thread; does not block.
  void Reload();

  const ReloadReport& report() const { return report_; }

 private:
  explicit CertificateStore(const TlsFiles& files);

  absl::StatusOr<CertificateTexts> Read();
  absl::StatusOr<bool> Check();
  void Use(CertificateTexts texts);

  const TlsFiles files_;
  // Touched by one thread at a time: that of Load, then the sweeper's.
  WatchedFile certificate_;
  WatchedFile key_;
  WatchedFile client_ca_;
  CertificateTexts last_read_;
  ReloadReport report_{"certificates_not_reloaded"};
  std::atomic<bool> is_asked_ = false;
  mutable std::mutex mutex_;
  std::shared_ptr<const Current> current_;  // Guarded by mutex_.
  std::optional<Sweeper> sweeper_;          // Last: it ends before what it uses.
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TRANSPORT_CERTIFICATE_STORE_H_
