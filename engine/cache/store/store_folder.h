// SPDX-License-Identifier: GPL-3.0-or-later
// The folder of a span store. Only the owner of the folder has access. The folder contains the secret for
// content names, and a lock for processes that change the folder. Open this file when a store cannot be
// opened.
#pragma once

#include "engine/base/error.h"
#include "engine/cache/store/stored_block.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>

namespace spanscope::cache {

/// Max wait for a lock that another program has. A running program needs the lock for milliseconds. A
/// suspended program may keep the lock forever.
inline constexpr std::chrono::seconds kLockWait(10);

/// Another program kept the lock of a store for longer than the max wait.
class StoreBusy final : public Failure {
 public:
  explicit StoreBusy(const std::filesystem::path& lockFile);
};

/// Keeps the folder's lock while it exists. Readers need no lock, because a pack is always complete or
/// absent.
class StoreLock {
 public:
  /// Waits for the lock as long as `patience` allows. Throws Failure if the folder cannot be locked.
  explicit StoreLock(const std::filesystem::path& file, const Patience& patience = {.most = kLockWait});
  ~StoreLock();
  StoreLock(const StoreLock&) = delete;
  StoreLock& operator=(const StoreLock&) = delete;

  /// Returns false if the wait was given up.
  bool isHeld() const { return m_isHeld; }

 private:
  int m_descriptor = -1;
  bool m_isHeld = false;
};

class StoreFolder {
 public:
  /// Opens a store. Makes a store if the folder does not exist or is empty. A complete store is opened
  /// without its lock. Throws StoreBusy if the store must be made and its lock is not free within `patience`.
  /// Throws Failure in these cases:
  /// - other users have access to the folder, or own it;
  /// - the folder contains other files, or a store of another version;
  /// - the folder cannot be made.
  explicit StoreFolder(std::filesystem::path path, const Patience& patience = {.most = kLockWait});

  const std::filesystem::path& path() const { return m_path; }
  std::filesystem::path packs() const { return m_path / "packs"; }
  std::filesystem::path lockFile() const { return m_path / "lock"; }
  const std::array<std::uint8_t, 32>& secret() const { return m_secret; }

  /// Whether this folder contains a store. Makes no store.
  static bool isThere(const std::filesystem::path& path);
  /// Throws Failure unless the current user owns the folder and only this user has access.
  static void requireOwn(const std::filesystem::path& path);

 private:
  bool isWhole() const;
  void prepare(const Patience& patience);
  void readSecret();

  std::filesystem::path m_path;
  std::array<std::uint8_t, 32> m_secret{};
};

}  // namespace spanscope::cache
