// SPDX-License-Identifier: GPL-3.0-or-later
// What the tests of the span store share: a temporary folder, and blocks whose bytes follow from their names,
// so that a wrong hit is noticed.
#pragma once

#include "engine/cache/store/disk_store.h"
#include "engine/cache/store/span_store.h"

#include <QTemporaryDir>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace spanscope::cache::test {

inline constexpr std::uint32_t kSlotBytes = 96;

/// Makes a content name from a number.
inline ContentName nameOf(std::uint64_t number) {
  ContentName name;
  for (std::size_t i = 0; i < name.bytes.size(); ++i)
    name.bytes[i] = static_cast<std::uint8_t>(mixBits(number + i / 8) >> (8 * (i % 8)));
  return name;
}

inline StoredFacts factsOf(std::uint64_t number, std::int32_t tokens = 16) {
  return {.name = nameOf(number), .parent = nameOf(number + 1'000'000), .tokens = tokens, .base = 7};
}

/// The bytes of block `number`: a lookup must never find others for it.
inline std::vector<std::byte> bytesOf(std::uint64_t number, std::int32_t tokens = 16) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(tokens) * kSlotBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(mixBits(number * 1'000'003 + i / 8) >> (8 * (i % 8)));
  return bytes;
}

inline BlockToKeep blockOf(std::uint64_t number, std::int32_t tokens = 16) {
  return {.facts = factsOf(number, tokens),
          .bytes = std::make_shared<const std::vector<std::byte>>(bytesOf(number, tokens))};
}

inline std::vector<BlockToKeep> blocksOf(std::uint64_t first, std::uint64_t count) {
  std::vector<BlockToKeep> blocks;
  for (std::uint64_t number = first; number < first + count; ++number) blocks.push_back(blockOf(number));
  return blocks;
}

inline bool put(DiskStore& store, std::uint64_t first, std::uint64_t count) {
  return store.put("model=1", "spanlet", kSlotBytes, blocksOf(first, count));
}

enum class Seen { Right, Missing, Wrong };

/// Whether the store has a block, and whether it has the bytes that were stored.
inline Seen look(DiskStore& store, std::uint64_t number, std::int32_t tokens = 16) {
  const StoredFacts facts = factsOf(number, tokens);
  const std::optional<StoredBytes> found = store.fetch(facts.name, facts.parent, tokens, kSlotBytes);
  if (!found) return Seen::Missing;
  const std::vector<std::byte> expected = bytesOf(number, tokens);
  const bool isEqual = found->facts.name == facts.name && found->facts.base == facts.base &&
                       std::equal(found->bytes.begin(), found->bytes.end(), expected.begin(), expected.end());
  return isEqual ? Seen::Right : Seen::Wrong;
}

/// Holds up a writer until the gate is opened. It must be opened before the store ends.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(m_mutex);
    m_opened.wait(lock, [this] { return m_isOpen; });
  }
  void open() {
    const std::lock_guard lock(m_mutex);
    m_isOpen = true;
    m_opened.notify_all();
  }
  /// A hook that makes writers pass the gate before this step.
  std::function<int(WriteStep)> before(WriteStep step) {
    return [this, step](WriteStep now) {
      if (now == step) pass();
      return 0;
    };
  }

 private:
  std::mutex m_mutex;
  std::condition_variable m_opened;
  bool m_isOpen = false;
};

class TemporaryStore {
 public:
  std::filesystem::path folder() const {
    return std::filesystem::path(m_directory.path().toStdString()) / "spans";
  }
  DiskStoreConfig config(std::uint64_t limit = 1ULL << 30) const {
    return {.folder = folder(), .limit = limit};
  }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder() / "packs", error))
      found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
  }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const auto& file : files()) sum += std::filesystem::file_size(file);
    return sum;
  }

 private:
  QTemporaryDir m_directory;
};

}  // namespace spanscope::cache::test
