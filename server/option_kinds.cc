#include "server/option_kinds.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "server/base/fixed_limits.h"

namespace gridfold::server {

namespace {

// "256MiB" where the size is a whole number of MiB.
std::string FormatSize(uint64_t bytes) {
  return bytes % kMiB == 0 ? absl::StrCat(bytes / kMiB, "MiB") : absl::StrCat(bytes);
}

}  // namespace

std::string EnvironmentName(absl::string_view option) {
  return absl::StrCat("GRIDFOLD_",
                      absl::AsciiStrToUpper(absl::StrReplaceAll(option.substr(2), {{"-", "_"}})));
}

CLI::Option* AddText(CLI::App& app, const std::string& name, std::string& target,
                     const std::string& description) {
  return app.add_option(name, target, description)
      ->envname(EnvironmentName(name))
      ->capture_default_str();
}

void AddPath(CLI::App& app, const std::string& name, std::string& target,
             const std::string& description) {
  AddText(app, name, target, description)->type_name("PATH")->check([](const std::string& path) {
    return std::string(path.empty() ? "is given without a path" : "");
  });
}

void AddFlag(CLI::App& app, const std::string& name, bool& target, const std::string& description) {
  app.add_flag(name, target, description)->envname(EnvironmentName(name));
}

// "256MiB" and the like become numbers before the range is checked.
CLI::Option* AddSize(CLI::App& app, const std::string& name, uint64_t& target, uint64_t smallest,
                     uint64_t largest, const std::string& description) {
  CLI::AsSizeValue as_size(/*kb_is_1000=*/true);
  as_size.description("");
  return app.add_option(name, target, description)
      ->envname(EnvironmentName(name))
      ->type_name("SIZE")
      ->default_str(FormatSize(target))
      ->check([smallest, largest](const std::string& text) {
        return CheckRange(text, smallest, largest);
      })
      ->transform(as_size)
      // Runs before as_size, which would let negative sizes wrap around.
      ->transform(CLI::Validator(
          [](std::string& text) {
            const bool begins_well =
                !text.empty() && absl::ascii_isdigit(static_cast<unsigned char>(text[0]));
            return begins_well ? std::string()
                               : absl::StrCat("\"", text, "\" is not a size such as 256MiB");
          },
          ""));
}

void AddDuration(CLI::App& app, const std::string& name, std::chrono::milliseconds& target,
                 std::chrono::milliseconds largest, const std::string& description) {
  app.add_option_function<std::string>(
         name,
         [name, largest, &target](const std::string& text) {
           absl::Duration duration;
           int64_t seconds = 0;
           if (absl::SimpleAtoi(text, &seconds)) {
             duration = absl::Seconds(seconds);
           } else if (!absl::ParseDuration(text, &duration)) {
             throw CLI::ValidationError(
                 name, absl::StrCat("\"", text, "\" is not a time such as 30s or 500ms"));
           }
           if (duration < absl::ZeroDuration() || duration > absl::FromChrono(largest)) {
             throw CLI::ValidationError(
                 name, absl::StrCat("\"", text, "\" is not between 0s and ",
                                    absl::FormatDuration(absl::FromChrono(largest))));
           }
           target = absl::ToChronoMilliseconds(duration);
         },
         description)
      ->envname(EnvironmentName(name))
      ->type_name("TIME")
      ->default_str(absl::FormatDuration(absl::FromChrono(target)));
}

}  // namespace gridfold::server
