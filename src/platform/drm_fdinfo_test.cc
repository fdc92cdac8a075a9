#include "platform/drm_fdinfo.h"

#include <gtest/gtest.h>

namespace gpusight::platform {
namespace {

TEST(DrmFdinfo, ReadsNanosecondsAndCapacities) {
  const auto client = parse_drm_fdinfo(
      "pos:\t0\nflags:\t0100002\ndrm-driver:\ti915\ndrm-pdev:\t0000:00:02.0\ndrm-client-id:\t7\n"
      "drm-engine-render:\t9288864723 ns\ndrm-engine-video:\t5 "
      "ns\ndrm-engine-capacity-video:\t2\n");
  ASSERT_TRUE(client.ok());
  EXPECT_EQ(client->driver, "i915");
  EXPECT_EQ(client->address, "0000:00:02.0");
  EXPECT_EQ(client->id, 7u);
  ASSERT_EQ(client->engines.size(), 2u) << "a capacity is no engine";
  EXPECT_EQ(client->engine("render")->busy_ns, 9288864723u);
  EXPECT_EQ(client->engine("render")->capacity, 1u);
  EXPECT_EQ(client->engine("video")->capacity, 2u);
}

// FAULT-028
TEST(DrmFdinfo, ReadsCyclesOfAllKinds) {
  const auto client = parse_drm_fdinfo(
      "drm-driver:\txe\ndrm-cycles-rcs:\t28257900\ndrm-total-cycles-rcs:\t7655183225\n"
      "drm-engine-capacity-ccs:\t4\ndrm-engine-fragment:\t12 ns\ndrm-cycles-fragment:\t34\n"
      "drm-maxfreq-fragment:\t799999987 Hz\ndrm-maxfreq-gpu:\t800 MHz\n");
  ASSERT_TRUE(client.ok());
  EXPECT_EQ(client->engine("rcs")->cycles, 28257900u);
  EXPECT_EQ(client->engine("rcs")->total_cycles, 7655183225u);
  EXPECT_EQ(client->engine("ccs")->capacity, 4u);
  EXPECT_EQ(client->engine("fragment")->busy_ns, 12u);
  EXPECT_EQ(client->engine("fragment")->max_hertz, 799999987u);
  EXPECT_EQ(client->engine("gpu")->max_hertz, 800000000u);
  EXPECT_TRUE(client->regions.empty()) << "total cycles are no memory";
  EXPECT_EQ(client->id, std::nullopt);
}

TEST(DrmFdinfo, MemoryHasAnyUnitAndOlderNames) {
  const auto client = parse_drm_fdinfo(
      "drm-driver:\tamdgpu\ndrm-memory-vram:\t100 KiB\ndrm-resident-vram:\t90 KiB\n"
      "drm-shared-vram:\t16 MiB\ndrm-total-gtt:\t4096\ndrm-memory-gtt:\t1 GiB\n"
      "drm-memory-cpu:\t7 parsecs\ndrm-resident-:\t1\n");
  ASSERT_TRUE(client.ok());
  EXPECT_EQ(client->region("vram")->resident, 90u * 1024) << "the newer name wins";
  EXPECT_EQ(client->region("vram")->shared, 16u << 20);
  EXPECT_EQ(client->region("gtt")->total, 4096u);
  EXPECT_EQ(client->region("gtt")->resident, 1u << 30);
  EXPECT_EQ(client->region("cpu"), nullptr);
}

// FAULT-046
TEST(DrmFdinfo, HostileTextIsReadOrPassedOver) {
  EXPECT_FALSE(parse_drm_fdinfo("").ok());
  EXPECT_FALSE(parse_drm_fdinfo("pos:\t0\nflags:\t02\n").ok()) << "of some other file";
  EXPECT_FALSE(parse_drm_fdinfo("drm-client-id: 7\n").ok());
  const auto client = parse_drm_fdinfo(
      "drm-driver: \x1b[2Jx\ndrm-client-id: -1\ndrm-client-id: 8\ndrm-client-id: 8\n"
      "drm-engine-gfx: 99999999999999999999 ns\ndrm-engine-: 5 ns\ndrm-engine-gfx\n"
      "drm-engine-capacity-gfx: 0\ndrm-resident-vram: 99999999999999999 GiB\n");
  ASSERT_TRUE(client.ok());
  EXPECT_EQ(client->driver.find('\x1b'), std::string::npos);
  EXPECT_EQ(client->id, 8u);
  EXPECT_EQ(client->engine("gfx")->busy_ns, std::nullopt);
  EXPECT_EQ(client->engine("gfx")->capacity, 1u);
  EXPECT_EQ(client->region("vram"), nullptr);
  std::string many = "drm-driver: x\n";
  for (int i = 0; i < 1000; ++i) {
    many +=
        "drm-engine-e" + std::to_string(i) + ": 1 ns\ndrm-total-r" + std::to_string(i) + ": 1\n";
  }
  EXPECT_EQ(parse_drm_fdinfo(many)->engines.size(), kMostDrmEngines);
  EXPECT_EQ(parse_drm_fdinfo(many)->regions.size(), kMostDrmRegions);
}

}  // namespace
}  // namespace gpusight::platform
