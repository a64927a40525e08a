#include "server/transport/certificate_store.h"

#include <string>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "server/base/fixed_limits.h"
#include "server/process/event_log.h"

namespace gridfold::server {

namespace {

absl::Status Unusable(absl::string_view option, const std::string& path,
                      const absl::Status& status) {
  return absl::InvalidArgumentError(
      absl::StrCat(option, " ", path, " cannot be used: ", status.message()));
}

absl::Status CheckTexts(const CertificateTexts& texts, const TlsFiles& files) {
  absl::Status status = CheckCertificates(texts.certificate);
  if (!status.ok()) return Unusable("--tls-certificate", files.certificate, status);
  status = CheckKey(texts.certificate, texts.key);
  if (!status.ok()) return Unusable("--tls-key", files.key, status);
  if (files.client_ca.empty()) return absl::OkStatus();
  status = CheckCertificates(texts.client_ca);
  return status.ok() ? status : Unusable("--tls-client-ca", files.client_ca, status);
}

}  // namespace

absl::StatusOr<std::unique_ptr<CertificateStore>> CertificateStore::Load(const TlsFiles& files) {
  auto store = absl::WrapUnique(new CertificateStore(files));
  absl::StatusOr<CertificateTexts> texts = store->Read();
  if (!texts.ok()) return texts.status();
  if (absl::Status status = CheckTexts(*texts, files); !status.ok()) return status;
  store->Use(*std::move(texts));
  store->sweeper_.emplace(
      [self = store.get()] {
        if (!self->report_.Try([self] { return self->Check(); })) return;
        const std::string expiry = absl::FormatTime(self->current()->expiry);
        LogEvent(LogLevel::kInfo, "certificates", {{"expiry", expiry}});
      },
      kFileCheckInterval);
  return store;
}

CertificateStore::CertificateStore(const TlsFiles& files)
    : files_(files),
      certificate_(files.certificate, kCertificateFileBytesMax),
      key_(files.key, kCertificateFileBytesMax),
      client_ca_(files.client_ca, kCertificateFileBytesMax) {}

std::shared_ptr<const CertificateStore::Current> CertificateStore::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

void CertificateStore::Reload() {
  is_asked_ = true;
  sweeper_->Wake();
}

absl::StatusOr<CertificateTexts> CertificateStore::Read() {
  CertificateTexts texts;
  const auto read = [](const char* option, WatchedFile& file, std::string& text) -> absl::Status {
    absl::StatusOr<std::string> content = file.Get(kFileReadTimeout);
    if (!content.ok()) return Unusable(option, file.path(), content.status());
    text = *std::move(content);
    return absl::OkStatus();
  };
  absl::Status status = read("--tls-certificate", certificate_, texts.certificate);
  if (status.ok()) status = read("--tls-key", key_, texts.key);
  if (status.ok() && !files_.client_ca.empty()) {
    status = read("--tls-client-ca", client_ca_, texts.client_ca);
  }
  if (!status.ok()) return status;
  return texts;
}

absl::StatusOr<bool> CertificateStore::Check() {
  const bool is_asked = is_asked_.exchange(false);
  absl::StatusOr<CertificateTexts> texts = Read();
  if (!texts.ok()) return texts.status();
  const bool is_settled = is_asked || *texts == last_read_;
  last_read_ = *texts;
  if (*texts == current()->texts) return false;
  if (absl::Status status = CheckTexts(*texts, files_); !status.ok()) return status;
  if (!is_settled) return false;
  Use(*std::move(texts));
  return true;
}

void CertificateStore::Use(CertificateTexts texts) {
  auto next = std::make_shared<Current>();
  next->expiry = ExpiryOf(texts.certificate);
  next->texts = std::move(texts);
  const std::lock_guard lock(mutex_);
  if (current_ != nullptr) next->number = current_->number + 1;
  current_ = std::move(next);
}

}  // namespace gridfold::server
