// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/output_file.h"

#include <cstddef>
#include <filesystem>
#include <stop_token>

namespace spanscope::cache {

class DiskStore;

struct StoreCopyRules {
  UnfinishedFiles* unfinished = nullptr;  ///< is told of what is written; outlives the copying
  std::stop_token stop{};
};

/// Copies every intact pack and the secret into a new store. Until that is whole it has a name of its own
/// beside `folder`, "spans.x7g2kq.part" for "spans"; without an end nothing is left of it. Damaged packs are
/// removed as by verify(). Returns how many were copied. Throws OutputFailure where the copy cannot be
/// written, Failure where a file cannot be read or it was stopped.
std::size_t copyStore(DiskStore& store, const std::filesystem::path& folder,
                      const StoreCopyRules& rules = {});

}  // namespace spanscope::cache
