#include "store/recorder.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

#include "store/compaction.h"
#include "store/event_table.h"
#include "store/schema.h"

namespace gpusight::store {
namespace {

using std::chrono::seconds;

constexpr Duration kFirstRetry = seconds(5);
constexpr Duration kLastRetry = seconds(60);
constexpr Duration kTidyEvery = seconds(30);
// What is kept in memory while it cannot be written.
constexpr size_t kMaxTicks = 600;
constexpr size_t kMaxEvents = 10000;
constexpr std::string_view kFaultKey = "history";
constexpr std::string_view kClockKey = "the clock of history";
constexpr std::string_view kUpkeepKey = "upkeep of history";

struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
};
std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return std::nullopt;
  return FileIdentity{.device = file.st_dev, .inode = file.st_ino};
}

}  // namespace

Recorder::Recorder(Options options) : options_(std::move(options)), buffer_(options_.max_series) {}

void Recorder::open() {
  if (const Status opened = try_open(); !opened.ok()) fail(opened);
}

// A damaged file is set aside and a new one begun, in one go.
Status Recorder::try_open() {
  Status opened = open_session();
  if (opened.code() != Code::kCorrupt) return opened;
  set_aside(opened);
  return open_session();
}

Status Recorder::open_session() {
  session_.reset();
  auto session = std::make_unique<Session>();
  session->db = TRY(open_to_write(options_.path));
  session->directory.emplace(TRY(SeriesDirectory::load(*session->db)));
  session->loader.emplace(TRY(ChunkLoader::create(*session->db)));
  const auto identity = identity_of(options_.path);
  if (!identity) return {Code::kNotFound, options_.path + " is gone"};
  session->device = identity->device;
  session->inode = identity->inode;
  committed_until_ms_ =
      TRY(session->db->number("SELECT value FROM state WHERE name='committed_until_ms'"));
  last_event_id_ = std::max(last_event_id_, TRY(store::last_event_id(*session->db)));
  session_ = std::move(session);
  return {};
}

void Recorder::set_aside(const Status& why) {
  log::error("history: {}; it is kept as {}.damaged and a new one begun", why.message(),
             options_.path);
  session_.reset();
  committed_until_ms_.reset();
  for (const char* suffix : {"", "-wal"}) {
    // The -wal belongs to its database by name.
    const std::string from = options_.path + suffix;
    const std::string to = options_.path + ".damaged" + suffix;
    std::remove(to.c_str());
    std::rename(from.c_str(), to.c_str());
  }
  std::remove((options_.path + "-shm").c_str());
  if (options_.readers != nullptr) options_.readers->forget_file();
}

// The connection stays: readers need what it keeps beside the file, and a disk that is full may
// have no room to make it anew.
void Recorder::fail(const Status& why) {
  if (session_ != nullptr) session_->was_rolled_back = true;
  disk_ = {why.code(), "not recording: " + why.message()};
  given_up_ = why.code() == Code::kUnsupported;
  retry_after_ = std::clamp<Duration>(retry_after_ * 2, kFirstRetry, kLastRetry);
  retry_at_ = now_ + retry_after_;
  faults_.report(kFaultKey, disk_.message());
}

void Recorder::well_again() {
  disk_ = {};
  retry_after_ = {};
  faults_.clear(kFaultKey);
}

bool Recorder::ensure_open() {
  if (session_ != nullptr && !is_file_ours()) {
    log::warning("history: {} was removed or replaced; a new one is begun", options_.path);
    session_.reset();
    if (options_.readers != nullptr) options_.readers->forget_file();
    retry_at_ = now_;
  }
  if (session_ != nullptr && !session_->was_rolled_back) return true;
  if (given_up_ || now_ < retry_at_) return false;
  if (session_ == nullptr) {
    open();
  } else if (const Status reloaded = reload_directory(); !reloaded.ok()) {
    fail(reloaded);
  }
  return session_ != nullptr && !session_->was_rolled_back;
}

Status Recorder::reload_directory() {
  session_->directory.emplace(TRY(SeriesDirectory::load(*session_->db)));
  session_->was_rolled_back = false;
  return {};
}

bool Recorder::is_file_ours() const {
  const auto identity = identity_of(options_.path);
  return identity && identity->device == session_->device && identity->inode == session_->inode;
}

void Recorder::take(const model::Snapshot& snapshot) {
  now_ = snapshot.mono;
  if (given_up_) return;
  const int64_t wall_ms = unix_milliseconds(snapshot.wall);
  const std::optional<int64_t> newest_ms =
      buffer_.empty() ? committed_until_ms_ : std::optional(buffer_.last_ms());
  believed_ = clock_.look(wall_ms, snapshot.mono, newest_ms);
  if (!believed_.ok()) {
    // What was taken before is as good as ever.
    if (!buffer_.empty()) commit();
    believed_ = {believed_.code(), "not recording: " + believed_.message()};
    faults_.report(kClockKey, believed_.message());
    return;
  }
  faults_.clear(kClockKey);
  if (buffer_.empty() && committed_at_ == MonoTime{}) committed_at_ = snapshot.mono;
  buffer_.append(snapshot, committed_until_ms_.value_or(std::numeric_limits<int64_t>::min()));
  if (is_commit_due(snapshot.interval)) commit();
  if (buffer_.rows() > kMaxTicks) buffer_.give_up();
}

void Recorder::take(model::Event event) {
  if (events_.size() >= kMaxEvents || given_up_) {
    ++dropped_events_;
    return;
  }
  events_.push_back(std::move(event));
}

// A tick that would come after the interval is over is not waited for. A clock set back is written
// at once, lest readers see what it overrules.
bool Recorder::is_commit_due(Duration interval) const {
  if (buffer_.cut_from() != RowBuffer::kNothingToCut) return true;
  return now_ + interval > committed_at_ + options_.commit_interval;
}

void Recorder::commit() {
  if (buffer_.empty() && events_.empty()) return;
  if (!ensure_open()) return;
  Status written = write(*session_);
  if (written.code() == Code::kCorrupt) {
    set_aside(written);
    const Status opened = open_session();
    written = opened.ok() ? write(*session_) : opened;
  }
  if (!written.ok()) return fail(written);
  well_again();
  committed_at_ = now_;
  if (!buffer_.empty()) committed_until_ms_ = buffer_.last_ms();
  if (!events_.empty()) last_event_id_ = std::max(last_event_id_, events_.back().id);
  buffer_.clear();
  events_.clear();
}

Status Recorder::write(Session& session) {
  Transaction transaction = TRY(Transaction::begin(*session.db, Transaction::Kind::kWrite));
  if (buffer_.cut_from() != RowBuffer::kNothingToCut) {
    TRY(cut_chunks(*session.db, *session.loader, encoder_, buffer_.cut_from()));
  }
  for (const auto& [key, group] : buffer_.groups()) TRY(write_group(session, key, group));
  TRY(insert_events(*session.db, events_));
  if (!buffer_.empty()) {
    TRY(TRY(session.db->prepare(
                "INSERT OR REPLACE INTO state(name, value) VALUES('committed_until_ms', ?1)"))
            .bind(1, buffer_.last_ms())
            .run());
  }
  return transaction.commit();
}

Status Recorder::write_group(Session& session, const GroupKey& key, const RowGroup& group) {
  const std::span<const int64_t> times_ms = group.times_ms();
  if (times_ms.empty()) return {};
  const int64_t group_id = TRY(session.directory->group(key));
  std::vector<ColumnToPack> columns;
  for (const RowGroup::Series& series : group.series()) {
    const uint32_t id =
        TRY(session.directory->series(group_id, catalog::metric(series.metric), series.label));
    columns.push_back({.id = id, .column = &series.column});
  }
  std::ranges::sort(columns, {}, &ColumnToPack::id);
  return write_rows(session, group_id, times_ms, columns);
}

// No chunk reaches over the border of a window, so that windows are merged whole.
Status Recorder::write_rows(Session& session, int64_t group, std::span<const int64_t> times_ms,
                            std::span<const ColumnToPack> columns) {
  for (size_t first = 0; first < times_ms.size();) {
    const int64_t border_ms = window_end(times_ms[first], kSmallestWindowMs);
    const auto end = static_cast<size_t>(
        std::ranges::upper_bound(times_ms.subspan(first), border_ms) - times_ms.begin());
    std::vector<ChunkColumn> cut(columns.size());
    std::vector<ColumnToPack> to_pack;
    for (size_t i = 0; i < columns.size(); ++i) {
      const auto from = static_cast<ptrdiff_t>(first);
      const auto to = static_cast<ptrdiff_t>(end);
      const ChunkColumn& column = *columns[i].column;
      cut[i].numbers.assign(column.numbers.begin() + from, column.numbers.begin() + to);
      cut[i].states.assign(column.states.begin() + from, column.states.begin() + to);
      to_pack.push_back({.id = columns[i].id, .column = &cut[i]});
    }
    const auto rows = times_ms.subspan(first, end - first);
    encoder_.pack(rows, to_pack, packed_);
    write_chunk(packed_, bytes_);
    TRY(insert_chunk(*session.db,
                     {.group = group,
                      .tier = Tier::kRaw,
                      .level = 0,
                      .first_ms = rows.front(),
                      .last_ms = rows.back()},
                     bytes_));
    first = end;
  }
  return {};
}

bool Recorder::tidy() {
  if (session_ == nullptr || !committed_until_ms_ || now_ < tidied_at_) return false;
  const Compactor compactor{.db = *session_->db, .loader = *session_->loader, .encoder = encoder_};
  Result<bool> did = merge_step(compactor, *committed_until_ms_);
  if (did.ok() && !*did) did = roll_step(compactor, *committed_until_ms_);
  if (did.ok() && !*did) {
    const bool told = clock_.is_settled();
    did =
        trim_history(*session_->db, options_.retention, told ? committed_until_ms_ : std::nullopt);
  }
  if (!did.ok()) {
    // Commits may well go on: what is not tidied up costs room only.
    if (did.status().code() == Code::kCorrupt) set_aside(did.status());
    faults_.report(kUpkeepKey, did.status().message());
    tidied_at_ = now_ + kLastRetry;
    return false;
  }
  faults_.clear(kUpkeepKey);
  if (!*did) tidied_at_ = now_ + kTidyEvery;
  return *did;
}

void Recorder::commit_all() {
  retry_at_ = now_;  // a last try
  commit();
}

}  // namespace gpusight::store
