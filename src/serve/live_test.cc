#include "serve/live.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "serve/test_gunzip.h"
#include "serve/test_machine.h"

namespace gpusight::serve {
namespace {

using nlohmann::json;

const model::Caller kAnonymous{};
const model::Caller kAdmin{.identity = model::LocalUser{0}, .role = model::Role::kAdmin};

class LiveStreamTest : public testing::Test {
 protected:
  void publish(Machine machine) {
    machine.sequence = ++sequence_;
    const auto snapshot = snapshot_of(machine);
    head_.append(*snapshot);
    hub_.publish(snapshot);
    stream_.on_snapshot();
  }
  json read(LiveStream::Client& client) {
    const auto message = stream_.next(client);
    if (!message) return nullptr;
    const std::string text = message->head + *message->rest;
    return json::parse(message->is_binary ? gunzip(text) : text);
  }

  uint64_t sequence_ = 0;
  int wakes_ = 0;
  FakeClock clock_;
  sample::SnapshotHub hub_;
  store::Head head_;
  store::EventLog events_;
  LiveStream stream_{{.hub = &hub_,
                      .head = &head_,
                      .events = &events_,
                      .clock = &clock_,
                      .version = "0.1.0",
                      .limits = {.messages = 4}}};
};

TEST_F(LiveStreamTest, BeginsWithASnapshotAndTheRecordedMinutes) {
  publish({.power = 100});
  publish({.power = 200});
  const auto client = stream_.join(kAnonymous, [] {});
  const json first = read(*client);
  EXPECT_EQ(first["type"], "snapshot");
  EXPECT_EQ(first["n"], 0);
  EXPECT_EQ(first["snapshot"]["sequence"], 2);
  bool found = false;
  for (const json& group : first["head"]["groups"]) {
    for (const json& series : group["series"]) {
      if (group["subject"] != "GPU-0" || series["metric"] != "gpu_power_watts") continue;
      EXPECT_EQ(series["values"], (json{100, 200}));
      EXPECT_EQ(group["times_ms"], (json{1767225601000, 1767225602000}));
      found = true;
    }
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(read(*client), nullptr);
}

TEST_F(LiveStreamTest, WaitsForTheFirstSnapshot) {
  const auto client = stream_.join(kAnonymous, [this] { ++wakes_; });
  EXPECT_EQ(read(*client), nullptr);
  publish({});
  EXPECT_GT(wakes_, 0);
  EXPECT_EQ(read(*client)["type"], "snapshot");
  EXPECT_EQ(read(*client), nullptr);
}

TEST_F(LiveStreamTest, GoesOnWithNumberedDeltas) {
  publish({.power = 100});
  const auto client = stream_.join(kAnonymous, [] {});
  read(*client);
  publish({.power = 150});
  publish({.power = 160});
  const json delta = read(*client);
  EXPECT_EQ(delta["type"], "delta");
  EXPECT_EQ(delta["n"], 1);
  EXPECT_EQ(delta["devices"]["GPU-0"]["metrics"]["gpu_power_watts"], 150);
  EXPECT_EQ(read(*client)["n"], 2);
}

TEST_F(LiveStreamTest, TellsEveryClientWhatItMaySee) {
  publish({});
  const auto stranger = stream_.join(kAnonymous, [] {});
  const auto admin = stream_.join(kAdmin, [] {});
  EXPECT_EQ(read(*stranger)["n"], 0);
  EXPECT_EQ(read(*admin)["n"], 0);
  publish({.processes = {process_of(1000, "train-secret")}});
  EXPECT_EQ(read(*stranger).dump().find("train-secret"), std::string::npos);
  EXPECT_NE(read(*admin).dump().find("train-secret"), std::string::npos);
}

TEST_F(LiveStreamTest, BeginsAnewWhenTheDevicesChange) {
  publish({});
  const auto client = stream_.join(kAnonymous, [] {});
  read(*client);
  publish({});
  publish({.gpus = 2});
  const json message = read(*client);
  EXPECT_EQ(message["type"], "snapshot");
  EXPECT_EQ(message["n"], 1);
  EXPECT_EQ(message["snapshot"]["devices"].size(), 2u);
  publish({.power = 7, .gpus = 2});
  EXPECT_EQ(read(*client)["n"], 2);
}

TEST_F(LiveStreamTest, ASlowClientBeginsAnewAndIsGivenUpAtTheThirdTime) {
  publish({});
  const auto slow = stream_.join(kAnonymous, [] {});
  const auto quick = stream_.join(kAnonymous, [] {});
  read(*quick);
  for (int round = 1; round <= 3; ++round) {
    EXPECT_FALSE(slow->given_up());
    EXPECT_EQ(read(*slow)["type"], "snapshot");
    for (int i = 0; i < 5; ++i) {
      publish({.power = static_cast<double>(100 * round + i)});
      EXPECT_EQ(read(*quick)["type"], "delta");
    }
  }
  EXPECT_TRUE(slow->given_up());
  EXPECT_FALSE(quick->given_up());
  EXPECT_EQ(stream_.clearings(), 3u);
  EXPECT_EQ(stream_.given_up(), 1u);
}

TEST_F(LiveStreamTest, TellsEventsThatHappenWhileItIsOpen) {
  publish({});
  events_.append({.kind = catalog::EventKind::kDeviceLost, .uuid = "GPU-0"});
  const auto client = stream_.join(kAnonymous, [] {});
  read(*client);
  events_.append({.kind = catalog::EventKind::kDeviceBack, .uuid = "GPU-0"});
  events_.append({.kind = catalog::EventKind::kProcessStart, .fields = {{"uid", "1000"}}});
  stream_.on_events();
  const json message = read(*client);
  EXPECT_EQ(message["type"], "event");
  EXPECT_EQ(message["n"], 1);
  EXPECT_EQ(message["event"]["kind"], "device_back");
  EXPECT_EQ(read(*client), nullptr);  // other people's processes are not told
}

TEST_F(LiveStreamTest, ForgetsClientsThatLeft) {
  publish({});
  const auto client = stream_.join(kAnonymous, [this] { ++wakes_; });
  stream_.leave(client);
  wakes_ = 0;
  publish({});
  EXPECT_EQ(wakes_, 0);
  EXPECT_EQ(stream_.client_count(), 0u);
}

}  // namespace
}  // namespace gpusight::serve
