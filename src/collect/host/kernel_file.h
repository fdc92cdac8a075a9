// A text file of the kernel that is read again and again, and the small tools to take it apart
// without copying. Each object belongs to one lane and is used from its thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/log.h"
#include "collect/source.h"
#include "model/value.h"
#include "platform/kept_file.h"

namespace gpusight::collect::host {

// Why a file gives nothing: the reason for a failure of RootFs.
model::Reason reason_of(const Status& failure);

class KernelFile {
 public:
  // What it means when a file is there and reading it fails.
  enum class OnFailure : uint8_t {
    kFault,        // something is wrong: driver_error
    kUnsupported,  // the kernel was started without the feature: not_supported
  };

  // `root` and `faults` outlive it. `faults` is told of what is wrong, not of files that this
  // kernel or container does not have.
  KernelFile(const platform::RootFs& root, std::string path, log::FaultLog& faults,
             OnFailure on_failure = OnFailure::kFault)
      : file_(root, std::move(path)), faults_(faults), on_failure_(on_failure) {}

  // True: text() is what the file says now. False: reason() says why there is none.
  bool read();
  std::string_view text() const { return text_; }
  model::Reason reason() const { return reason_; }

  // The text is not what the kernel writes: remembered as the reason, logged once.
  void not_understood();
  // The text made sense: a fault told before is over.
  void understood() { faults_.clear(file_.path()); }

  // Puts the reason, once and without label, in place of each metric.
  void absent(Report& report, std::span<const catalog::MetricId> metrics) const;

 private:
  platform::KeptFile file_;
  log::FaultLog& faults_;
  OnFailure on_failure_;
  std::string text_;
  model::Reason reason_ = model::Reason::kUnknown;
};

// The next line, without its line break; `text` goes on behind it. Empty at the end, and for an
// empty line: ask text.empty() first.
std::string_view take_line(std::string_view& text);
// The next word between blanks; empty at the end of the line.
std::string_view take_word(std::string_view& line);
// The next word as a whole number; nullopt if it is none or there is no further word.
std::optional<uint64_t> take_uint(std::string_view& line);

// A name of the kernel as a label: as it is when it is plain, else cleaned into `scratch`.
std::string_view plain_label(std::string_view name, std::string& scratch);

}  // namespace gpusight::collect::host
