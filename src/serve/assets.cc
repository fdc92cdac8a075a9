#include "serve/assets.h"

#include <algorithm>

namespace gpusight::serve {

const Asset* find_asset(std::span<const Asset> assets, std::string_view path) {
  const auto at = std::ranges::find(assets, path, &Asset::path);
  return at == assets.end() ? nullptr : &*at;
}

std::string_view content_type_of(std::string_view path) {
  struct Row {
    std::string_view ending;
    std::string_view type;
  };
  constexpr Row kTypes[] = {
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".ico", "image/x-icon"},
      {".json", "application/json"},
      {".webmanifest", "application/manifest+json"},
      {".woff2", "font/woff2"},
      {".txt", "text/plain; charset=utf-8"},
  };
  for (const Row& row : kTypes) {
    if (path.ends_with(row.ending)) return row.type;
  }
  return "application/octet-stream";
}

bool is_immutable(std::string_view path) { return path.starts_with("/assets/"); }

}  // namespace gpusight::serve
