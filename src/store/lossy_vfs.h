// A file layer for SQLite that loses what was not synced, as a power cut does: for tests only.
//
// Writes reach the file when it is synced. At a chosen write or sync the power goes: of what was
// written and not synced some sectors reach the file and others do not, as chance has it, and
// whatever the program does afterwards reaches nothing, while it is told that all is well.
//
// While an object lives it is SQLite's default layer. One at a time; its file calls may come from
// several threads.
#pragma once

#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <list>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace gpusight::store {

class LossyDisk {
 public:
  // The power goes at the so-many-th write, truncation or sync.
  LossyDisk(uint64_t calls, uint64_t seed) : calls_left_(calls), random_(seed) {
    real_ = sqlite3_vfs_find(nullptr);
    layer_ = *real_;
    layer_.zName = "lossy";
    layer_.szOsFile = static_cast<int>(sizeof(File)) + real_->szOsFile;
    layer_.pAppData = this;
    layer_.xOpen = &LossyDisk::open;
    layer_.xDelete = &LossyDisk::remove;
    sqlite3_vfs_register(&layer_, 1);
  }
  ~LossyDisk() { sqlite3_vfs_unregister(&layer_); }
  LossyDisk(const LossyDisk&) = delete;
  LossyDisk& operator=(const LossyDisk&) = delete;

  bool is_dead() const {
    const std::lock_guard lock(mutex_);
    return is_dead_;
  }

 private:
  static constexpr int64_t kSector = 512;

  struct Write {
    int64_t offset = 0;
    std::vector<char> bytes;  // of a truncation: none
    bool is_truncation = false;
  };
  // What all handles of one file share.
  struct Content {
    std::string path;
    std::vector<Write> unsynced;
    sqlite3_file* last = nullptr;  // a handle of the real layer to write through
  };
  struct File {
    sqlite3_file base;
    LossyDisk* disk;
    Content* content;  // nullptr for files without a name
    sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  };

  static LossyDisk& self(sqlite3_vfs* vfs) { return *static_cast<LossyDisk*>(vfs->pAppData); }
  static File& file_of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* opened, int flags, int* out) {
    LossyDisk& disk = self(vfs);
    File& file = file_of(opened);
    file.base.pMethods = nullptr;
    const int result = disk.real_->xOpen(disk.real_, name, file.real(), flags, out);
    if (result != SQLITE_OK) return result;
    file.disk = &disk;
    file.content = nullptr;
    if (name != nullptr) {
      const std::lock_guard lock(disk.mutex_);
      for (Content& known : disk.contents_) {
        if (known.path == name) file.content = &known;
      }
      if (file.content == nullptr) {
        disk.contents_.push_back({.path = name});
        file.content = &disk.contents_.back();
      }
    }
    file.base.pMethods = methods();
    return SQLITE_OK;
  }

  static int remove(sqlite3_vfs* vfs, const char* name, int sync) {
    LossyDisk& disk = self(vfs);
    const std::lock_guard lock(disk.mutex_);
    if (disk.is_dead_) return SQLITE_OK;
    for (Content& known : disk.contents_) {
      if (known.path == name) known.unsynced.clear();
    }
    return disk.real_->xDelete(disk.real_, name, sync);
  }

  // Counts a call; false when there is no power (any more).
  bool has_power() {
    if (is_dead_) return false;
    if (calls_left_ > 0) {
      --calls_left_;
      return true;
    }
    is_dead_ = true;
    for (Content& content : contents_) lose(content);
    return false;
  }

  void lose(Content& content) {
    if (content.last == nullptr) return;
    for (const Write& write : content.unsynced) {
      if (write.is_truncation) {
        if (random_() % 2 == 0) content.last->pMethods->xTruncate(content.last, write.offset);
        continue;
      }
      const auto size = static_cast<int64_t>(write.bytes.size());
      for (int64_t at = 0; at < size; at += kSector) {
        if (random_() % 2 == 0) continue;
        content.last->pMethods->xWrite(content.last, &write.bytes[static_cast<size_t>(at)],
                                       static_cast<int>(std::min(kSector, size - at)),
                                       write.offset + at);
      }
    }
    // The program still sees all of it, as it would up to the moment it dies.
  }

  static int apply(sqlite3_file* real, const Write& write) {
    if (write.is_truncation) return real->pMethods->xTruncate(real, write.offset);
    return real->pMethods->xWrite(real, write.bytes.data(), static_cast<int>(write.bytes.size()),
                                  write.offset);
  }

  static int close(sqlite3_file* f) {
    File& file = file_of(f);
    if (file.content != nullptr) {
      const std::lock_guard lock(file.disk->mutex_);
      if (file.content->last == file.real()) file.content->last = nullptr;
    }
    return file.real()->pMethods->xClose(file.real());
  }

  // The real file, and over it what was not synced.
  static int read(sqlite3_file* f, void* out, int size, sqlite3_int64 offset) {
    File& file = file_of(f);
    const std::lock_guard lock(file.disk->mutex_);
    int result = file.real()->pMethods->xRead(file.real(), out, size, offset);
    if (file.content == nullptr || file.content->unsynced.empty()) return result;
    if (result != SQLITE_OK && result != SQLITE_IOERR_SHORT_READ) return result;
    sqlite3_int64 length = 0;
    size_of(file, &length);
    auto* bytes = static_cast<char*>(out);
    for (const Write& write : file.content->unsynced) {
      const int64_t from = std::max<int64_t>(offset, write.offset);
      const int64_t to =
          write.is_truncation
              ? offset + size
              : std::min<int64_t>(offset + size, write.offset + int64_t(write.bytes.size()));
      if (from >= to) continue;
      if (write.is_truncation) {
        std::memset(bytes + (from - offset), 0, static_cast<size_t>(to - from));
      } else {
        std::memcpy(bytes + (from - offset), &write.bytes[size_t(from - write.offset)],
                    static_cast<size_t>(to - from));
      }
    }
    return offset + size <= length ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
  }

  static int write(sqlite3_file* f, const void* bytes, int size, sqlite3_int64 offset) {
    File& file = file_of(f);
    const std::lock_guard lock(file.disk->mutex_);
    if (file.content == nullptr) {
      return file.real()->pMethods->xWrite(file.real(), bytes, size, offset);
    }
    file.content->last = file.real();
    static_cast<void>(file.disk->has_power());
    // Without power the program still sees what it wrote.
    const auto* from = static_cast<const char*>(bytes);
    file.content->unsynced.push_back({.offset = offset, .bytes = {from, from + size}});
    return SQLITE_OK;
  }

  static int truncate(sqlite3_file* f, sqlite3_int64 size) {
    File& file = file_of(f);
    const std::lock_guard lock(file.disk->mutex_);
    if (file.content == nullptr) return file.real()->pMethods->xTruncate(file.real(), size);
    file.content->last = file.real();
    static_cast<void>(file.disk->has_power());
    file.content->unsynced.push_back({.offset = size, .bytes = {}, .is_truncation = true});
    return SQLITE_OK;
  }

  static int sync(sqlite3_file* f, int flags) {
    File& file = file_of(f);
    const std::lock_guard lock(file.disk->mutex_);
    if (file.content == nullptr) return file.real()->pMethods->xSync(file.real(), flags);
    if (!file.disk->has_power()) return SQLITE_OK;
    for (const Write& write : file.content->unsynced) {
      const int result = apply(file.real(), write);
      if (result != SQLITE_OK) return result;
    }
    file.content->unsynced.clear();
    return file.real()->pMethods->xSync(file.real(), flags);
  }

  static int size_of(File& file, sqlite3_int64* size) {
    const int result = file.real()->pMethods->xFileSize(file.real(), size);
    if (result != SQLITE_OK || file.content == nullptr) return result;
    for (const Write& write : file.content->unsynced) {
      const int64_t end = write.offset + int64_t(write.bytes.size());
      *size = write.is_truncation ? write.offset : std::max<int64_t>(*size, end);
    }
    return SQLITE_OK;
  }
  static int file_size(sqlite3_file* f, sqlite3_int64* size) {
    const std::lock_guard lock(file_of(f).disk->mutex_);
    return size_of(file_of(f), size);
  }

  // The rest goes to the real layer as it is.
  static const sqlite3_io_methods& real_methods(sqlite3_file* f) {
    return *file_of(f).real()->pMethods;
  }
  static sqlite3_file* real_of(sqlite3_file* f) { return file_of(f).real(); }
  static const sqlite3_io_methods* methods() {
    static const sqlite3_io_methods kMethods = {
        .iVersion = 2,
        .xClose = &close,
        .xRead = &read,
        .xWrite = &write,
        .xTruncate = &truncate,
        .xSync = &sync,
        .xFileSize = &file_size,
        .xLock = [](sqlite3_file* f, int l) { return real_methods(f).xLock(real_of(f), l); },
        .xUnlock = [](sqlite3_file* f, int l) { return real_methods(f).xUnlock(real_of(f), l); },
        .xCheckReservedLock =
            [](sqlite3_file* f, int* out) {
              return real_methods(f).xCheckReservedLock(real_of(f), out);
            },
        .xFileControl =
            [](sqlite3_file* f, int op, void* argument) {
              return real_methods(f).xFileControl(real_of(f), op, argument);
            },
        .xSectorSize = [](sqlite3_file* f) { return real_methods(f).xSectorSize(real_of(f)); },
        .xDeviceCharacteristics =
            [](sqlite3_file*) { return 0; },  // nothing is promised, not even power-safe overwrite
        .xShmMap =
            [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
              return real_methods(f).xShmMap(real_of(f), page, size, extend, out);
            },
        .xShmLock =
            [](sqlite3_file* f, int offset, int n, int flags) {
              return real_methods(f).xShmLock(real_of(f), offset, n, flags);
            },
        .xShmBarrier = [](sqlite3_file* f) { real_methods(f).xShmBarrier(real_of(f)); },
        .xShmUnmap = [](sqlite3_file* f,
                        int remove) { return real_methods(f).xShmUnmap(real_of(f), remove); },
    };
    return &kMethods;
  }

  mutable std::mutex mutex_;
  uint64_t calls_left_;
  bool is_dead_ = false;
  std::mt19937_64 random_;
  std::list<Content> contents_;
  sqlite3_vfs* real_ = nullptr;
  sqlite3_vfs layer_{};
};

}  // namespace gpusight::store
