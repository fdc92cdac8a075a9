// What the user wants: command, arguments and every option's value with where it came from. Flags
// win over the environment, that over the file, that over the defaults.
//
// load() is pure: the process's environment and the file system come in through LoadInput, so that
// a reload (SIGHUP) or a test can call it at any time; a failed load leaves nothing half-changed.
// A Config is a plain value; any thread may read it.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "config/command.h"
#include "config/option.h"

namespace gpusight::config {

using Environment = std::map<std::string, std::string, std::less<>>;

// Whether what the caller's environment says may be believed.
enum class Trust : uint8_t {
  kFull,
  kNoEnvironment,  // the program has more rights than its caller (AT_SECURE): ignore GPUSIGHT_*
};

struct LoadInput {
  std::vector<std::string> words;  // argv without the program's name
  Environment environment;
  // Where the configuration file lies when nobody names one: the first that can be found counts,
  // none is no fault.
  std::vector<std::string> default_files;
  std::function<Result<std::string>(const std::string& path)> read_file;
  Trust trust = Trust::kFull;
};

enum class OriginKind : uint8_t { kDefault, kFile, kEnvironment, kFlag };

struct Origin {
  OriginKind kind = OriginKind::kDefault;
  std::string where;  // "--listen", "GPUSIGHT_LISTEN", "/etc/gpusight/gpusight.toml, line 3"; or ""
};

class Config {
 public:
  // Every failure is kInvalidArgument with a text for the user, in their language; several faults
  // of a file are several lines.
  static Result<Config> load(const LoadInput& input);

  CommandId command() const { return command_; }
  // No command was named: the default one is meant.
  bool command_named() const { return command_named_; }
  bool help_wanted() const { return help_wanted_; }
  const std::vector<std::string>& arguments() const { return arguments_; }
  const std::vector<std::string>& rest() const { return rest_; }  // the command line after "--"

  // Not set: empty text, list or zero, where the table has no default.
  template <OptionId id>
  const typename ValueOf<option(id).type>::Type& get() const {
    return std::get<typename ValueOf<option(id).type>::Type>(values_[static_cast<size_t>(id)]);
  }
  const OptionValue& value(OptionId id) const { return values_[static_cast<size_t>(id)]; }
  const Origin& origin(OptionId id) const { return origins_[static_cast<size_t>(id)]; }
  bool is_default(OptionId id) const { return origin(id).kind == OriginKind::kDefault; }

  catalog::Lang lang() const;
  // The daemon says more than the one-shot commands unless told otherwise.
  log::Level log_level() const;
  // The file that was read; empty if there was none.
  const std::string& file() const { return file_; }

 private:
  Config() = default;

  CommandId command_ = kDefaultCommand;
  bool command_named_ = false;
  bool help_wanted_ = false;
  std::vector<std::string> arguments_;
  std::vector<std::string> rest_;
  std::vector<OptionValue> values_;
  std::vector<Origin> origins_;
  std::string file_;
};

// The language of a user who named none: Chinese if the first set one of LC_ALL, LC_MESSAGES, LANG
// begins with "zh".
catalog::Lang language_of(const Environment& environment);
// The language for what is said before or instead of a Config: --lang, else GPUSIGHT_LANG, else
// language_of().
catalog::Lang likely_language(const LoadInput& input);

}  // namespace gpusight::config
