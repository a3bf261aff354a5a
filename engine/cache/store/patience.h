// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>

namespace spanscope::cache {

/// How long a caller waits for the disk.
struct Patience {
  std::stop_token stop = {};
  std::chrono::milliseconds most = std::chrono::hours(24);
};

/// The state of a content that was given to be kept.
enum class KeptState : std::uint8_t {
  Waiting,  ///< not yet written
  Kept,     ///< on the disk
  Lost      ///< neither waiting nor kept: it could not be written, or was removed again
};

}  // namespace spanscope::cache
