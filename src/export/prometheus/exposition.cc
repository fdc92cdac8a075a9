#include "export/prometheus/exposition.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace gpusight::prometheus {
namespace {

using catalog::Kind;
using catalog::Unit;

constexpr size_t kBytesPerSample = 110;  // name, uuid, label, number: a little over what is usual
constexpr size_t kBytesPerFamily = 320;  // HELP, TYPE, UNIT

// Label values and OpenMetrics help: backslash, line feed and quote; plain help knows no quote.
void append_escaped(std::string& out, std::string_view text, bool with_quote) {
  const auto is_special = [with_quote](char c) {
    return c == '\\' || c == '\n' || (c == '"' && with_quote);
  };
  for (;;) {
    const auto plain = static_cast<size_t>(std::ranges::find_if(text, is_special) - text.begin());
    out += text.substr(0, plain);
    if (plain == text.size()) return;
    out += '\\';
    out += text[plain] == '\n' ? 'n' : text[plain];
    text.remove_prefix(plain + 1);
  }
}

// Seconds with three places.
void append_seconds(std::string& out, int64_t time_ms) {
  if (time_ms < 0) out += '-';
  const uint64_t ms =
      time_ms < 0 ? 0 - static_cast<uint64_t>(time_ms) : static_cast<uint64_t>(time_ms);
  out += std::to_string(ms / 1000);
  const std::string places = std::to_string(1000 + ms % 1000);
  out += '.';
  out.append(places, 1);
}

}  // namespace

std::string_view content_type(Format format) {
  return format == Format::kOpenMetrics100
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

void append_label(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += "=\"";
  if (is_valid_utf8(value)) {
    append_escaped(out, value, true);
  } else {
    append_escaped(out, clean_text(value, value.size() * 3), true);
  }
  out += '"';
}

void Exposition::reserve(size_t families, size_t samples) {
  out_.reserve(families * kBytesPerFamily + samples * kBytesPerSample + 1024);
}

void Exposition::family(std::string_view name, Kind kind, Unit unit, std::string_view help) {
  const bool open_metrics = format_ == Format::kOpenMetrics100;
  std::string_view family = name;
  if (open_metrics && kind == Kind::kCounter) family.remove_suffix(6);  // "_total"
  comment("HELP", family);
  append_escaped(out_, help, open_metrics);
  out_ += '\n';
  comment("TYPE", family);
  out_ += kind == Kind::kCounter ? "counter\n" : "gauge\n";
  // A family that does not end with its unit (…_watts_min) may not name one.
  const std::string_view unit_name = catalog::unit_name(unit);
  if (!open_metrics || unit == Unit::kNone || !family.ends_with(unit_name)) return;
  comment("UNIT", family);
  out_ += unit_name;
  out_ += '\n';
}

void Exposition::end_sample(double number) {
  out_ += ' ';
  append_number(out_, number);
  out_ += '\n';
}

void Exposition::end_sample(double number, int64_t time_ms) {
  out_ += ' ';
  append_number(out_, number);
  out_ += ' ';
  if (format_ == Format::kOpenMetrics100) {
    append_seconds(out_, time_ms);
  } else {
    out_ += std::to_string(time_ms);
  }
  out_ += '\n';
}

std::string Exposition::finish() {
  if (format_ == Format::kOpenMetrics100) out_ += "# EOF\n";
  return std::move(out_);
}

void Exposition::comment(std::string_view keyword, std::string_view family) {
  out_ += "# ";
  out_ += keyword;
  out_ += ' ';
  out_ += family;
  out_ += ' ';
}

}  // namespace gpusight::prometheus
