// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::retrieve {

/// Writes summaries of groups of texts.
class Summarizer {
 public:
  virtual ~Summarizer() = default;

  /// Identifies everything besides the texts that a summary depends on. It is part of the key of stored
  /// summaries.
  virtual std::string fingerprint() const = 0;

  /// How many texts one summary covers; at least 2.
  virtual std::size_t groupSize() const = 0;

  /// One summary for each group, in order, or nothing if it was stopped. Throws Failure if summaries cannot
  /// be made.
  virtual std::vector<std::string> summarize(std::span<const std::vector<std::string>> groups,
                                             std::stop_token stop) = 0;
};

}  // namespace spanscope::retrieve
