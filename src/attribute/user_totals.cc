#include "attribute/user_totals.h"

#include <algorithm>
#include <map>
#include <utility>

namespace gpusight::attribute {
namespace {

using model::Value;
using Kind = UserTotal::Kind;

struct Group {
  UserTotal total;
  std::vector<std::pair<int64_t, uint64_t>> identities;  // (pid, start) of each row
};

Value sum(const Value& a, const Value& b) {
  if (a.is_absent()) return b.is_absent() ? a : b;
  if (b.is_absent()) return a;
  const Value added = Value::fresh(*a.number() + *b.number(), std::min(a.read_at(), b.read_at()),
                                   std::max(a.window(), b.window()), a.source());
  if (!a.is_fresh()) return added.stale(a.reason());
  if (!b.is_fresh()) return added.stale(b.reason());
  return added;
}

void add_row(Group& group, const model::Process& process) {
  UserTotal& total = group.total;
  const bool first = group.identities.empty();
  total.memory_bytes = first ? process.memory_bytes : sum(total.memory_bytes, process.memory_bytes);
  if (process.memory_bytes.is_absent()) ++total.rows_without_memory;
  if (total.user.empty() && total.kind == Kind::kUser) total.user = process.owner.user;
  group.identities.emplace_back(process.pid, process.start_ticks);
}

UserTotal finish(Group&& group) {
  std::ranges::sort(group.identities);
  const auto end = std::unique(group.identities.begin(), group.identities.end());
  group.total.processes = static_cast<uint32_t>(end - group.identities.begin());
  return std::move(group.total);
}

bool comes_before(const UserTotal& a, const UserTotal& b) {
  const auto x = a.memory_bytes.number();
  const auto y = b.memory_bytes.number();
  if (x != y) return x > y;  // nothing is less than any number
  return a.uid < b.uid;
}

// The users past the bound, as one. A process has one user, so that no process counts twice.
void fold(std::vector<UserTotal>& users, size_t max_users) {
  if (users.size() <= max_users) return;
  UserTotal others{.kind = Kind::kOthers, .memory_bytes = users[max_users].memory_bytes};
  for (size_t i = max_users; i < users.size(); ++i) {
    if (i > max_users) others.memory_bytes = sum(others.memory_bytes, users[i].memory_bytes);
    others.processes += users[i].processes;
    others.rows_without_memory += users[i].rows_without_memory;
  }
  users.resize(max_users);
  users.push_back(std::move(others));
}

}  // namespace

std::vector<UserTotal> totals_by_user(std::span<const model::Process> processes, size_t max_users) {
  std::map<std::optional<uint32_t>, Group> groups;
  for (const model::Process& process : processes) {
    Group& group = groups[process.owner.uid];
    group.total.uid = process.owner.uid;
    group.total.kind = process.owner.uid ? Kind::kUser : Kind::kUnknown;
    add_row(group, process);
  }
  std::optional<UserTotal> unknown;
  std::vector<UserTotal> totals;
  for (auto& [uid, group] : groups) {
    if (uid) {
      totals.push_back(finish(std::move(group)));
    } else {
      unknown = finish(std::move(group));
    }
  }
  std::ranges::sort(totals, comes_before);
  fold(totals, max_users);
  if (unknown) totals.push_back(std::move(*unknown));
  return totals;
}

}  // namespace gpusight::attribute
