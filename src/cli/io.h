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
  // False when nobody reads any more: the command ends quietly.
  std::function<bool(std::string_view)> out;
  std::function<void(std::string_view)> err;
  // Returns after the time; false to end a --watch.
  std::function<bool(Duration)> sleep;
  Screen screen = Screen::kPipe;
  size_t width = 80;  // columns to fit
  bool colour = false;
};

// Standard output and standard error. Asks the terminal for its width; a pipe has COLUMNS or 120.
// Colours need a terminal that is not "dumb". SIGPIPE should be ignored by the program: a closed
// pipe is told by `out`.
Io standard_io(const platform::Environment& environment);

}  // namespace gpusight::cli
