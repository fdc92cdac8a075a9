#include "platform/kept_file.h"

#include <unistd.h>

#include <cerrno>

#include "platform/read_whole.h"

namespace gpusight::platform {

Status KeptFile::read_into(std::string& buffer) {
  if (!root_.is_real()) return root_.read_into(path_, buffer);
  if (fd_.valid()) {
    ::lseek(fd_.get(), 0, SEEK_SET);
  } else {
    fd_ = UniqueFd(::open(path_.c_str(), kReadOnly));
    if (!fd_.valid()) return read_failure(path_, errno);
  }
  Status status = read_whole(fd_.get(), path_, buffer, kLongestFile);
  if (!status.ok()) fd_ = UniqueFd();
  return status;
}

}  // namespace gpusight::platform
