// Bytes through network interfaces, from /proc/net/dev.
//
// All but the loopback and veth, the host's ends of containers' links: they come and go with every
// container, and what leaves the machine passes a real interface as well. Bonds and bridges stand
// beside the interfaces they are made of, as the kernel counts them. At most kMostInterfaces, the
// first of the file: the kernel lists them in the order they appeared, hardware before what is
// built on it. What is left out is said in the log, once.
#pragma once

#include <string>

#include "collect/host/kernel_file.h"
#include "collect/source.h"

namespace gpusight::collect::host {

class NetworkReader {
 public:
  static constexpr size_t kMostInterfaces = 64;

  NetworkReader(const platform::RootFs& root, log::FaultLog& faults)
      : faults_(faults), file_(root, "/proc/net/dev", faults) {}

  void poll(Report& report);

 private:
  log::FaultLog& faults_;
  KernelFile file_;
  std::string scratch_;
};

}  // namespace gpusight::collect::host
