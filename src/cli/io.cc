#include "cli/io.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <thread>

#include "base/text.h"

namespace gpusight::cli {
namespace {

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(written);
  }
  return true;
}

std::string_view variable(const platform::Environment& environment, std::string_view name) {
  const auto at = environment.find(name);
  return at == environment.end() ? std::string_view() : std::string_view(at->second);
}

size_t width_of(const platform::Environment& environment, bool is_terminal) {
  winsize size{};
  if (is_terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  const std::optional<uint64_t> columns = parse_uint(variable(environment, "COLUMNS"));
  constexpr uint64_t kMost = 1000;
  if (columns && *columns > 0) return std::min(*columns, kMost);
  return is_terminal ? 80 : 120;
}

}  // namespace

Io standard_io(const platform::Environment& environment) {
  const bool is_terminal = ::isatty(STDOUT_FILENO) == 1;
  return {.out = [](std::string_view text) { return write_all(STDOUT_FILENO, text); },
          .err = [](std::string_view text) { write_all(STDERR_FILENO, text); },
          .sleep =
              [](Duration time) {
                std::this_thread::sleep_for(time);
                return true;
              },
          .screen = is_terminal ? Screen::kTerminal : Screen::kPipe,
          .width = width_of(environment, is_terminal),
          .colour = is_terminal && variable(environment, "TERM") != "dumb"};
}

}  // namespace gpusight::cli
