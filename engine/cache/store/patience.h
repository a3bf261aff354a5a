// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>

namespace spanscope::cache {

/// How long somebody waits for the disk.
struct Patience {
  std::stop_token stop = {};
  std::chrono::milliseconds most = std::chrono::hours(24);
};

/// What became of a content that was to be kept.
enum class KeptState : std::uint8_t {
  Waiting,  ///< to be written
  Kept,     ///< on the disk
  Lost      ///< neither: it could not be written, or had to go again
};

}  // namespace spanscope::cache
