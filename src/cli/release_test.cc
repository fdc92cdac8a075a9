#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/test_machine.h"
#include "cli/test_snapshots.h"

namespace gpusight::cli {
namespace {

using testing::HasSubstr;

constexpr const char* kSocket = "/run/user/1000/gpusight/gpusight.sock";

class ReleaseCommand : public test::CommandTest {
 protected:
  // A daemon that lets go of its devices once it was looked at so often.
  void serve(int looks, int status = 200) {
    daemon_.sockets[kSocket] =
        [this, looks,
         status](const platform::HttpRequest& request) -> Result<platform::HttpResponse> {
      if (request.target.starts_with("/api/gpusight/v1/release?")) {
        is_release_ = request.target != "/api/gpusight/v1/release?for=0";
        return platform::HttpResponse{.status = status, .body = "{\"until\":1}"};
      }
      const bool is_settled = looked_++ >= looks;
      const model::Caller admin{.identity = model::LocalUser{0}, .role = model::Role::kAdmin};
      return platform::HttpResponse{
          .status = 200, .body = model::snapshot_json(machine(is_settled), admin, "1.2.3")};
    };
  }
  model::Snapshot machine(bool is_settled) const {
    model::Snapshot snapshot;
    const bool is_released = is_settled == is_release_;
    snapshot.sources = {
        {.name = "nvml",
         .phase = is_released ? model::SourcePhase::kReleased : model::SourcePhase::kStuck,
         .message =
             is_released ? catalog::MessageId::kSourceReleased : catalog::MessageId::kSourceStuck,
         .arguments = {"7"}}};
    snapshot.self.push_back({catalog::MetricId::kSelfReleased, "nvml",
                             model::Value::fresh(is_released ? 1 : 0, {}, {}, 0)});
    auto device = std::make_shared<model::Device>();
    device->uuid = "GPU-0";
    snapshot.devices.push_back(
        {.device = device,
         .state = is_released ? model::DeviceState::kReleased : model::DeviceState::kActive});
    return snapshot;
  }

  bool is_release_ = true;
  int looked_ = 0;
};

// FAULT-101
TEST_F(ReleaseCommand, ReturnsWhenTheDevicesAreLetGoOf) {
  serve(3);
  most_sleeps_ = 1000;
  EXPECT_EQ(run({"release", "--for", "90s"}), kExitOk);
  EXPECT_EQ(daemon_.posted, std::vector<std::string>{"/api/gpusight/v1/release?for=90"});
  EXPECT_THAT(out_, HasSubstr("every GPU is let go of until "));
  EXPECT_EQ(looked_, 4);
  EXPECT_EQ(run({"release", "--end", "--lang", "zh"}), kExitOk);
  EXPECT_EQ(daemon_.posted.back(), "/api/gpusight/v1/release?for=0");
  EXPECT_EQ(out_, "GPU 已恢复读取\n");
}

// FAULT-101
TEST_F(ReleaseCommand, DevicesThatAreStillHeldAreAFailureThatSaysWhy) {
  serve(1 << 30);
  most_sleeps_ = 1 << 30;
  EXPECT_EQ(run({"release"}), kExitEnvironment);
  EXPECT_EQ(daemon_.posted, std::vector<std::string>{"/api/gpusight/v1/release?for=600"});
  EXPECT_THAT(err_, HasSubstr("still held: the driver has not answered for 7 s"));
  EXPECT_EQ(out_, "");
  EXPECT_LT(looked_, 200);
}

TEST_F(ReleaseCommand, RefusalsAreTold) {
  serve(0, 403);
  EXPECT_EQ(run({"release"}), kExitEnvironment);
  EXPECT_THAT(err_, HasSubstr("only root and the daemon's own user"));
  serve(0, 500);
  EXPECT_EQ(run({"release"}), kExitEnvironment);
  EXPECT_THAT(err_, HasSubstr("500"));
  daemon_.sockets.clear();
  EXPECT_EQ(run({"release"}), kExitEnvironment);
  EXPECT_THAT(err_, HasSubstr("no daemon answers at /run/user/1000/gpusight/gpusight.sock, /run/"));
  for (const char* wrong : {"18:00", "never"}) {
    EXPECT_EQ(run({"release", "--end", wrong}), kExitUsage);
  }
  EXPECT_EQ(run({"release", "--end", "--for", "5m"}), kExitUsage);
  EXPECT_EQ(run({"release", "--for", "2d"}), kExitUsage);
}

}  // namespace
}  // namespace gpusight::cli
