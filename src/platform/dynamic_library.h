// A shared library opened at run time. Movable; closed when it goes out of scope, so whoever holds
// addresses out of it must be gone by then. symbol() may be called from any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gpusight::platform {

class DynamicLibrary {
 public:
  // Opens a file (a name with a slash) or asks the system's loader (a name without). What goes
  // wrong is told apart by the code, the message says the details in few words:
  //   kNotFound     there is no such library
  //   kUnsupported  it is built for another processor; the message is that processor ("aarch64")
  //   kIo           it is there and does not load; the message is the reason
  // Every symbol is bound at once, and none becomes visible to other libraries.
  static Result<DynamicLibrary> open(const std::string& name);

  // nullptr when the library has no such symbol.
  void* symbol(const char* name) const;
  // The file as the loader knows it, symbolic links followed.
  const std::string& path() const { return path_; }

 private:
  struct Closer {
    void operator()(void* handle) const;
  };
  DynamicLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}

  std::unique_ptr<void, Closer> handle_;
  std::string path_;
};

// Whether the program runs with more rights than whoever started it (set-uid, file capabilities):
// then no path that they chose may be loaded.
bool runs_with_raised_rights();

// Who may have written a file: what decides whether root may load it.
struct FileTrust {
  uint32_t owner = 0;
  uint32_t mode = 0;
};
// Run as root (`user` is 0), code named by hand must be root's own and writable by nobody else.
// Anyone else endangers only themselves.
bool may_load(uint32_t user, const FileTrust& file);
// The same for a file and the process as it is; true when there is no such file.
bool may_load(const std::string& path);

// "x86_64", "aarch64", "x86 (32 bit)" … for the ELF header of a library; empty when it is built for
// this processor, nullopt when the bytes are no ELF header.
std::optional<std::string> foreign_architecture(std::string_view header);

}  // namespace gpusight::platform
