#include "serve/live.h"

#include <algorithm>
#include <array>

#include "model/snapshot_json.h"

namespace gpusight::serve {
namespace {

constexpr size_t kEventsAtOnce = 1000;

std::string rights_of(const model::Caller& caller) {
  if (caller.role == model::Role::kAdmin) return "admin";
  const auto* user = std::get_if<model::LocalUser>(&caller.identity);
  if (caller.role == model::Role::kView || user == nullptr) return "view";
  return "own " + std::to_string(user->uid);
}

void append_series(JsonWriter& w, const store::HeadGroup::Series& series, size_t count) {
  w.begin_object().key("metric").string(catalog::metric(series.metric).name);
  w.key("label").string(series.label).key("values").begin_array();
  for (size_t i = 0; i < count; ++i) w.number(series.values[i]);  // NaN becomes null
  w.end_array().end_object();
}

// The recorded minutes up to `until_ms`: what the head holds beyond it comes as deltas.
std::string head_json(const store::Head* head, int64_t until_ms) {
  std::string out;
  JsonWriter w(out);
  w.begin_object().key("groups").begin_array();
  const auto groups = head == nullptr ? std::vector<store::HeadGroup>() : head->groups();
  size_t values = 0;
  for (const store::HeadGroup& group : groups)
    values += group.times_ms.size() * group.series.size();
  out.reserve(values * 8 + 1024);
  for (const store::HeadGroup& group : groups) {
    const auto end = std::ranges::upper_bound(group.times_ms, until_ms);
    const auto count = static_cast<size_t>(end - group.times_ms.begin());
    w.begin_object().key("subject").string(group.subject).key("times_ms").begin_array();
    for (size_t i = 0; i < count; ++i) w.integer(group.times_ms[i]);
    w.end_array().key("series").begin_array();
    for (const auto& series : group.series) append_series(w, series, count);
    w.end_array().end_object();
  }
  w.end_array().end_object();
  return out;
}

}  // namespace

LiveStream::Client::Client(model::Caller caller, std::function<void()> wake,
                           const LiveLimits& limits)
    : caller_(std::move(caller)),
      rights_(rights_of(caller_)),
      wake_(std::move(wake)),
      queue_(limits) {}

std::shared_ptr<LiveStream::Client> LiveStream::join(model::Caller caller,
                                                     std::function<void()> wake) {
  if (clients_.empty()) {  // nobody listened until now: nothing was kept up to date
    on_snapshot();
    if (options_.events != nullptr) {
      const auto newest = options_.events->find({.limit = 1});
      if (!newest.empty()) last_event_ = newest.back().id;
    }
  }
  std::shared_ptr<Client> client(new Client(std::move(caller), std::move(wake), options_.limits));
  client->queue_.request_snapshot();
  clients_.insert(client);
  client_count_ = clients_.size();
  return client;
}

void LiveStream::leave(const std::shared_ptr<Client>& client) {
  clients_.erase(client);
  client_count_ = clients_.size();
  if (!clients_.empty()) return;
  snapshot_pieces_.clear();
  head_piece_.reset();
}

std::optional<LiveStream::Message> LiveStream::next(Client& client) {
  if (current_->sequence == 0) return std::nullopt;  // the first snapshot must say something
  auto item = client.queue_.pop();
  if (!item) return std::nullopt;
  if (item->kind == LiveQueue::Kind::kSnapshot) {
    return Message{.is_binary = true, .rest = snapshot_message(client)};
  }
  const bool is_delta = item->kind == LiveQueue::Kind::kDelta;
  return Message{.head = model::message_head(is_delta ? "delta" : "event", client.next_n_++),
                 .rest = std::move(item->tail)};
}

LiveStream::SharedText LiveStream::snapshot_message(Client& client) {
  const GzipPiece start = stored_piece(model::message_head("snapshot", client.next_n_++));
  const std::array<const GzipPiece*, 3> pieces = {&start, &snapshot_piece(client), &head_piece()};
  return std::make_shared<const std::string>(join_gzip(pieces));
}

const GzipPiece& LiveStream::snapshot_piece(const Client& client) {
  auto at = snapshot_pieces_.find(client.rights_);
  if (at == snapshot_pieces_.end()) {
    std::string text = "\"snapshot\":";
    text += model::snapshot_json(*current_, client.caller_, options_.version);
    text += ",\"head\":";
    at = snapshot_pieces_.emplace(client.rights_, compressed_piece(text)).first;
  }
  return at->second;
}

const GzipPiece& LiveStream::head_piece() {
  if (!head_piece_) {
    head_piece_ =
        compressed_piece(head_json(options_.head, unix_milliseconds(current_->wall)) + "}");
  }
  return *head_piece_;
}

void LiveStream::on_snapshot() {
  const model::SnapshotPtr previous = std::exchange(current_, options_.hub->latest());
  if (previous == current_) return;
  snapshot_pieces_.clear();
  head_piece_.reset();
  if (clients_.empty()) return;
  const bool goes_on = previous->sequence > 0 && model::delta_applies(*previous, *current_);
  const MonoTime now = options_.clock->mono();
  std::map<std::string, SharedText> tails;  // by rights
  for (const std::shared_ptr<Client>& client : clients_) {
    if (!goes_on) {
      client->queue_.request_snapshot();
      client->wake_();
      continue;
    }
    SharedText& tail = tails[client->rights_];
    if (tail == nullptr) {
      tail = std::make_shared<const std::string>(
          model::snapshot_delta_tail(*previous, *current_, client->caller_));
    }
    push(*client, {.kind = LiveQueue::Kind::kDelta, .tail = tail}, now);
  }
}

void LiveStream::on_events() {
  if (clients_.empty() || options_.events == nullptr) return;
  const MonoTime now = options_.clock->mono();
  for (const model::Event& event :
       options_.events->find({.after_id = last_event_, .limit = kEventsAtOnce})) {
    last_event_ = std::max(last_event_, event.id);
    std::map<std::string, SharedText> tails;  // by rights
    for (const std::shared_ptr<Client>& client : clients_) {
      if (!model::may_see(client->caller_, event)) continue;
      SharedText& tail = tails[client->rights_];
      if (tail == nullptr) {
        std::string text = "\"event\":";
        JsonWriter w(text);
        model::append_event_json(w, event, client->caller_);
        tail = std::make_shared<const std::string>(text + "}");
      }
      push(*client, {.kind = LiveQueue::Kind::kEvent, .tail = tail}, now);
    }
  }
}

void LiveStream::push(Client& client, LiveQueue::Item item, MonoTime now) {
  if (client.given_up()) return;
  const uint64_t before = client.queue_.clearings();
  client.queue_.push(std::move(item), now);
  clearings_ += client.queue_.clearings() - before;
  if (client.given_up()) ++given_up_;
  client.wake_();
}

}  // namespace gpusight::serve
