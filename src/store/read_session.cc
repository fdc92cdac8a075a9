#include "store/read_session.h"

#include <utility>

namespace gpusight::store {
namespace {

// More queries at once open connections of their own and close them again.
constexpr size_t kMaxIdle = 2;

}  // namespace

Result<std::unique_ptr<ReadSession>> ReadSession::open(const std::string& path) {
  auto db = TRY(open_to_read(path));
  std::unique_ptr<ReadSession> session(new ReadSession(std::move(db)));
  session->chunks_.emplace(TRY(ChunkLoader::create(*session->db_)));
  return session;
}

Status ReadSession::begin() {
  transaction_.emplace(TRY(Transaction::begin(*db_, Transaction::Kind::kRead)));
  // The first read is what fixes the view.
  committed_until_ms_ = TRY(db_->number("SELECT value FROM state WHERE name='committed_until_ms'"));
  return {};
}

void ReadSession::end() {
  chunks_->close();
  transaction_.reset();
}

ReadPool::Lease::~Lease() {
  if (session_ == nullptr) return;
  session_->end();
  pool_->give_back(std::move(session_), generation_);
}

Result<ReadPool::Lease> ReadPool::take() {
  std::unique_ptr<ReadSession> session;
  uint64_t generation = 0;
  {
    MutexLock lock(mutex_);
    generation = generation_;
    if (!idle_.empty()) {
      session = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (session == nullptr) session = TRY(ReadSession::open(path_));
  TRY(session->begin());
  return Lease(shared_from_this(), std::move(session), generation);
}

void ReadPool::forget_file() {
  std::vector<std::unique_ptr<ReadSession>> closing;
  MutexLock lock(mutex_);
  ++generation_;
  closing.swap(idle_);
}

void ReadPool::give_back(std::unique_ptr<ReadSession> session, uint64_t generation) {
  MutexLock lock(mutex_);
  if (generation == generation_ && idle_.size() < kMaxIdle) idle_.push_back(std::move(session));
}

}  // namespace gpusight::store
