// Lock annotations, checked by clang's -Wthread-safety, and the mutex that carries them.
#pragma once

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define GPUSIGHT_ATTRIBUTE(x) __attribute__((x))
#else
#define GPUSIGHT_ATTRIBUTE(x)
#endif

#define CAPABILITY(x) GPUSIGHT_ATTRIBUTE(capability(x))
#define SCOPED_CAPABILITY GPUSIGHT_ATTRIBUTE(scoped_lockable)
#define GUARDED_BY(x) GPUSIGHT_ATTRIBUTE(guarded_by(x))
#define REQUIRES(...) GPUSIGHT_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define ACQUIRE(...) GPUSIGHT_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define RELEASE(...) GPUSIGHT_ATTRIBUTE(release_capability(__VA_ARGS__))
#define EXCLUDES(...) GPUSIGHT_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define NO_THREAD_SAFETY_ANALYSIS GPUSIGHT_ATTRIBUTE(no_thread_safety_analysis)

namespace gpusight {

class CAPABILITY("mutex") Mutex {
 public:
  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

// Holds a Mutex for a scope; usable with std::condition_variable_any.
class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }

 private:
  Mutex& mutex_;
};

}  // namespace gpusight
