// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/input.h"

#include "engine/base/error.h"
#include "engine/base/visible_text.h"
#include "engine/query/json.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

namespace spanscope::cli {
namespace {

[[noreturn]] void refuse(const std::string& file, std::string found) {
  throw Failure(
      {.file = inputName(file), .place = {}, .found = std::move(found), .expected = "a readable file"});
}

std::string readAll(const std::string& file, std::istream& in) {
  const std::size_t most = query::ParseLimits{}.maxBytes + 1;
  std::string text;
  std::vector<char> buffer(std::size_t{1} << 16U);
  while (text.size() < most && in) {
    in.read(buffer.data(), static_cast<std::streamsize>(std::min(buffer.size(), most - text.size())));
    text.append(buffer.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) refuse(file, "an error while reading it");
  return text;
}

}  // namespace

std::string readInput(const std::string& file, std::istream& in) {
  if (file == "-") return readAll(file, in);
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) refuse(file, "a folder");
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    refuse(file, errno != 0 ? std::generic_category().message(errno) : "something that cannot be opened");
  return readAll(file, stream);
}

std::string inputName(const std::string& file) {
  return file == "-" ? "standard input" : onOneLine(file);
}

}  // namespace spanscope::cli
