// SPDX-License-Identifier: GPL-3.0-or-later
// Writes logs for tests of the doctor.
#pragma once

#include "engine/doctor/doctor.h"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace spanscope::doctor::testing {

using Json = nlohmann::ordered_json;
using Said = std::vector<std::pair<std::string, std::string>>;  ///< roles and texts

inline Json messagesOf(const Said& said) {
  Json messages = Json::array();
  for (const auto& [role, text] : said) messages.push_back({{"role", role}, {"content", text}});
  return messages;
}

inline Json bodyOf(const Said& said) {
  return {{"model", "m"}, {"messages", messagesOf(said)}};
}

inline std::string linesOf(const std::vector<Json>& records) {
  std::string text;
  for (const Json& record : records) text += record.dump() + "\n";
  return text;
}

inline LogReport diagnosed(const std::string& text, const DoctorOptions& options = {}) {
  const auto tokenizer = makeEstimate();
  return diagnose(LogReader({{.name = "log", .path = {}, .text = text}}), *tokenizer, options);
}

/// The key of the main cause of a request, or "".
inline std::string causeIn(const LogReport& report, std::size_t request) {
  const auto& findings = report.requests.at(request).findings;
  return findings.empty() ? "" : causeOf(findings.front().finding.cause).key;
}
inline std::vector<std::string> causesIn(const LogReport& report, std::size_t request) {
  std::vector<std::string> keys;
  for (const NamedFinding& one : report.requests.at(request).findings)
    keys.emplace_back(causeOf(one.finding.cause).key);
  return keys;
}

/// About 8 words of a document that differs by its number.
inline std::string document(int number) {
  const char* subjects[] = {"harbour", "orchestra", "glacier", "library",
                            "lantern", "bakery",    "railway", "garden"};
  std::string text;
  for (int i = 0; i < 24; ++i)
    text += std::string(i > 0 ? " " : "") + "The " + subjects[(number * 3 + i) % 8] + " of region " +
            std::string(1, static_cast<char>('a' + (number + i) % 26)) + " keeps " +
            subjects[(number * 5 + i * 2) % 8] + " records" + (i % 2 == 0 ? "," : ".");
  return text;
}

/// A question over documents, as RAG programs send them.
inline Json askedOver(const std::vector<int>& documents, const std::string& question) {
  std::string text = "Use these documents.\n";
  for (const int number : documents) text += "<document>\n" + document(number) + "\n</document>\n";
  return bodyOf({{"system", "Be brief."}, {"user", text + question}});
}

}  // namespace spanscope::doctor::testing
