#include "cli/generate.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

#include "base/fd.h"
#include "cli/metrics.h"
#include "config/documents.h"

namespace gpusight::cli {
namespace {

Status write_file(const std::string& path, std::string_view text) {
  const auto failure = [&](int error) {
    return Status(Code::kIo, path + ": " + std::generic_category().message(error));
  };
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd.valid()) return failure(errno);
  while (!text.empty()) {
    const ssize_t written = ::write(fd.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return failure(errno);
    text.remove_prefix(written);
  }
  return {};
}

}  // namespace

std::vector<Document> generated_documents(const std::string& version) {
  return {{"metrics.md", metrics_markdown()},
          {"config.md", config::reference_markdown()},
          {"gpusight.1", config::manual_page(version)}};
}

Status write_documents(const std::string& folder, const std::string& version) {
  for (const Document& document : generated_documents(version)) {
    TRY(write_file(folder + "/" + document.name, document.text));
  }
  return {};
}

}  // namespace gpusight::cli
