// How much of a GPU each process used since the last look: SM, memory, encoder and decoder time, as
// shares of the GPU's time. The driver keeps a ring of samples; it is asked for what is newer than
// the newest sample seen, so that each value speaks of the time since then and of no other.
//
// Belongs to one lane.
#pragma once

#include <map>
#include <vector>

#include "collect/nvml/conversation.h"
#include "collect/nvml/driver_clock.h"
#include "model/process.h"

namespace gpusight::collect::nvml {

class ProcessShareReader {
 public:
  ProcessShareReader(const Clock& clock, const DriverClock& driver)
      : clock_(clock), driver_(driver) {}

  // Sets the shares of these processes of the GPU that the conversation is about, or why there are
  // none. A process without a sample in a time of which others, or the driver, have told did
  // nothing in it; one of which only garbage was told is implausible.
  void read(Conversation& talk, std::vector<model::Process>& processes);

 private:
  struct Share {
    uint64_t count = 0;
    double sm = 0;
    double memory = 0;
    double encoder = 0;
    double decoder = 0;
    bool has_garbage = false;  // and, with a count of 0, nothing else
  };

  Return ask(Conversation& talk);
  Return ask_v1(Conversation& talk);
  bool gather(uint64_t now_us, const std::vector<model::Process>& processes, Report& report);
  void put(const Share& share, Duration window, Report& report, model::Process& process);

  const Clock& clock_;
  const DriverClock& driver_;
  uint64_t last_seen_us_ = 0;
  std::vector<ProcessShare> rows_;
  std::vector<ProcessShareV1> rows_v1_;
  std::map<int64_t, Share> shares_;
  std::map<int64_t, model::Process> last_;  // whose values still stand
};

}  // namespace gpusight::collect::nvml
