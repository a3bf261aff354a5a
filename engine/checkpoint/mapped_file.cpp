// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/checkpoint/mapped_file.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/checkpoint/file_bytes.h"

#include <cerrno>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

namespace spanscope::checkpoint {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* expected) {
  throw Failure({path.string(), "", std::generic_category().message(errno), expected});
}

}  // namespace

void MappedFile::requireWhole() const {
  if (!m_bytes.isCut()) return;
  throw Failure({m_path.string(), "", "a file that was cut while it was read",
                 "all " + counted(bytes().size(), "byte") + " that it had when it was opened"});
}

void MappedFile::requireUnchanged() const {
  requireWhole();
  if (!m_bytes.isChanged()) return;
  throw Failure({m_path.string(), "", "a file that was changed while it was read",
                 "the file as it was when it was opened"});
}

MappedFile::MappedFile(const std::filesystem::path& path) : m_path(path) {
  const std::optional<ReadableFile> file = ReadableFile::open(path, LinkRule::Follow);
  if (!file) fail(path, "a file that can be read");
  if (!file->isRegular()) throw Failure({path.string(), "", "something else", "a regular file"});
  std::optional<MappedBytes> bytes = file->map();
  if (!bytes) fail(path, "a file that can be mapped into memory");
  const std::span<const std::byte> all = bytes->get();
  if (all.empty()) throw Failure({path.string(), "", "an empty file", "a file of a model"});
  refusePointer({reinterpret_cast<const char*>(all.data()), all.size()}, path);
  m_bytes = std::move(*bytes);
}

}  // namespace spanscope::checkpoint
