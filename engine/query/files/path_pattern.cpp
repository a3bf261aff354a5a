// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/files/path_pattern.h"

#include <algorithm>
#include <cstddef>

namespace spanscope::query {
namespace {

/// Length of the character that begins at `at`. If it is not UTF-8, each byte counts as a character.
std::size_t characterLength(std::string_view text, std::size_t at) {
  std::size_t length = 1;
  if (static_cast<unsigned char>(text[at]) < 0xC0U) return length;
  while (at + length < text.size() && (static_cast<unsigned char>(text[at + length]) & 0xC0U) == 0x80U)
    ++length;
  return length;
}

}  // namespace

bool isPathPattern(std::string_view path) {
  return path.find_first_of("*?") != std::string_view::npos;
}

std::vector<std::string_view> pathNames(std::string_view path) {
  std::vector<std::string_view> names;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    if (!name.empty()) names.push_back(name);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return names;
}

bool nameFits(std::string_view name, std::string_view pattern) {
  std::size_t at = 0;
  std::size_t in = 0;
  // Only the last star may need more characters: everything before it fits as early as possible.
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  while (at < name.size()) {
    if (in < pattern.size() && pattern[in] == '*') {
      star = in++;
      taken = at;
    } else if (in < pattern.size() && pattern[in] == '?') {
      at += characterLength(name, at);
      ++in;
    } else if (in < pattern.size() && pattern[in] == name[at]) {
      ++at;
      ++in;
    } else if (star != std::string_view::npos) {
      in = star + 1;
      taken += characterLength(name, taken);
      at = taken;
    } else {
      return false;
    }
  }
  while (in < pattern.size() && pattern[in] == '*') ++in;
  return in == pattern.size();
}

bool pathFits(const std::vector<std::string_view>& path, const std::vector<std::string_view>& pattern) {
  // fits[i]: whether the first i names fit the part of the pattern so far.
  std::vector<bool> fits(path.size() + 1, false);
  fits[0] = true;
  for (const std::string_view part : pattern) {
    std::vector<bool> next(path.size() + 1, false);
    if (part == "**") {
      bool any = false;
      for (std::size_t i = 0; i <= path.size(); ++i) {
        any = any || fits[i];
        next[i] = any;
      }
    } else {
      for (std::size_t i = 0; i < path.size(); ++i) next[i + 1] = fits[i] && nameFits(path[i], part);
    }
    fits = std::move(next);
  }
  return fits[path.size()];
}

}  // namespace spanscope::query
