#include "serve/http_message.h"

#include <fmt/core.h>

#include <ctime>

#include "base/json_writer.h"
#include "serve/gzip.h"

namespace gpusight::serve {
namespace {

// What every response carries. The page needs nothing but itself; nobody may frame it or read it
// from another site.
constexpr std::string_view kSafetyHeaders =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src "
    "'self' data:; connect-src 'self'; font-src 'self'; manifest-src 'self'; frame-ancestors "
    "'none'; base-uri 'none'; form-action 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n";

}  // namespace

std::string_view reason_phrase(unsigned status) {
  switch (status) {
    case 200: return "OK";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 421: return "Misdirected Request";
    case 422: return "Unprocessable Entity";
    case 426: return "Upgrade Required";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 503: return "Service Unavailable";
    default: return "Internal Server Error";
  }
}

Response error_response(unsigned status, std::string_view code, std::string_view message) {
  std::string out;
  JsonWriter w(out);
  w.begin_object().key("error").begin_object().key("code").string(code);
  w.key("message").string(message).end_object().end_object();
  return {
      .status = status, .headers = {{"Cache-Control", "no-store"}}, .body = Body::of(out + "\n")};
}

Response compressed_if_wanted(std::string_view accept_encoding, Response response) {
  constexpr size_t kWorthIt = 1400;  // what fits one packet anyway is left as it is
  response.headers.emplace_back("Vary", "Accept-Encoding");
  const bool wanted = accepted_encodings(accept_encoding).gzip;
  if (!wanted || response.body.bytes.size() < kWorthIt) return response;
  response.body = Body::of(gzip(response.body.bytes));
  response.headers.emplace_back("Content-Encoding", "gzip");
  return response;
}

std::string response_head(const Response& response, std::string_view date, AfterResponse after) {
  std::string head;
  head.reserve(1024);
  head += fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status,
                      reason_phrase(response.status), date);
  if (response.status != 304) {  // which speaks of a body that is not sent
    head += fmt::format("Content-Length: {}\r\nContent-Type: {}\r\n", response.body.bytes.size(),
                        response.content_type);
  }
  for (const auto& [name, value] : response.headers) {
    head.append(name).append(": ").append(value).append("\r\n");
  }
  head += kSafetyHeaders;
  head += after == AfterResponse::kClose ? "Connection: close\r\n\r\n"
                                         : "Connection: keep-alive\r\n\r\n";
  return head;
}

std::string http_date(int64_t unix_seconds) {
  constexpr std::string_view kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const time_t time = unix_seconds;
  tm parts{};
  gmtime_r(&time, &parts);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[parts.tm_wday], parts.tm_mday,
                     kMonths[parts.tm_mon], parts.tm_year + 1900, parts.tm_hour, parts.tm_min,
                     parts.tm_sec);
}

}  // namespace gpusight::serve
