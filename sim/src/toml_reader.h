// Reads one TOML table strictly: typed values in a range, and an error for every key nobody asked
// for. The first error of a document wins and names file, line and key. Included by the two parsers
// only.
#pragma once

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
// The parser asserts on some malformed headers ("[[`a]]") that it refuses a line later by itself.
#define TOML_ASSERT(expr) static_assert(true)
#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpusight::sim {

// What is wrong with a document; shared by the readers of all its tables.
class TomlErrors {
 public:
  explicit TomlErrors(std::string source) : source_(std::move(source)) {}

  bool failed() const { return !message_.empty(); }
  const std::string& message() const { return message_; }

  void report(const toml::node* where, const std::string& key, const std::string& what) {
    if (failed()) return;
    const unsigned line = where == nullptr ? 0 : where->source().begin.line;
    message_ = source_ + ":" + std::to_string(line) + ": " + key + ": " + what;
  }

  // Parses the text, or reports why it is not TOML.
  std::optional<toml::table> parse(std::string_view text) {
    toml::parse_result result = toml::parse(text);
    if (result) return std::move(result).table();
    if (!failed()) {
      message_ = source_ + ":" + std::to_string(result.error().source().begin.line) + ": " +
                 std::string(result.error().description());
    }
    return std::nullopt;
  }

 private:
  std::string source_;
  std::string message_;
};

// Edit distance, for suggestions.
inline std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

inline std::string suggest(std::string_view wrong, const std::vector<std::string>& known) {
  const std::string* best = nullptr;
  std::size_t least = std::max<std::size_t>(2, wrong.size() / 2) + 1;
  for (const std::string& word : known) {
    const std::size_t d = distance(wrong, word);
    if (d < least) {
      least = d;
      best = &word;
    }
  }
  return best == nullptr ? "" : "; did you mean \"" + *best + "\"?";
}

class TomlReader {
 public:
  TomlReader(const toml::table& table, std::string path, TomlErrors& errors)
      : table_(table), path_(std::move(path)), errors_(errors) {}

  bool has(std::string_view key) { return find(key) != nullptr; }
  bool is_text(std::string_view key) {
    const toml::node* node = find(key);
    return node != nullptr && node->is_string();
  }

  double number(std::string_view key, double fallback, double least, double most) {
    const toml::node* node = find(key);
    if (node == nullptr) return fallback;
    const std::optional<double> value = node->value<double>();
    if (!node->is_number()) return wrong(node, key, "a number is wanted"), fallback;
    if (!(*value >= least && *value <= most)) {
      return wrong(node, key, "must be from " + text_of(least) + " to " + text_of(most)), fallback;
    }
    return *value;
  }

  std::int64_t integer(std::string_view key, std::int64_t fallback, std::int64_t least,
                       std::int64_t most) {
    const toml::node* node = find(key);
    if (node == nullptr) return fallback;
    if (!node->is_integer()) return wrong(node, key, "a whole number is wanted"), fallback;
    const std::int64_t value = node->as_integer()->get();
    if (value < least || value > most) {
      return wrong(node, key,
                   "must be from " + std::to_string(least) + " to " + std::to_string(most)),
             fallback;
    }
    return value;
  }

  bool boolean(std::string_view key, bool fallback) {
    const toml::node* node = find(key);
    if (node == nullptr) return fallback;
    if (!node->is_boolean()) return wrong(node, key, "true or false is wanted"), fallback;
    return node->as_boolean()->get();
  }

  std::string text(std::string_view key, std::string fallback) {
    const toml::node* node = find(key);
    if (node == nullptr) return fallback;
    if (!node->is_string()) return wrong(node, key, "a text in quotes is wanted"), fallback;
    return node->as_string()->get();
  }

  // A text that must be one of a list; its position.
  std::size_t choice(std::string_view key, std::size_t fallback,
                     const std::vector<std::string>& words) {
    const toml::node* node = find(key);
    if (node == nullptr) return fallback;
    const std::string value = text(key, "");
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == value) return i;
    }
    std::string list;
    for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
    wrong(node, key, "\"" + value + "\" is none of " + list + suggest(value, words));
    return fallback;
  }

  std::vector<std::string> texts(std::string_view key) {
    std::vector<std::string> result;
    const toml::node* node = find(key);
    if (node == nullptr) return result;
    if (node->is_string()) return {node->as_string()->get()};
    if (!node->is_array()) return wrong(node, key, "a list of texts is wanted"), result;
    for (const toml::node& item : *node->as_array()) {
      if (!item.is_string()) return wrong(&item, key, "a list of texts is wanted"), result;
      result.push_back(item.as_string()->get());
    }
    return result;
  }

  // Positions of GPUs: a number, a list of numbers, "last" or "all"; absent gives an empty list.
  std::vector<unsigned> gpus(std::string_view key, std::size_t count) {
    std::vector<unsigned> result;
    const toml::node* node = find(key);
    if (node == nullptr) return result;
    if (node->is_string() && node->as_string()->get() == "all") return result;
    if (node->is_string() && node->as_string()->get() == "last" && count > 0) {
      return {static_cast<unsigned>(count - 1)};
    }
    const auto add = [&](const toml::node& item) {
      if (!item.is_integer() || item.as_integer()->get() < 0 ||
          item.as_integer()->get() >= static_cast<std::int64_t>(count)) {
        wrong(&item, key,
              "a GPU from 0 to " + std::to_string(count == 0 ? 0 : count - 1) +
                  ", a list of them or \"all\" is wanted");
        return;
      }
      result.push_back(static_cast<unsigned>(item.as_integer()->get()));
    };
    if (node->is_array()) {
      for (const toml::node& item : *node->as_array()) add(item);
    } else {
      add(*node);
    }
    return result;
  }

  // Calls `body(reader)` for the table of that name, or for each table of a list of that name.
  template <class Body>
  void tables(std::string_view key, Body body) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const std::string name = path_.empty() ? std::string(key) : path_ + "." + std::string(key);
    if (node->is_table()) return one_table(*node->as_table(), name, body);
    if (!node->is_array()) return wrong(node, key, "a table is wanted");
    std::size_t at = 0;
    for (const toml::node& item : *node->as_array()) {
      if (!item.is_table()) return wrong(&item, key, "a list of tables is wanted");
      one_table(*item.as_table(), name + "[" + std::to_string(at++) + "]", body);
    }
  }

  // Each named sub-table of this table: body(name, reader).
  template <class Body>
  void each_table(Body body) {
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      used_.push_back(name);
      if (!node.is_table()) return wrong(&node, name, "a table is wanted");
      one_table(*node.as_table(), path_ + "." + name,
                [&](TomlReader& reader) { body(name, reader); });
    }
  }

  void wrong(std::string_view key, const std::string& what) { wrong(find(key), key, what); }

  // Takes every key for asked for: the table does not count.
  void use_all() {
    for (const auto& [key, node] : table_) used_.emplace_back(key.str());
  }

  // Every key that nothing asked for is a mistake.
  void finish() {
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      if (std::find(used_.begin(), used_.end(), name) != used_.end()) continue;
      wrong(&node, name, "unknown key" + suggest(name, used_));
    }
  }

 private:
  const toml::node* find(std::string_view key) {
    if (std::find(used_.begin(), used_.end(), key) == used_.end()) used_.emplace_back(key);
    return table_.get(key);
  }

  void wrong(const toml::node* node, std::string_view key, const std::string& what) {
    const std::string name = path_.empty() ? std::string(key) : path_ + "." + std::string(key);
    errors_.report(node == nullptr ? &table_ : node, name, what);
  }

  template <class Body>
  void one_table(const toml::table& table, const std::string& name, Body body) {
    TomlReader reader(table, name, errors_);
    body(reader);
    reader.finish();
  }

  static std::string text_of(double value) {
    std::string text = std::to_string(value);
    text.erase(text.find_last_not_of('0') + 1);
    if (!text.empty() && text.back() == '.') text.pop_back();
    return text;
  }

  const toml::table& table_;
  std::string path_;
  TomlErrors& errors_;
  std::vector<std::string> used_;
};

struct Fault;

std::vector<Fault> read_faults(TomlReader& root, std::size_t gpu_count);
// The keys of a kind that is a condition of the hardware.
void read_condition(TomlReader& table, Fault& fault);

}  // namespace gpusight::sim
