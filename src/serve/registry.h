// Every open connection with the moment by which it must have moved on. One thread: the server's.
//
// A sweep closes what is late: one timer for all of them instead of one for each operation.
#pragma once

#include <functional>
#include <optional>
#include <set>

#include "base/clock.h"

namespace gpusight::serve {

class Registry {
 public:
  // Stands for one connection while it lives; not movable, the registry knows its address.
  class Entry {
   public:
    Entry(Registry& registry, std::function<void()> close)
        : registry_(registry), close_(std::move(close)) {
      registry_.entries_.insert(this);
    }
    ~Entry() { registry_.entries_.erase(this); }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    void expire_in(Duration d) { deadline_ = registry_.clock_.mono() + d; }
    void never_expire() { deadline_.reset(); }
    // The socket moved: this closes it from now on.
    void set_close(std::function<void()> close) { close_ = std::move(close); }

   private:
    friend class Registry;
    Registry& registry_;
    std::function<void()> close_;
    std::optional<MonoTime> deadline_;
  };

  explicit Registry(const Clock& clock) : clock_(clock) {}

  // Closing only cancels what the connection waits for; it leaves the registry when it ends.
  void sweep() {
    const MonoTime now = clock_.mono();
    for (Entry* entry : entries_) {
      if (entry->deadline_ && *entry->deadline_ <= now) entry->close_();
    }
  }
  void close_all() {
    for (Entry* entry : entries_) entry->close_();
  }

 private:
  const Clock& clock_;
  std::set<Entry*> entries_;
};

}  // namespace gpusight::serve
