// Our own bugs abort with "BUG:", the place, and a stack; they are never turned into error values.
#pragma once

#include <string_view>

namespace gpusight {
[[noreturn]] void bug(const char* file, int line, const char* condition, std::string_view message);
}  // namespace gpusight

#define CHECK(condition, message)                                                 \
  do {                                                                            \
    if (!(condition)) ::gpusight::bug(__FILE__, __LINE__, #condition, (message)); \
  } while (false)
