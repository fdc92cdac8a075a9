// Finding scenarios, and the small readers that parsing and running share.
#include <charconv>
#include <cstdio>
#include <memory>

#include "embedded.h"
#include "scenario.h"
#include "toml_reader.h"

namespace gpusight::sim {

std::string builtin_names() {
  std::string names;
  for (const EmbeddedText& one : embedded_scenarios()) {
    names += (names.empty() ? "" : ", ") + std::string(one.name);
  }
  return names;
}

namespace {

// The one document of ages; a mistake in it would be found by the tests.
toml::table ages() {
  toml::parse_result result = toml::parse(find_embedded(embedded_ages(), "ages"));
  return result ? std::move(result).table() : toml::table();
}

// "NAME@AGE" in two; the age is empty when there is none.
std::pair<std::string, std::string> split_age(const std::string& name) {
  const std::size_t at = name.rfind('@');
  if (at == std::string::npos || name.find('/', at) != std::string::npos) return {name, ""};
  return {name.substr(0, at), name.substr(at + 1)};
}

// BOARD+SHAPE as a scenario's text; empty when it is none.
std::string composed(const std::string& name) {
  const std::size_t plus = name.find('+');
  if (plus == std::string::npos || name.find_first_of("/\"\n") != std::string::npos) return "";
  return "board = \"" + name.substr(0, plus) + "\"\nshape = \"" + name.substr(plus + 1) + "\"\n";
}

Parsed<Scenario> load_named(const std::string& name) {
  if (const std::string_view text = find_embedded(embedded_scenarios(), name); !text.empty()) {
    return parse_scenario(text, "built-in " + name);
  }
  if (const std::optional<std::string> text = read_whole_file(name)) {
    return parse_scenario(*text, name);
  }
  if (const std::string text = composed(name); !text.empty()) return parse_scenario(text, name);
  return {std::nullopt,
          name + ": neither a readable file nor a built-in scenario (" + builtin_names() + ")"};
}

}  // namespace

std::optional<Age> find_age(std::string_view name) {
  const toml::table all = ages();
  const toml::table* row = all[name].as_table();
  if (row == nullptr) return std::nullopt;
  return Age{(*row)["driver"].value_or(std::string()), (*row)["cuda"].value_or(0)};
}

std::vector<std::string> age_names() {
  std::vector<std::string> names;
  for (const auto& [key, row] : ages()) names.emplace_back(key.str());
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
  const auto [name, age_name] = split_age(wanted);
  Parsed<Scenario> parsed = load_named(name);
  if (parsed.value && !age_name.empty()) {
    const std::optional<Age> age = find_age(age_name);
    if (!age) {
      std::string known;
      for (const std::string& one : age_names()) known += (known.empty() ? "" : ", ") + one;
      return {std::nullopt, wanted + ": \"" + age_name + "\" is no driver age (" + known + ")"};
    }
    parsed.value->driver = age->driver;
    parsed.value->cuda = age->cuda;
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
