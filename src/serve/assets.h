// The page's files as the build put them into the program. Constant data, any thread.
#pragma once

#include <span>
#include <string_view>

namespace gpusight::serve {

struct Asset {
  std::string_view path;  // "/assets/index-a1b2c3.js"
  std::string_view etag;  // with its quotes; of the file itself
  std::string_view plain;
  std::string_view gzip;
  std::string_view brotli;
};

// Sorted by path; empty when the program was built without the page.
std::span<const Asset> web_assets();

const Asset* find_asset(std::span<const Asset> assets, std::string_view path);
std::string_view content_type_of(std::string_view path);
// The bundler puts a hash into the names below /assets/: such a file never changes.
bool is_immutable(std::string_view path);

}  // namespace gpusight::serve
