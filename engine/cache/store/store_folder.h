// SPDX-License-Identifier: GPL-3.0-or-later
// The folder of a span store. Only its owner may enter it. It holds the secret for making names, and a lock
// for processes that change the folder.
#pragma once

#include "engine/base/error.h"
#include "engine/cache/store/stored_block.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>

namespace spanscope::cache {

/// A caller waits this long for a lock that another program holds. Holders need it for milliseconds; a
/// program that was suspended may hold it for ever.
inline constexpr std::chrono::seconds kLockWait(10);

/// Another program holds the lock of a store for longer than the caller waits.
class StoreBusy final : public Failure {
 public:
  explicit StoreBusy(const std::filesystem::path& lockFile);
};

/// Holds the folder's lock. Readers need no lock: packs appear and disappear as a whole.
class StoreLock {
 public:
  /// Waits for the lock as long as `patience` says. Throws Failure if the folder cannot be locked.
  explicit StoreLock(const std::filesystem::path& file, const Patience& patience = {.most = kLockWait});
  ~StoreLock();
  StoreLock(const StoreLock&) = delete;
  StoreLock& operator=(const StoreLock&) = delete;

  /// False if the wait was given up.
  bool isHeld() const { return m_isHeld; }

 private:
  int m_descriptor = -1;
  bool m_isHeld = false;
};

class StoreFolder {
 public:
  /// Opens a store, or makes one if the folder does not exist or is empty. Throws Failure if the folder may
  /// be entered by others than its owner, belongs to somebody else, or holds other things or a store of
  /// another version, and if it cannot be made. A store that is whole is opened without its lock. Throws
  /// StoreBusy if the store has to be made and its lock is not free within `patience`.
  explicit StoreFolder(std::filesystem::path path, const Patience& patience = {.most = kLockWait});

  const std::filesystem::path& path() const { return m_path; }
  std::filesystem::path packs() const { return m_path / "packs"; }
  std::filesystem::path lockFile() const { return m_path / "lock"; }
  const std::array<std::uint8_t, 32>& secret() const { return m_secret; }

  /// Whether this folder holds a store. It makes none.
  static bool isThere(const std::filesystem::path& path);
  /// Throws Failure unless the folder belongs to this user and only this user may enter it.
  static void requireOwn(const std::filesystem::path& path);

 private:
  bool isWhole() const;
  void prepare(const Patience& patience);
  void readSecret();

  std::filesystem::path m_path;
  std::array<std::uint8_t, 32> m_secret{};
};

}  // namespace spanscope::cache
