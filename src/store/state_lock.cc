#include "store/state_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace gpusight::store {

Result<StateLock> StateLock::take(const std::string& directory) {
  std::error_code ignored;  // opening the file says what is wrong
  std::filesystem::create_directories(directory, ignored);
  const std::string path = directory + "/LOCK";
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) {
    const int error = errno;
    const bool denied = error == EACCES || error == EPERM || error == EROFS;
    return Status(denied ? Code::kPermissionDenied : Code::kIo,
                  std::generic_category().message(error));
  }
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    return Status(error == EWOULDBLOCK ? Code::kUnavailable : Code::kIo,
                  std::generic_category().message(error));
  }
  return StateLock(directory, std::move(file));
}

}  // namespace gpusight::store
