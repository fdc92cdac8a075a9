#include "promql/rules/yaml_tree.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "base/text.h"
#include "promql/literal.h"

namespace gpusight::promql {
namespace {

Place place_of(const YAML::Mark& mark) {
  return mark.is_null() ? Place{} : Place{.line = mark.line + 1, .column = mark.column + 1};
}

// Builds the tree from the parser's events. Exceptions stay inside of this file: the library has no
// other way to be stopped.
class Builder final : public YAML::EventHandler {
 public:
  YamlPtr take() {
    return root_ == nullptr ? std::make_shared<const YamlValue>() : std::move(root_);
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(mark, anchor, std::make_shared<YamlValue>(YamlValue{.place = place_of(mark)}));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    add(mark, anchor,
        std::make_shared<YamlValue>(YamlValue{.kind = YamlValue::Kind::kScalar,
                                              .text = value,
                                              .is_plain = tag == "?",
                                              .place = place_of(mark)}));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw YAML::ParserException(mark, "anchor value contains itself");
    place_value(mark, found->second);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, anchor, YamlValue::Kind::kSequence);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, anchor, YamlValue::Kind::kMap);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    std::shared_ptr<YamlValue> value;
    YAML::Mark mark;
    YAML::anchor_t anchor = 0;
    YamlPtr key;  // read, its value not yet
    std::vector<YamlPtr> merged;
  };

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, YamlValue::Kind kind) {
    if (stack_.size() >= kMaxYamlDepth) {
      throw YAML::ParserException(mark, "nested too deeply");
    }
    stack_.push_back(
        {.value = std::make_shared<YamlValue>(YamlValue{.kind = kind, .place = place_of(mark)}),
         .mark = mark,
         .anchor = anchor});
  }

  void close() {
    Open done = std::move(stack_.back());
    stack_.pop_back();
    if (!done.merged.empty()) merge(done);
    add(done.mark, done.anchor, done.value);
  }

  void add(const YAML::Mark& mark, YAML::anchor_t anchor, YamlPtr value) {
    if (anchor != 0) anchors_[anchor] = value;
    place_value(mark, std::move(value));
  }

  // Into what is open: as item, as key or as value.
  void place_value(const YAML::Mark& mark, YamlPtr value) {
    if (stack_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& parent = stack_.back();
    parent.value->nodes += value->nodes;
    if (parent.value->nodes > kMaxYamlNodes) {
      throw YAML::ParserException(mark, fmt::format("more than {} values", kMaxYamlNodes));
    }
    if (parent.value->kind == YamlValue::Kind::kSequence) {
      parent.value->items.push_back(std::move(value));
    } else if (parent.key == nullptr) {
      parent.key = std::move(value);
    } else {
      entry(parent, std::exchange(parent.key, nullptr), std::move(value));
    }
  }

  static void entry(Open& map, const YamlPtr& key, YamlPtr value) {
    if (key->kind == YamlValue::Kind::kScalar && key->is_plain && key->text == "<<") {
      if (value->kind == YamlValue::Kind::kSequence) {
        map.merged.insert(map.merged.end(), value->items.begin(), value->items.end());
      } else {
        map.merged.push_back(std::move(value));
      }
      return;
    }
    map.value->entries.push_back(
        {.key = key->text, .place = key->place, .value = std::move(value)});
  }

  // What is written out wins over what is merged, and of that the first.
  static void merge(Open& into) {
    std::set<std::string> known;
    for (const YamlValue::Entry& entry : into.value->entries) known.insert(entry.key);
    for (const YamlPtr& from : into.merged) {
      if (from->kind != YamlValue::Kind::kMap) {
        throw YAML::ParserException(into.mark,
                                    "map merge requires map or sequence of maps as the "
                                    "value");
      }
      for (const YamlValue::Entry& entry : from->entries) {
        if (known.insert(entry.key).second) into.value->entries.push_back(entry);
      }
    }
  }

  std::vector<Open> stack_;
  std::map<YAML::anchor_t, YamlPtr> anchors_;
  YamlPtr root_;
};

YamlDocument fail(Place place, std::string_view message) {
  return {.fault = {place, fmt::format("yaml: {}", message)}};
}

// Where the first byte stands that is no UTF-8.
Place first_invalid(std::string_view text) {
  Place place{.line = 1, .column = 1};
  while (!text.empty()) {
    const size_t line_end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, line_end);
    if (!is_valid_utf8(line)) {
      size_t valid = 0;
      while (const size_t length = character_length(line.substr(valid))) valid += length;
      place.column = static_cast<int>(valid) + 1;
      return place;
    }
    text.remove_prefix(std::min(line_end + 1, text.size()));
    ++place.line;
  }
  return place;
}

}  // namespace

std::string text_of(Place place) { return fmt::format("{}:{}", place.line, place.column); }

YamlDocument parse_yaml(std::string_view text) {
  if (text.size() > kMaxYamlLength) {
    return fail({1, 1}, fmt::format("longer than {} bytes", kMaxYamlLength));
  }
  if (!is_valid_utf8(text)) return fail(first_invalid(text), "invalid UTF-8");
  try {
    // A comment at the end, since the library takes the end of the text for that of a quotation.
    std::istringstream stream(std::string(text) + (text.ends_with('\n') ? "#" : "\n#"));
    YAML::Parser parser(stream);
    Builder builder;
    parser.HandleNextDocument(builder);
    return {.root = builder.take()};
  } catch (const YAML::Exception& e) {
    return fail(place_of(e.mark), clean_text(e.msg));
  } catch (const std::exception& e) {
    return fail({}, clean_text(e.what()));
  }
}

}  // namespace gpusight::promql
