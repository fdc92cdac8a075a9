// Finding scenarios, and the small readers that parsing and running share.
#include <charconv>
#include <cstdio>
#include <memory>

#include "scenario.h"

namespace gpusight::sim {

struct BuiltinScenario {
  const char* name;
  std::string_view text;
};
extern const BuiltinScenario kBuiltinScenarios[];  // generated from scenarios/*.toml
extern const std::size_t kBuiltinScenarioCount;

std::string_view builtin_scenario(std::string_view name) {
  for (std::size_t i = 0; i < kBuiltinScenarioCount; ++i) {
    if (name == kBuiltinScenarios[i].name) return kBuiltinScenarios[i].text;
  }
  return {};
}

std::string builtin_names() {
  std::string names;
  for (std::size_t i = 0; i < kBuiltinScenarioCount; ++i) {
    names += (names.empty() ? "" : ", ") + std::string(kBuiltinScenarios[i].name);
  }
  return names;
}

std::optional<std::string> read_whole_file(const std::string& path) {
  constexpr std::size_t kMost = 1 << 20;
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "re"), &std::fclose);
  if (file == nullptr) return std::nullopt;
  std::string text(kMost + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (text.size() > kMost || std::ferror(file.get()) != 0) return std::nullopt;
  return text;
}

Parsed<Scenario> load_scenario(const std::string& path_or_name) {
  const std::string wanted = path_or_name.empty() ? "h100-training" : path_or_name;
  Parsed<Scenario> parsed;
  const std::string_view builtin = builtin_scenario(wanted);
  if (!builtin.empty()) {
    parsed = parse_scenario(builtin, "built-in " + wanted);
  } else if (const std::optional<std::string> text = read_whole_file(wanted)) {
    parsed = parse_scenario(*text, wanted);
  } else {
    parsed.error =
        wanted + ": neither a readable file nor a built-in scenario (" + builtin_names() + ")";
  }
  if (parsed.value) parsed.value->name = wanted;
  return parsed;
}

std::uint64_t version_key(std::string_view version) {
  std::uint64_t key = 0;
  std::size_t at = 0;
  for (int part = 0; part < 3; ++part) {
    unsigned value = 0;
    if (at < version.size()) {
      const auto [end, error] =
          std::from_chars(version.data() + at, version.data() + version.size(), value);
      if (error != std::errc() || value > 9999) return 0;
      at = static_cast<std::size_t>(end - version.data());
      if (at < version.size() && version[at++] != '.') return 0;
    }
    key = key * 10000 + value;
  }
  return at < version.size() ? 0 : key;
}

}  // namespace gpusight::sim
