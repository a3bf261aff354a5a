// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/files/file_access.h"

#include "engine/query/shown_text.h"

#include <algorithm>
#include <fstream>
#include <system_error>
#include <utility>

namespace spanscope::query {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShownCharacters = 200;

NotGiven notGiven(const std::string& path, const std::string& what, std::string expected,
                  std::string hint = {}) {
  return {"the file \"" + cutText(path, kShownCharacters) + "\"" + what, std::move(expected),
          std::move(hint)};
}

}  // namespace

FileAccess::FileAccess(fs::path folder, std::vector<fs::path> others) : m_folder(std::move(folder)) {
  if (m_folder.empty()) m_folder = ".";
  others.push_back(m_folder);
  for (const fs::path& root : others) {
    std::error_code error;
    fs::path canonical = fs::canonical(root, error);
    if (!error) m_roots.push_back(std::move(canonical));
  }
}

bool FileAccess::isAllowed(const fs::path& file) const {
  return std::any_of(m_roots.begin(), m_roots.end(), [&](const fs::path& root) {
    const fs::path inside = file.lexically_relative(root);
    return !inside.empty() && *inside.begin() != "..";
  });
}

std::variant<fs::path, NotGiven> FileAccess::locate(const std::string& path) const {
  if (path.empty() || path.find('\0') != std::string::npos) return notGiven(path, "", "the path of a file");
  std::error_code error;
  fs::path file = fs::canonical(m_folder / path, error);
  std::error_code unknown;
  const fs::path folder = fs::canonical(m_folder, unknown);
  const std::string inFolder = " in " + cutText((unknown ? m_folder : folder).string(), kShownCharacters);
  if (error) return notGiven(path, " that cannot be opened (" + error.message() + ")", "a file" + inFolder);
  if (!isAllowed(file)) {
    return notGiven(path, " outside of the query's folder", "a file" + inFolder,
                    "the user who runs the query can allow other folders");
  }
  return file;
}

std::variant<std::string, NotGiven> FileAccess::read(const std::string& path) const {
  auto located = locate(path);
  if (auto* refused = std::get_if<NotGiven>(&located)) return std::move(*refused);
  const fs::path& file = std::get<fs::path>(located);
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return notGiven(path, " that is no regular file", "a file");

  std::ifstream stream(file, std::ios::binary);
  if (!stream) return notGiven(path, " that cannot be opened", "a file that may be read");
  std::string bytes;
  std::vector<char> buffer(std::size_t{1} << 16U);
  while (stream && bytes.size() <= kMaxFileBytes) {
    stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    bytes.append(buffer.data(), static_cast<std::size_t>(stream.gcount()));
  }
  if (stream.bad()) return notGiven(path, " that cannot be read to its end", "a file that may be read");
  if (bytes.size() > kMaxFileBytes) {
    return notGiven(path, " of more than " + std::to_string(kMaxFileBytes) + " bytes",
                    "at most " + std::to_string(kMaxFileBytes));
  }
  return bytes;
}

}  // namespace spanscope::query
