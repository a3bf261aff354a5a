// SPDX-License-Identifier: GPL-3.0-or-later
// The folder of a span store: for its owner alone, with the secret that its names are made with, and a lock
// for those who change it.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <stop_token>

namespace spanscope::cache {

/// Holds the folder's lock. Readers need none: packs appear and go as a whole.
class StoreLock {
 public:
  /// Waits for it, but no longer than until `giveUp`. Throws Failure where the folder cannot be locked.
  explicit StoreLock(const std::filesystem::path& file, const std::stop_token& giveUp = {});
  ~StoreLock();
  StoreLock(const StoreLock&) = delete;
  StoreLock& operator=(const StoreLock&) = delete;

  /// False where it was given up.
  bool isHeld() const { return m_isHeld; }

 private:
  int m_descriptor = -1;
  bool m_isHeld = false;
};

class StoreFolder {
 public:
  /// Opens a store, or makes one where there is nothing or an empty folder. Throws Failure for a folder that
  /// others than its owner may enter, that somebody else owns, that holds other things or a store of another
  /// version, and where it cannot be made.
  explicit StoreFolder(std::filesystem::path path);

  const std::filesystem::path& path() const { return m_path; }
  std::filesystem::path packs() const { return m_path / "packs"; }
  std::filesystem::path lockFile() const { return m_path / "lock"; }
  const std::array<std::uint8_t, 32>& secret() const { return m_secret; }

  /// Whether there is a store in this folder; makes none.
  static bool isThere(const std::filesystem::path& path);
  /// Throws Failure unless the folder is this user's alone.
  static void requireOwn(const std::filesystem::path& path);

 private:
  void prepare();
  void readSecret();

  std::filesystem::path m_path;
  std::array<std::uint8_t, 32> m_secret{};
};

}  // namespace spanscope::cache
