// A machine, a daemon and a terminal for tests of commands.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "model/snapshot_json.h"

namespace gpusight::cli::test {

// Answers what it is told to, by socket; a socket it does not know has nobody behind it.
class FakeDaemon final : public platform::HttpClient {
 public:
  using Answer = std::function<Result<platform::HttpResponse>(const platform::HttpRequest&)>;
  std::map<std::string, Answer> sockets;
  mutable std::vector<std::string> asked;
  mutable std::vector<std::string> posted;  // targets

  void serve(const std::string& socket, model::Snapshot snapshot) {
    sockets[socket] = [snapshot = std::move(snapshot)](
                          const platform::HttpRequest& request) -> Result<platform::HttpResponse> {
      if (request.target == "/healthz") return platform::HttpResponse{.status = 200, .body = "ok"};
      EXPECT_EQ(request.target, "/api/gpusight/v1/snapshot");
      const model::Caller admin{.identity = model::LocalUser{0}, .role = model::Role::kAdmin};
      return platform::HttpResponse{.status = 200,
                                    .content_type = "application/json",
                                    .body = model::snapshot_json(snapshot, admin, "1.2.3")};
    };
  }

  Result<platform::HttpResponse> ask(const platform::HttpRequest& request) const override {
    if (request.method == platform::HttpMethod::kPost) posted.push_back(request.target);
    asked.push_back(request.endpoint.unix_socket);
    const auto at = sockets.find(request.endpoint.unix_socket);
    if (at != sockets.end()) return at->second(request);
    return Status(Code::kNotFound, "connect: No such file or directory");
  }
};

// Runs whole command lines and keeps what they wrote.
class CommandTest : public testing::Test {
 protected:
  CommandTest() {
    machine_.paths = {
        .socket = "/run/user/1000/gpusight/gpusight.sock",
        .daemon_sockets = {"/run/user/1000/gpusight/gpusight.sock", "/run/gpusight/gpusight.sock"},
        .state_dir = "/nonexistent/state",
        .config_files = {"/nonexistent/gpusight.toml"}};
    machine_.uid = 1000;
    machine_.version = "1.2.3";
    machine_.executable = "/nonexistent/bin/gpusight";
    machine_.environment = {{"TZ", "UTC"}};
    ::setenv("TZ", "UTC", 1);
    io_.out = [this](std::string_view text) {
      out_ += text;
      return ++writes_ < most_writes_ ? 0 : write_error_;
    };
    io_.err = [this](std::string_view text) { err_ += text; };
    io_.sleep = [this](Duration time) {
      slept_.push_back(time);
      return static_cast<int>(slept_.size()) < most_sleeps_;
    };
  }

  int run(std::vector<std::string> words) {
    out_.clear();
    err_.clear();
    io_.failure = 0;
    const config::LoadInput input = load_input(machine_, std::move(words));
    const Result<config::Config> config = config::Config::load(input);
    if (!config.ok()) return report_load_error(input, config.status(), io_);
    return cli::run(*config, machine_, hooks_, daemon_, io_);
  }

  Machine machine_;
  Hooks hooks_;
  FakeDaemon daemon_;
  Io io_;
  std::string out_;
  std::string err_;
  std::vector<Duration> slept_;
  int most_sleeps_ = 1;
  int writes_ = 0;
  int most_writes_ = 1'000'000;
  int write_error_ = EPIPE;  // what the last of them fails with
};

}  // namespace gpusight::cli::test
