// Recording into a folder and reading it back: for tests only.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "store/head_test_util.h"
#include "store/history.h"

namespace gpusight::store {

// A folder that goes with the test.
class StateFolder {
 public:
  StateFolder() {
    path_ = (std::filesystem::temp_directory_path() / "gs-history-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~StateFolder() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  StateFolder(const StateFolder&) = delete;
  StateFolder& operator=(const StateFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string database() const { return path_ + "/history.db"; }

 private:
  std::string path_;
};

inline Series read_history(const model::Queryable& from, std::vector<model::Matcher> matchers = {},
                           int64_t start_ms = 0, int64_t end_ms = INT64_MAX) {
  auto set = from.select(matchers, {.start_ms = start_ms, .end_ms = end_ms}, {});
  EXPECT_TRUE(set.ok()) << set.status().message();
  return set.ok() ? read_set(**set) : Series{};
}

// A machine that is told its readings tick by tick, with a head and a history as the daemon has
// them. Reopening is a restart: the head is empty, the clocks go on.
class RecordedMachine {
 public:
  explicit RecordedMachine(History::Options options = {}) : options_(std::move(options)) {
    start();
  }

  void start() {
    auto lock = StateLock::take(folder.path());
    ASSERT_TRUE(lock.ok()) << lock.status().message();
    lock_.emplace(std::move(*lock));
    head = std::make_unique<Head>();
    History::Options options = options_;
    options.lock = &*lock_;
    options.head = head.get();
    history = History::open(options);
  }
  void stop() {
    EXPECT_TRUE(history->close(std::chrono::seconds(30)));
    history.reset();
    lock_.reset();
  }
  void crash() {
    history.reset();
    lock_.reset();
  }
  void restart() {
    stop();
    start();
  }

  // The tick that `ticks.next()` made is over.
  void publish() {
    auto snapshot = std::make_shared<const model::Snapshot>(ticks.current());
    head->append(*snapshot);
    history->append(snapshot);
    ++appended_;
    settle_every_few();
  }
  // One tick in which GPU-a has this temperature; its time.
  int64_t celsius(double number, Duration by = std::chrono::seconds(1)) {
    ticks.next(by);
    ticks.device("GPU-a").push_back({catalog::MetricId::kGpuTemperature, "", ticks.fresh(number)});
    publish();
    return ticks.wall_ms();
  }

  // Waits until history has taken what was appended.
  void settle() const {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!history->is_idle() && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(history->is_idle());
  }

  Points points(std::string_view labels = kTemperature) const {
    const Series all = read_history(history->queryable());
    const auto at = all.find(std::string(labels));
    return at == all.end() ? Points{} : at->second;
  }

  StateFolder folder;
  Ticks ticks;
  std::unique_ptr<Head> head;
  std::unique_ptr<History> history;

 private:
  // The queue of a test that ticks as fast as it can would overflow.
  void settle_every_few() const {
    if (appended_ % 64 == 0) settle();
  }

  History::Options options_;
  std::optional<StateLock> lock_;
  size_t appended_ = 0;
};

}  // namespace gpusight::store
