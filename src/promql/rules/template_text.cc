#include "promql/rules/template_text.h"

#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "promql/go_text.h"
#include "promql/literal.h"
#include "promql/rules/template_format.h"

namespace gpusight::promql {
namespace {

constexpr int kDigits = 4;  // significant ones

std::string four_digits(double number) { return go_significant(number, kDigits); }

constexpr std::array<std::string_view, 8> kThousands = {"k", "M", "G", "T", "P", "E", "Z", "Y"};
constexpr std::array<std::string_view, 8> kThousandths = {"m", "u", "n", "p", "f", "a", "z", "y"};
constexpr std::array<std::string_view, 8> kPowersOf1024 = {"ki", "Mi", "Gi", "Ti",
                                                           "Pi", "Ei", "Zi", "Yi"};

std::string with_large_prefix(double number, double step, std::span<const std::string_view> names) {
  std::string_view prefix;
  for (const std::string_view name : names) {
    if (std::abs(number) < step) break;
    prefix = name;
    number /= step;
  }
  return four_digits(number) + std::string(prefix);
}

std::string with_small_prefix(double number) {
  std::string_view prefix;
  for (const std::string_view name : kThousandths) {
    if (std::abs(number) >= 1) break;
    prefix = name;
    number *= 1000;
  }
  return four_digits(number) + std::string(prefix);
}

std::string whole_duration(double seconds) {
  const char* sign = seconds < 0 ? "-" : "";
  seconds = std::abs(seconds);
  constexpr double kMost = 9.2e18;
  const auto total = static_cast<int64_t>(std::min(seconds, kMost));
  const int64_t s = total % 60;
  const int64_t m = total / 60 % 60;
  const int64_t h = total / 3600 % 24;
  const int64_t d = total / 86'400;
  if (d != 0) return fmt::format("{}{}d {}h {}m {}s", sign, d, h, m, s);
  if (h != 0) return fmt::format("{}{}h {}m {}s", sign, h, m, s);
  if (m != 0) return fmt::format("{}{}m {}s", sign, m, s);
  return fmt::format("{}{}s", sign, four_digits(seconds));
}

struct Character {
  uint32_t code = 0;
  size_t length = 1;
};

// Invalid bytes are taken one by one.
Character character_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) -> uint32_t {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
  };
  const uint32_t first = byte(0);
  if (first >= 0xc2 && first < 0xe0 && (byte(1) & 0xc0) == 0x80) {
    return {((first & 0x1f) << 6) | (byte(1) & 0x3f), 2};
  }
  return {first < 0x80 ? first : 0xffffffff, 1};
}

// Two-byte letters come in pairs: at a fixed distance, or side by side.
uint32_t upper(uint32_t c) {
  if (c >= 'a' && c <= 'z') return c - 32;
  if (c == 0xb5) return 0x39c;                             // µ
  if (c >= 0xe0 && c <= 0xfe && c != 0xf7) return c - 32;  // à … þ
  if (c == 0xff) return 0x178;                             // ÿ
  if ((c >= 0x101 && c <= 0x137 && c != 0x131) || (c >= 0x14b && c <= 0x177)) return c & ~1U;
  if (c == 0x131) return 'I';
  if ((c >= 0x13a && c <= 0x148) || (c >= 0x17a && c <= 0x17e)) return c % 2 == 0 ? c - 1 : c;
  if (c >= 0x3b1 && c <= 0x3c9) return c == 0x3c2 ? 0x3a3 : c - 32;  // α … ω, final sigma
  if (c >= 0x3ad && c <= 0x3af) return c - 37;                       // έ ή ί
  if (c == 0x3ac) return 0x386;
  if (c == 0x3cc) return 0x38c;
  if (c == 0x3cd || c == 0x3ce) return c - 63;
  if (c >= 0x430 && c <= 0x44f) return c - 32;  // а … я
  if (c >= 0x450 && c <= 0x45f) return c - 80;  // ѐ … џ
  return c;
}
uint32_t lower(uint32_t c) {
  if (c >= 'A' && c <= 'Z') return c + 32;
  if (c >= 0xc0 && c <= 0xde && c != 0xd7) return c + 32;
  if (c == 0x178) return 0xff;
  if ((c >= 0x100 && c <= 0x136 && c != 0x130) || (c >= 0x14a && c <= 0x176)) return c | 1U;
  if (c == 0x130) return 'i';
  if ((c >= 0x139 && c <= 0x147) || (c >= 0x179 && c <= 0x17d)) return c % 2 == 1 ? c + 1 : c;
  if (c >= 0x391 && c <= 0x3a9 && c != 0x3a2) return c + 32;
  if (c >= 0x388 && c <= 0x38a) return c + 37;
  if (c == 0x386) return 0x3ac;
  if (c == 0x38c) return 0x3cc;
  if (c == 0x38e || c == 0x38f) return c + 63;
  if (c >= 0x410 && c <= 0x42f) return c + 32;
  if (c >= 0x400 && c <= 0x40f) return c + 80;
  return c;
}

// `change` is told whether the character begins a word.
template <typename Change>
std::string changed(std::string_view text, Change change) {
  std::string out;
  out.reserve(text.size());
  bool begins_word = true;
  for (size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    const uint32_t now = change(c.code, begins_word);
    if (c.code == 0xffffffff || now == c.code) {
      out += text.substr(at, c.length);
    } else {
      append_utf8(out, now);
    }
    const bool in_word = c.code == '_' || (c.code >= '0' && c.code <= '9') || c.code > 0x7f ||
                         lower(c.code) != upper(c.code);
    begins_word = !in_word;
    at += c.length;
  }
  return out;
}

struct HostPort {
  std::string_view host;
  std::string_view port;
};

// "host:port" or "[address]:port"; nothing where there is no port or it is ambiguous.
std::optional<HostPort> split_host_port(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[')) {
    if (host.find(']') != host.size() - 1) return std::nullopt;
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return std::nullopt;
  }
  if (host.find_first_of("[]") != std::string_view::npos) return std::nullopt;
  return HostPort{host, text.substr(colon + 1)};
}

bool is_address(std::string_view host) {
  const std::string text(host);
  std::array<unsigned char, sizeof(in6_addr)> unused;
  return inet_pton(AF_INET, text.c_str(), unused.data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), unused.data()) == 1;
}

}  // namespace

std::string humanize(double number) {
  if (number == 0 || !std::isfinite(number)) return four_digits(number);
  return std::abs(number) >= 1 ? with_large_prefix(number, 1000, kThousands)
                               : with_small_prefix(number);
}

std::string humanize_1024(double number) {
  if (std::abs(number) <= 1 || !std::isfinite(number)) return four_digits(number);
  return with_large_prefix(number, 1024, kPowersOf1024);
}

std::string humanize_duration(double seconds) {
  if (!std::isfinite(seconds)) return four_digits(seconds);
  if (seconds == 0) return four_digits(seconds) + "s";
  return std::abs(seconds) >= 1 ? whole_duration(seconds) : with_small_prefix(seconds) + "s";
}

std::string humanize_percentage(double ratio) { return four_digits(ratio * 100) + "%"; }

Result<std::string> humanize_timestamp(double seconds) {
  if (!std::isfinite(seconds)) return four_digits(seconds);
  const double nanoseconds = seconds * 1e9;
  constexpr auto kMost = static_cast<double>(std::numeric_limits<int64_t>::max());
  if (nanoseconds >= kMost || nanoseconds < -kMost) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} cannot be represented as a nanoseconds timestamp since it "
                              "overflows int64",
                              go_general(seconds)));
  }
  namespace chrono = std::chrono;
  const chrono::milliseconds time(static_cast<int64_t>(nanoseconds) / 1'000'000);
  const auto day = chrono::floor<chrono::days>(time);
  const chrono::year_month_day date{chrono::sys_days(day)};
  const chrono::hh_mm_ss clock(time - day);
  std::string fraction;
  if (const int64_t ms = clock.subseconds().count(); ms != 0) {
    fraction = fmt::format(".{:03}", ms);
    while (fraction.back() == '0') fraction.pop_back();
  }
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}{} +0000 UTC",
                     static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), fraction);
}

std::string to_upper(std::string_view text) {
  return changed(text, [](uint32_t c, bool) { return upper(c); });
}
std::string to_lower(std::string_view text) {
  return changed(text, [](uint32_t c, bool) { return lower(c); });
}
std::string title_case(std::string_view text) {
  return changed(text, [](uint32_t c, bool begins) { return begins ? upper(c) : c; });
}

std::string strip_port(std::string_view host_port) {
  const auto parts = split_host_port(host_port);
  return std::string(parts ? parts->host : host_port);
}

std::string strip_domain(std::string_view host_port) {
  const auto parts = split_host_port(host_port);
  const std::string_view host = parts ? parts->host : host_port;
  if (is_address(host)) return std::string(host_port);
  std::string name(host.substr(0, host.find('.')));
  if (parts && !parts->port.empty()) name += fmt::format(":{}", parts->port);
  return name;
}

std::string url_query_escape(std::string_view text) {
  static constexpr std::string_view kPlain = "-_.~";
  std::string out;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || kPlain.find(c) != std::string_view::npos;
    if (is_plain) {
      out += c;
    } else if (c == ' ') {
      out += '+';
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string html_escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&#34;"; break;
      case '\'': out += "&#39;"; break;
      case '\0': out += "\xef\xbf\xbd"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace gpusight::promql
