// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the report of a log for other programs and for colleagues. Open this file to add a form.
#pragma once

#include "engine/doctor/doctor.h"

#include <optional>
#include <string>
#include <vector>

namespace spanscope::doctor {

/// Values to show tokens as time and money. Nothing: not shown.
struct Prices {
  std::optional<double> tokensPerSecond{};  ///< speed of prefill
  std::optional<double> perMillion{};       ///< price of a million computed tokens
};

/// The texts of one request in a row of a table.
struct RequestRow {
  std::string place;  ///< "log.jsonl:12"
  std::string cached;
  std::string could;
  std::string reported;    ///< "–": not reported
  std::string difference;  ///< "token 14 in the system message"
  std::string change;      ///< "14:03 → 14:07", without secrets and control characters
  std::string cause;
  std::string lost;
};
RequestRow rowOf(const LogReport& report, const RequestReport& request);

/// Cached tokens by the distance to the best earlier request: the last request with the longest common
/// prefix. Distance 1: the previous request of the log.
struct ReuseDistance {
  std::size_t from = 1;
  std::size_t to = 1;  ///< included
  std::uint64_t cached = 0;
  std::size_t requests = 0;
};
/// Returns the ranges of distances 1, 2, 3 to 4, 5 to 8, …, up to the largest distance.
std::vector<ReuseDistance> reuseDistances(const LogReport& report);

/// Returns the known values as a text: "1,234 tokens, 0.5 s, 0.12".
std::string costText(std::uint64_t tokens, const Prices& prices);
/// "12.3 %".
std::string shareText(double share);
/// "KL 0.0123, 97.1 % of tokens agree (8 requests)"; "–" if nothing was measured.
std::string qualityText(const std::optional<WayQuality>& quality);
/// Explains qualityText(): the model, the reference and the measure. Empty: nothing was measured.
std::string qualityNote(const LogReport& report);
/// Returns the indices of the requests of each conversation. Conversations are in the order of their first
/// request.
std::vector<std::vector<std::size_t>> byConversation(const LogReport& report);

/// A JSON document with every number of the report. Requests, parts and conversations have numbers from 1.
std::string jsonReport(const LogReport& report, const Prices& prices);
/// A table with a row for each request (RFC 4180). Parts and conversations have numbers from 1.
std::string csvReport(const LogReport& report);
std::string markdownReport(const LogReport& report, const Prices& prices);
/// One file without scripts and without links to other files.
std::string htmlReport(const LogReport& report, const Prices& prices);

}  // namespace spanscope::doctor
