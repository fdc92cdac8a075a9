// How kernel files are opened and read. Private to src/platform.
#pragma once

#include <fcntl.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace gpusight::platform {

inline constexpr int kReadOnly = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
inline constexpr size_t kLongestFile = 1 << 20;

// The message begins with the path.
Status read_failure(std::string_view path, int error);

// From where the descriptor stands to the end; at most `limit` bytes.
Status read_whole(int fd, std::string_view path, std::string& buffer, size_t limit);

}  // namespace gpusight::platform
