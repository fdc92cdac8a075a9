#include "platform/paths.h"

#include <gtest/gtest.h>

namespace gpusight::platform {
namespace {

using Strings = std::vector<std::string>;

TEST(Paths, RootHasTheMachinesFolders) {
  const Paths paths = default_paths({{"HOME", "/root"}, {"XDG_RUNTIME_DIR", "/run/user/0"}}, 0);
  EXPECT_EQ(paths.socket, "/run/gpusight/gpusight.sock");
  EXPECT_EQ(paths.daemon_sockets, Strings{"/run/gpusight/gpusight.sock"});
  EXPECT_EQ(paths.state_dir, "/var/lib/gpusight");
  EXPECT_EQ(paths.config_files, Strings{"/etc/gpusight/gpusight.toml"});
}

TEST(Paths, AUserHasTheXdgFoldersAndAsksTheMachinesDaemonToo) {
  const Paths paths = default_paths({{"HOME", "/home/alice/"},
                                     {"XDG_RUNTIME_DIR", "/run/user/1000"},
                                     {"XDG_CONFIG_HOME", "relative/is/ignored"}},
                                    1000);
  EXPECT_EQ(paths.socket, "/run/user/1000/gpusight/gpusight.sock");
  EXPECT_EQ(paths.daemon_sockets,
            (Strings{"/run/user/1000/gpusight/gpusight.sock", "/run/gpusight/gpusight.sock"}));
  EXPECT_EQ(paths.state_dir, "/home/alice/.local/state/gpusight");
  EXPECT_EQ(paths.config_files,
            (Strings{"/home/alice/.config/gpusight/gpusight.toml", "/etc/gpusight/gpusight.toml"}));
}

TEST(Paths, AServiceUserHasWhatSystemdGives) {
  const Paths paths = default_paths({{"HOME", "/nonexistent"},
                                     {"RUNTIME_DIRECTORY", "/run/gpusight"},
                                     {"STATE_DIRECTORY", "/var/lib/gpusight:/var/lib/other"},
                                     {"CONFIGURATION_DIRECTORY", "/etc/gpusight"}},
                                    998);
  EXPECT_EQ(paths.socket, "/run/gpusight/gpusight.sock");
  EXPECT_EQ(paths.state_dir, "/var/lib/gpusight");
  EXPECT_EQ(paths.config_files, Strings{"/etc/gpusight/gpusight.toml"});
}

TEST(Paths, WithoutAHomeThereIsNoStateAndNoSocketOfOnesOwn) {
  const Paths paths = default_paths({}, 1000);
  EXPECT_EQ(paths.socket, "");
  EXPECT_EQ(paths.daemon_sockets, Strings{"/run/gpusight/gpusight.sock"});
  EXPECT_EQ(paths.state_dir, "");
  EXPECT_EQ(paths.config_files, Strings{"/etc/gpusight/gpusight.toml"});
}

}  // namespace
}  // namespace gpusight::platform
