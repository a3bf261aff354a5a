// SPDX-License-Identifier: GPL-3.0-or-later
// Copies a span store into a new folder. Open this file to change how the disk cache is exported.
#pragma once

#include "engine/base/output_file.h"

#include <cstddef>
#include <filesystem>
#include <stop_token>

namespace spanscope::cache {

class DiskStore;

struct StoreCopyRules {
  UnfinishedFiles* unfinished = nullptr;  ///< gets the paths of all files that are written; must outlive the
                                          ///< copying
  std::stop_token stop{};
};

/// Copies every intact pack and the secret into a new store. An unfinished copy has a temporary name beside
/// `folder`, "spans.x7g2kq.part" for "spans". If the copying fails, nothing of the copy is left. Removes
/// damaged packs from `store`, as verify() does. Returns the number of copied packs. Throws OutputFailure if
/// the copy cannot be written. Throws Failure if a file cannot be read or a stop was requested.
std::size_t copyStore(DiskStore& store, const std::filesystem::path& folder,
                      const StoreCopyRules& rules = {});

}  // namespace spanscope::cache
