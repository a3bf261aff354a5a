// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::retrieve {

/// Writes summaries of texts that stand together.
class Summarizer {
 public:
  virtual ~Summarizer() = default;

  /// Everything that a summary depends on beside the texts: summaries are kept under it.
  virtual std::string fingerprint() const = 0;

  /// How many texts are summarised as one; at least 2.
  virtual std::size_t groupSize() const = 0;

  /// A summary for each group, in their order, or nothing if it was stopped. Throws Failure where there is
  /// none to be had.
  virtual std::vector<std::string> summarize(std::span<const std::vector<std::string>> groups,
                                             std::stop_token stop) = 0;
};

}  // namespace spanscope::retrieve
