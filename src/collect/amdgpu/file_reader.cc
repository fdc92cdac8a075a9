#include "collect/amdgpu/file_reader.h"

#include "base/text.h"

namespace gpusight::collect::amdgpu {

using model::Reason;

std::optional<std::string_view> FileReader::bytes(const std::string& path, size_t limit) {
  ++reads_;
  const Status status = root_.read_into(path, buffer_, limit);
  if (status.ok()) return buffer_;
  switch (status.code()) {
    case Code::kNotFound: reason_ = Reason::kNotSupported; return std::nullopt;
    case Code::kPermissionDenied:
      reason_ = Reason::kNoPermission;
      was_refused_ = true;
      return std::nullopt;
    default: break;
  }
  // The message begins with the path, and so will the line of the log.
  std::string_view what = status.message();
  if (what.starts_with(path + ": ")) what.remove_prefix(path.size() + 2);
  not_understood(path, what);
  return std::nullopt;
}

std::optional<std::string_view> FileReader::text(const std::string& path, size_t limit) {
  const auto all = bytes(path, limit);
  if (!all) return std::nullopt;
  return trim(all->substr(0, all->find('\0')));
}

std::optional<double> FileReader::number(const std::string& path) {
  const auto word = text(path);
  if (!word) return std::nullopt;
  // A file that is there and empty is the driver's way to say that the part has no such reading.
  if (word->empty()) {
    reason_ = Reason::kNotSupported;
    return std::nullopt;
  }
  const auto number = parse_int(*word);
  if (!number) {
    not_understood(path, "its text is no number");
    return std::nullopt;
  }
  understood(path);
  return static_cast<double>(*number);
}

platform::RuntimeStatus FileReader::runtime_status(const std::string& folder) {
  ++reads_;
  return platform::runtime_status_in(root_, folder);
}

void FileReader::not_understood(const std::string& path, std::string_view what) {
  reason_ = Reason::kDriverError;
  faults_.report(path, what);
}

}  // namespace gpusight::collect::amdgpu
