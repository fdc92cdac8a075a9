#include "platform/dynamic_library.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "base/fd.h"
#include "base/text.h"

namespace gpusight::platform {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kOwnMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kOwnMachine = EM_AARCH64;
#elif defined(__riscv)
constexpr uint16_t kOwnMachine = EM_RISCV;
#elif defined(__powerpc64__)
constexpr uint16_t kOwnMachine = EM_PPC64;
#else
#error "name this processor's ELF machine here"
#endif
constexpr uint8_t kOwnClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

std::string machine_name(uint16_t machine, uint8_t elf_class) {
  switch (machine) {
    case EM_386: return "x86 (32 bit)";
    case EM_X86_64: return elf_class == ELFCLASS32 ? "x32" : "x86_64";
    case EM_AARCH64: return "aarch64";
    case EM_ARM: return "arm (32 bit)";
    case EM_PPC64: return "ppc64";
    case EM_RISCV: return "riscv";
    default: return "ELF machine " + std::to_string(machine);
  }
}

std::string last_error(std::string_view name) {
  const char* text = ::dlerror();
  std::string message = clean_text(text == nullptr ? "unknown error" : text);
  // The loader repeats the name in front; whoever shows the message names the file already.
  const std::string front = std::string(name) + ": ";
  return message.starts_with(front) ? message.substr(front.size()) : message;
}

std::string real_file(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr),
                                                             &std::free);
  return resolved == nullptr ? path : std::string(resolved.get());
}

// The failures that the loader itself cannot tell apart, seen in the file's first bytes.
Status inspect(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) {
    if (errno == ENOENT || errno == ENOTDIR) return {Code::kNotFound, "no such file"};
    return {Code::kIo, std::strerror(errno)};
  }
  std::array<char, sizeof(Elf64_Ehdr)> header;
  const ssize_t size = ::read(fd.get(), header.data(), header.size());
  if (size < 0) return {Code::kIo, std::strerror(errno)};
  const auto foreign = foreign_architecture(std::string_view(header.data(), size));
  if (!foreign) return {Code::kIo, "not a shared library"};
  if (!foreign->empty()) return {Code::kUnsupported, *foreign};
  return {};
}

// What the loader says about a name that it looked up itself.
Status loader_failure(const std::string& name) {
  std::string message = last_error(name);
  if (message.find("wrong ELF class") != std::string::npos) {
    return {Code::kUnsupported, kOwnClass == ELFCLASS64 ? "32 bit" : "64 bit"};
  }
  // Of a library that is there but lacks another one, the loader names the other one.
  if (message.starts_with("cannot open shared object file")) return {Code::kNotFound, message};
  return {Code::kIo, message};
}

}  // namespace

std::optional<std::string> foreign_architecture(std::string_view header) {
  // e_ident and e_machine lie at the same offsets for both classes.
  if (header.size() < offsetof(Elf64_Ehdr, e_machine) + 2 || !header.starts_with("\x7f"
                                                                                 "ELF")) {
    return std::nullopt;
  }
  const auto byte = [&](size_t at) { return static_cast<uint8_t>(header[at]); };
  const size_t at = offsetof(Elf64_Ehdr, e_machine);
  const bool little = byte(EI_DATA) != ELFDATA2MSB;
  const auto machine =
      static_cast<uint16_t>(little ? byte(at) | byte(at + 1) << 8 : byte(at) << 8 | byte(at + 1));
  if (machine == kOwnMachine && byte(EI_CLASS) == kOwnClass) return std::string();
  return machine_name(machine, byte(EI_CLASS));
}

void DynamicLibrary::Closer::operator()(void* handle) const { ::dlclose(handle); }

Result<DynamicLibrary> DynamicLibrary::open(const std::string& name) {
  const bool is_path = name.find('/') != std::string::npos;
  if (is_path) {
    const Status looked = inspect(name);
    if (!looked.ok()) return looked;
  }
  void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return is_path ? Status(Code::kIo, last_error(name)) : loader_failure(name);
  }
  struct link_map* map = nullptr;
  const bool known = ::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr &&
                     map->l_name != nullptr && *map->l_name != '\0';
  return DynamicLibrary(handle, real_file(known ? map->l_name : name));
}

void* DynamicLibrary::symbol(const char* name) const { return ::dlsym(handle_.get(), name); }

bool runs_with_raised_rights() { return ::getauxval(AT_SECURE) != 0; }

bool may_load(uint32_t user, const FileTrust& file) {
  if (user != 0) return true;
  return file.owner == 0 && (file.mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool may_load(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return true;
  return may_load(::geteuid(), FileTrust{.owner = info.st_uid, .mode = info.st_mode});
}

}  // namespace gpusight::platform
