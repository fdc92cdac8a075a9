// Where a one-shot command writes, and how it waits. The real one is the terminal; a test has
// strings. Not thread-safe.
#pragma once

#include <functional>
#include <string_view>

#include "base/clock.h"
#include "platform/paths.h"

namespace gpusight::cli {

enum class Screen : uint8_t {
  kTerminal,
  kPipe,  // a file or another program reads: no cursor movement
};

struct Io {
  // 0, or the errno of the write that failed.
  std::function<int(std::string_view)> out;
  std::function<void(std::string_view)> err;
  // Returns after the time; false to end a --watch.
  std::function<bool(Duration)> sleep;
  Screen screen = Screen::kPipe;
  size_t width = 80;  // columns to fit
  bool colour = false;
  int failure = 0;  // of the first write that failed; nothing is written after it

  // False when it could not be written: the command should end.
  bool write(std::string_view text) {
    if (failure == 0) failure = out(text);
    return failure == 0;
  }
};

// Standard output and standard error. Asks the terminal for its width; a pipe has COLUMNS or 120.
// Colours need a terminal that is not "dumb". The program ignores SIGPIPE: a closed pipe is then
// the failure EPIPE, which ends a command quietly.
Io standard_io(const platform::Environment& environment);

}  // namespace gpusight::cli
