#include "store/history_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/fd.h"
#include "store/history_check.h"

namespace gpusight::store {
namespace fs = std::filesystem;

Result<std::unique_ptr<HistoryFile>> HistoryFile::open(const std::string& path) {
  // SQLite says the same of all of these.
  if (::access(path.c_str(), R_OK) != 0) {
    const int error = errno;
    const bool denied = error == EACCES || error == EPERM;
    const bool missing = error == ENOENT || error == ENOTDIR;
    return Status(denied    ? Code::kPermissionDenied
                  : missing ? Code::kNotFound
                            : Code::kIo,
                  path + ": " + std::generic_category().message(error));
  }
  std::unique_ptr<HistoryFile> file(new HistoryFile(path));
  TRY(file->readers_->take());
  return file;
}

Result<HistoryStats> HistoryFile::stats() const {
  auto session = TRY(readers_->take());
  HistoryStats stats = stats_of_file(path_);
  stats.committed_until_ms = session->committed_until_ms();
  TRY(count_tables(session->db(), stats));
  return stats;
}

Result<HistoryCheck> HistoryFile::check() const {
  auto session = TRY(readers_->take());
  return check_history(*session);
}

Status HistoryFile::for_each_sample(std::span<const model::Matcher> matchers, int64_t start_ms,
                                    int64_t end_ms, const History::Visit& visit) const {
  auto session = TRY(readers_->take());
  return visit_samples(*session, matchers, {.start_ms = start_ms, .end_ms = end_ms}, visit);
}

Writer writer_of(const std::string& directory) {
  const std::string path = directory + "/LOCK";
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid()) return errno == ENOENT ? Writer::kNobody : Writer::kUnknown;
  if (::flock(file.get(), LOCK_SH | LOCK_NB) == 0) return Writer::kNobody;
  return errno == EWOULDBLOCK ? Writer::kSomebody : Writer::kUnknown;
}

std::vector<std::string> history_files(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with("history") && name.ends_with(".db")) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace gpusight::store
