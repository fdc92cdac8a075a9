// Machines as folders of files for the contract test: one for each kind of GPU that a source reads
// from the kernel's files. Made up, with every file that such a GPU may have.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace gpusight::collect {

// Path and content; a content of "-> TARGET" is a symbolic link.
using TreeFiles = std::vector<std::pair<std::string, std::string>>;

inline void write_tree(const std::string& root, const TreeFiles& files) {
  std::filesystem::remove_all(root);
  for (const auto& [path, text] : files) {
    const std::filesystem::path file = root + path;
    std::filesystem::create_directories(file.parent_path());
    if (text.starts_with("-> ")) {
      std::filesystem::create_symlink(text.substr(3), file);
    } else {
      std::ofstream(file, std::ios::binary) << text;
    }
  }
}

// gpu_metrics of a revision whose every field is the same number: 40 °C, or 38.4 where the unit is
// a hundredth.
inline std::string amd_table(char format, char content, size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 4; i < size; i += 2)
    (format == 1 ? bytes[i] : bytes[i + 1]) = format == 1 ? 40 : 15;
  bytes[0] = static_cast<char>(size & 0xff);
  bytes[1] = static_cast<char>(size >> 8);
  bytes[2] = format;
  bytes[3] = content;
  return bytes;
}

inline TreeFiles amd_common(const std::string& pci_id) {
  const std::string d = "/sys/class/drm/card1/device/";
  return {
      {d + "uevent", "DRIVER=amdgpu\nPCI_CLASS=38000\nPCI_ID=" + pci_id +
                         "\nPCI_SUBSYS_ID=1002:0E3B\nPCI_SLOT_NAME=0000:c1:00.0\n"},
      {d + "drm/renderD128/dev", "226:128\n"},
      {d + "revision", "0xc8\n"},
      {d + "unique_id", "00c0ffee00000001\n"},
      {d + "power/runtime_status", "active\n"},
      {d + "power/control", "auto\n"},
      {d + "power/autosuspend_delay_ms", "5000\n"},
      {d + "power/runtime_active_time", "61000\n"},
      {d + "power/runtime_suspended_time", "0\n"},
      {d + "gpu_busy_percent", "65\n"},
      {d + "mem_info_vram_used", "300000000\n"},
      {d + "mem_info_vram_total", "536870912\n"},
      {d + "mem_info_gtt_used", "1000000\n"},
      {d + "mem_info_gtt_total", "16000000000\n"},
      {d + "vbios_version", "113-D70401XT\n"},
      {d + "power_dpm_force_performance_level", "auto\n"},
      {d + "pp_dpm_sclk", "0: 600Mhz \n1: 848Mhz *\n2: 2900Mhz \n"},
      {d + "pp_dpm_mclk", "0: 400Mhz \n1: 800Mhz *\n"},
      {d + "pp_dpm_socclk", "S: 19Mhz *\n0: 600Mhz \n"},
      {d + "hwmon/hwmon6/name", "amdgpu\n"},
      {d + "hwmon/hwmon6/freq1_label", "sclk\n"},
      {d + "hwmon/hwmon6/freq1_input", "848000000\n"},
      {d + "hwmon/hwmon6/power1_label", "PPT\n"},
      {"/proc/4711/stat", "4711 (game) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0\n"},
      {"/proc/4711/fd/5", "-> /dev/dri/renderD128"},
      {"/proc/4711/fdinfo/5",
       "drm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-engine-gfx:\t5000 ns\n"
       "drm-resident-vram:\t4 MiB\n"},
      {"/proc/meminfo", "MemTotal:       33554432 kB\n"},
      {"/usr/share/libdrm/amdgpu.ids", "744C,\tC8,\tAMD Radeon RX 7900 XTX\n"},
      {"/usr/share/misc/pci.ids", "1002  AMD\n\t150e  Strix [Radeon 890M]\n"},
  };
}

inline TreeFiles amd_board_tree() {
  TreeFiles files = amd_common("1002:744C");
  const std::string d = "/sys/class/drm/card1/device/";
  const std::string h = d + "hwmon/hwmon6/";
  const TreeFiles own = {
      {d + "gpu_metrics", amd_table(1, 3, 120)},
      {d + "mem_busy_percent", "31\n"},
      {d + "mem_info_vram_vendor", "samsung\n"},
      {d + "pcie_replay_count", "3\n"},
      {d + "current_link_speed", "16.0 GT/s PCIe\n"},
      {d + "current_link_width", "16\n"},
      {d + "max_link_speed", "16.0 GT/s PCIe\n"},
      {d + "max_link_width", "16\n"},
      {d + "aer_dev_correctable", "RxErr 4\nTOTAL_ERR_COR 5\n"},
      {d + "aer_dev_nonfatal", "TOTAL_ERR_NONFATAL 0\n"},
      {d + "aer_dev_fatal", "TOTAL_ERR_FATAL 0\n"},
      {h + "temp1_label", "edge\n"},
      {h + "temp1_input", "53000\n"},
      {h + "temp1_crit", "100000\n"},
      {h + "temp1_emergency", "105000\n"},
      {h + "temp2_label", "junction\n"},
      {h + "temp2_input", "61000\n"},
      {h + "temp2_crit", "110000\n"},
      {h + "power1_average", "68000000\n"},
      {h + "power1_cap", "290000000\n"},
      {h + "power1_cap_default", "303000000\n"},
      {h + "power1_cap_min", "0\n"},
      {h + "power1_cap_max", "333000000\n"},
      {h + "in0_label", "vddgfx\n"},
      {h + "in0_input", "686\n"},
      {h + "fan1_input", "1600\n"},
      {h + "pwm1", "102\n"},
      {h + "pwm1_max", "255\n"},
  };
  files.insert(files.end(), own.begin(), own.end());
  return files;
}

inline TreeFiles amd_apu_tree() {
  TreeFiles files = amd_common("1002:150E");
  const std::string d = "/sys/class/drm/card1/device/";
  const std::string h = d + "hwmon/hwmon6/";
  const TreeFiles own = {
      {d + "gpu_metrics", amd_table(3, 0, 264)},
      {d + "vcn_busy_percent", "5\n"},
      {h + "temp1_label", "edge\n"},
      {h + "temp1_input", "38000\n"},
      {h + "power1_average", "9087000\n"},
      {h + "power1_input", "9087000\n"},
      {h + "in0_label", "vddgfx\n"},
      {h + "in0_input", "0\n"},
      {h + "in1_label", "vddnb\n"},
      {h + "in1_input", "615\n"},
  };
  files.insert(files.end(), own.begin(), own.end());
  return files;
}

inline TreeFiles amd_instinct_tree() {
  TreeFiles files = amd_common("1002:74A1");
  const std::string d = "/sys/class/drm/card1/device/";
  const std::string h = d + "hwmon/hwmon6/";
  const TreeFiles own = {
      {d + "gpu_metrics", amd_table(1, 8, 3872)},
      {d + "mem_busy_percent", "31\n"},
      {d + "product_name", "AMD Instinct MI300X\n"},
      {d + "serial_number", "fedcba\n"},
      {d + "ras/umc_err_count", "ue: 1\nce: 7\nde: 2\n"},
      {d + "ras/gfx_err_count", "ue: 0\nce: 1\n"},
      {d + "ras/gpu_vram_bad_pages", "0x1 : 0x1000 : R\n"},
      {h + "temp2_label", "junction\n"},
      {h + "temp2_input", "45000\n"},
      {h + "temp3_label", "mem\n"},
      {h + "temp3_input", "40000\n"},
      {h + "power1_input", "140000000\n"},
      {h + "power1_cap", "750000000\n"},
  };
  files.insert(files.end(), own.begin(), own.end());
  return files;
}

}  // namespace gpusight::collect
