// SPDX-License-Identifier: GPL-3.0-or-later
// Downloads files of a hub into the cache of huggingface_hub, so that both programs use the same files. The
// layout is models--ORG--NAME with blobs/HASH, snapshots/COMMIT/FILE (relative links to blobs) and
// refs/BRANCH. The lock .locks/models--ORG--NAME/HASH.lock protects a download from other processes. The
// bytes of an unfinished download stay in blobs/HASH.incomplete, and the next download continues there. Open
// this file when a download breaks, or when another program does not find the files.
#pragma once

#include "engine/remote/hub/hub_client.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::remote {

struct HubProgress {
  std::string file;            ///< the current file
  std::size_t number = 0;      ///< of this file, from 1
  std::size_t files = 0;       ///< number of all files
  std::uint64_t bytes = 0;     ///< of all files that are on this machine
  std::uint64_t total = 0;     ///< of all files; grows if the list of the hub has no sizes
  bool waitsForOther = false;  ///< another process downloads this file
};

struct HubDownload {
  std::vector<std::string> files;  ///< names in the listing, in this order.
  /// Called for each piece on the thread of the download, so it must be fast. May be empty.
  std::function<void(const HubProgress&)> report{};
  /// Returns the free bytes of the disk with a folder. Tests replace this function.
  std::function<std::uint64_t(const std::filesystem::path&)> freeBytes{};
};

/// Returns the folder of a snapshot. The folder may be missing.
std::filesystem::path hubSnapshot(const HubPlace& place, const HubListing& listing);

/// The part of a file that is on this machine.
struct HubFileState {
  std::uint64_t bytes = 0;  ///< of a complete or an unfinished download
  bool isWhole = false;     ///< the download is complete
};
HubFileState hubFileState(const HubPlace& place, const HubListing& listing, const HubFile& file);

/// Downloads the files that are missing. Each file is checked: its size, and SHA-256 or the hash of git.
/// Returns the folder of the snapshot; nothing: the download was stopped. After a stop, an error or the end
/// of the process, the bytes so far stay for the next download. Throws
/// - Failure, if the hub sends something else than it promised, or the connection breaks repeatedly;
/// - HubAccessFailure, as listHubFiles();
/// - OutputFailure, if the disk is full or the cache cannot be written.
std::optional<std::filesystem::path> downloadFromHub(HttpClient& client, const HubPlace& place,
                                                     const HubListing& listing, const HubDownload& download,
                                                     const std::stop_token& stop = {});

}  // namespace spanscope::remote
