#include "serve/http_text.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace gpusight::serve {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char l = lower(c);
  return l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
}

enum class Part : uint8_t { kPath, kName, kValue };

// A query may be written in several lines.
bool is_forbidden(unsigned char byte, Part part) {
  if (part == Part::kValue && (byte == '\t' || byte == '\n' || byte == '\r')) return false;
  return byte < 0x20 || byte == 0x7F;
}

// nullopt: a bad escape, a control character or no UTF-8.
std::optional<std::string> decode(std::string_view text, Part part) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (c == '+' && part != Part::kPath) {
      c = ' ';
    }
    if (is_forbidden(static_cast<unsigned char>(c), part)) return std::nullopt;
    out += c;
  }
  if (!is_valid_utf8(out)) return std::nullopt;
  return out;
}

Status bad_target(std::string_view what) {
  return {Code::kInvalidArgument, "the request target " + std::string(what)};
}

// "name;a=b;q=0.5" with its weight; the weight of what cannot be read is 0.
struct Weighted {
  std::string_view name;
  std::vector<std::string_view> options;  // all but q
  double weight = 1;
};

std::vector<Weighted> weighted_list(std::string_view header) {
  std::vector<Weighted> items;
  for (const std::string_view element : split(header, ',')) {
    Weighted item;
    bool is_first = true;
    for (const std::string_view part : split(element, ';')) {
      const std::string_view option = trim(part);
      if (std::exchange(is_first, false)) {
        item.name = option;
      } else if (option.starts_with("q=") || option.starts_with("Q=")) {
        const double q = parse_double(option.substr(2)).value_or(0);
        item.weight = q >= 0 && q <= 1 ? q : 0;
      } else {
        item.options.push_back(option);
      }
    }
    if (!item.name.empty()) items.push_back(std::move(item));
  }
  return items;
}

// The dotted number of an IPv4 address in 127.0.0.0/8, written in full: 127.0.0.1, not 127.1.
bool is_loopback_v4(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '.');
  if (parts.size() != 4 || parts[0] != "127") return false;
  return std::ranges::all_of(parts, [](std::string_view part) {
    const bool digits = !part.empty() && part.size() <= 3 &&
                        part.find_first_not_of("0123456789") == std::string_view::npos;
    return digits && parse_uint(part).value_or(256) <= 255;
  });
}

}  // namespace

Result<Target> parse_target(std::string_view target) {
  if (!target.starts_with('/')) return bad_target("is not a path");
  const size_t question = target.find('?');
  Target parsed;
  auto path = decode(target.substr(0, question), Part::kPath);
  if (!path) return bad_target("is not readable");
  parsed.path = std::move(*path);
  if (question == std::string_view::npos) return parsed;
  TRY(add_parameters(target.substr(question + 1), parsed.parameters));
  return parsed;
}

Status add_parameters(std::string_view text, Parameters& parameters) {
  for (const std::string_view pair : split(text, '&')) {
    if (pair.empty()) continue;
    if (parameters.size() == kMaxParameters) {
      return {Code::kInvalidArgument, "the request has too many parameters"};
    }
    const size_t equals = pair.find('=');
    auto name = decode(pair.substr(0, equals), Part::kName);
    auto value = equals == std::string_view::npos ? std::optional<std::string>("")
                                                  : decode(pair.substr(equals + 1), Part::kValue);
    if (!name || !value) {
      return {Code::kInvalidArgument, "the request has a parameter that is not readable"};
    }
    parameters.emplace_back(std::move(*name), std::move(*value));
  }
  return {};
}

bool is_form(std::string_view content_type) {
  const std::string_view type = trim(content_type.substr(0, content_type.find(';')));
  return equal_ignoring_case(type, "application/x-www-form-urlencoded");
}

bool is_local_host(std::string_view host) {
  const size_t bracket = host.find(']');
  const size_t colon = host.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) {
    const std::string_view port = host.substr(colon + 1);
    const bool digits = !port.empty() && port.size() <= 5 &&
                        port.find_first_not_of("0123456789") == std::string_view::npos;
    if (!digits || parse_uint(port).value_or(65536) > 65535) return false;
    host = host.substr(0, colon);
  }
  return equal_ignoring_case(host, "localhost") || host == "[::1]" || is_loopback_v4(host);
}

bool is_same_origin(std::string_view origin, std::string_view host) {
  constexpr std::string_view kScheme = "http://";
  return origin.size() > kScheme.size() &&
         equal_ignoring_case(origin.substr(0, kScheme.size()), kScheme) &&
         equal_ignoring_case(origin.substr(kScheme.size()), host);
}

Encodings accepted_encodings(std::string_view accept_encoding) {
  Encodings accepted;
  bool names_gzip = false;
  bool names_brotli = false;
  bool any = false;
  for (const Weighted& item : weighted_list(accept_encoding)) {
    const bool wanted = item.weight > 0;
    if (equal_ignoring_case(item.name, "gzip")) {
      names_gzip = true;
      accepted.gzip = wanted;
    } else if (equal_ignoring_case(item.name, "br")) {
      names_brotli = true;
      accepted.brotli = wanted;
    } else if (item.name == "*") {
      any = wanted;
    }
  }
  if (!names_gzip) accepted.gzip = any;
  if (!names_brotli) accepted.brotli = any;
  return accepted;
}

bool prefers_open_metrics(std::string_view accept) {
  double open_metrics = 0;
  double plain = 0;
  for (const Weighted& item : weighted_list(accept)) {
    if (equal_ignoring_case(item.name, "application/openmetrics-text")) {
      const bool fits = std::ranges::none_of(item.options, [](std::string_view option) {
        return option.starts_with("version=") && option != "version=1.0.0";
      });
      if (fits) open_metrics = std::max(open_metrics, item.weight);
    } else if (equal_ignoring_case(item.name, "text/plain")) {
      // Of the plain formats only 0.0.4 is spoken here.
      const bool fits = std::ranges::none_of(item.options, [](std::string_view option) {
        return option.starts_with("version=") && option != "version=0.0.4";
      });
      if (fits) plain = std::max(plain, item.weight);
    }
  }
  return open_metrics > 0 && open_metrics >= plain;
}

bool names_etag(std::string_view if_none_match, std::string_view etag) {
  for (std::string_view item : split(if_none_match, ',')) {
    item = trim(item);
    if (item.starts_with("W/")) item.remove_prefix(2);
    if (item == "*" || item == etag) return true;
  }
  return false;
}

}  // namespace gpusight::serve
