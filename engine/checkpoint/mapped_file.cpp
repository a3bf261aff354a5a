// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/checkpoint/mapped_file.h"

#include "engine/base/counted.h"
#include "engine/base/problem_sentence.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

namespace spanscope::checkpoint {

namespace {

constexpr std::array<std::string_view, 2> kPageTags = {"<!doctype html", "<html"};

[[noreturn]] void fail(const std::filesystem::path& path, const char* expected) {
  throw Failure({path.string(), "", systemReport(errno), expected});
}

}  // namespace

void MappedFile::requireWhole() const {
  if (!m_bytes.isCut()) return;
  throw Failure({m_path.string(), "", /*id:file-truncated*/ "a file that was truncated during reading",
                 "all " + counted(bytes().size(), "byte") + " as when the file was opened"});
}

void MappedFile::requireUnchanged() const {
  requireWhole();
  if (!m_bytes.isChanged()) return;
  throw Failure({m_path.string(), "", /*id:file-changed-while*/ "a file that was changed during reading",
                 "the same file as when it was opened"});
}

MappedFile::MappedFile(const std::filesystem::path& path) : m_path(path) {
  const std::optional<ReadableFile> file = ReadableFile::open(path, LinkRule::Follow);
  if (!file) fail(path, "a file that can be read");
  if (!file->isRegular())
    throw Failure({path.string(), "", "something other than a regular file", "a regular file"});
  std::optional<MappedBytes> bytes = file->map();
  if (!bytes) fail(path, "a file that can be mapped into memory");
  const std::span<const std::byte> all = bytes->get();
  if (all.empty()) throw Failure({path.string(), "", "an empty file", "a file of a model"});
  refusePointer({reinterpret_cast<const char*>(all.data()), all.size()}, path);
  m_bytes = std::move(*bytes);
}

std::string readFileBytes(const std::filesystem::path& path, std::uintmax_t limit, std::string_view what) {
  const auto fail = [&](std::string found) -> Failure {
    return Failure({path.string(), "", std::move(found), std::string(what)});
  };
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw fail("no such file");
  if (!std::filesystem::is_regular_file(status)) throw fail("something that is not a regular file");
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) throw fail("a file whose size cannot be read (" + error.message() + ")");
  if (size > limit) {
    throw fail(std::to_string(size) + " bytes, more than the limit of " + std::to_string(limit));
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw fail("a file that cannot be opened");
  std::string bytes(static_cast<std::size_t>(size), '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(size));
  if (static_cast<std::uintmax_t>(stream.gcount()) != size) {
    throw fail("only " + std::to_string(stream.gcount()) + " of " + std::to_string(size) +
               " bytes could be read");
  }
  refusePointer(bytes, path);
  return bytes;
}

namespace {

/// Whether the text begins with a tag of HTML. Servers send a page in place of a file that they refuse.
bool isWebPage(std::string_view bytes) {
  bytes.remove_prefix(std::min(bytes.size(), bytes.find_first_not_of(" \t\r\n")));
  return std::any_of(kPageTags.begin(), kPageTags.end(), [bytes](std::string_view tag) {
    return bytes.size() >= tag.size() &&
           std::equal(tag.begin(), tag.end(), bytes.begin(),
                      [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
  });
}

}  // namespace

void refusePointer(std::string_view bytes, const std::filesystem::path& path) {
  if (isWebPage(bytes)) {
    throw Failure({path.string(), "", /*id:file-is-page*/ "a web page instead of the file",
                   "the file itself: download it again"});
  }
  constexpr std::size_t kMostBytes = 1024;  // the max size of a pointer file in its specification
  if (bytes.size() >= kMostBytes || !bytes.starts_with("version https://git-lfs.github.com/spec/")) return;
  throw Failure({path.string(), "", /*id:file-is-pointer*/ "a Git LFS pointer instead of the file",
                 "the file itself (run \"git lfs pull\" in the folder of the file)"});
}

}  // namespace spanscope::checkpoint
