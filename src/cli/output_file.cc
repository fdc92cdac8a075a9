#include "cli/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace gpusight::cli {

Status OutputFile::failure(int error) const {
  return {Code::kIo, path_ + ": " + std::generic_category().message(error)};
}

Result<OutputFile> OutputFile::open(const std::string& path, Io& io) {
  OutputFile file(io, path);
  if (path.empty()) return file;
  struct stat there {};
  const bool is_other = ::stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode);
  if (!is_other) file.unfinished_ = path + ".unfinished";
  const std::string& target = is_other ? path : file.unfinished_;
  const int flags = is_other ? O_WRONLY : O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW;
  file.fd_.reset(::open(target.c_str(), flags | O_CLOEXEC, 0644));
  if (file.fd_.valid()) return file;
  file.unfinished_.clear();
  return file.failure(errno);
}

OutputFile::~OutputFile() {
  if (fd_.valid() && !unfinished_.empty()) ::unlink(unfinished_.c_str());
}

bool OutputFile::write(std::string_view text) {
  if (path_.empty()) return io_->write(text);
  while (status_.ok() && !text.empty()) {
    const ssize_t written = ::write(fd_.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      status_ = failure(errno);
    } else {
      text.remove_prefix(static_cast<size_t>(written));
    }
  }
  return status_.ok();
}

Status OutputFile::finish() {
  TRY(status_);
  if (unfinished_.empty()) return {};
  if (::fsync(fd_.get()) != 0) return failure(errno);
  if (std::rename(unfinished_.c_str(), path_.c_str()) != 0) return failure(errno);
  unfinished_.clear();
  return {};
}

}  // namespace gpusight::cli
