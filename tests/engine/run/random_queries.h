// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace spanscope::test {

/// Makes random queries over a few texts, so that they have much in common.
class RandomQueries {
 public:
  /// `longestAnswer` is the largest max_tokens.
  explicit RandomQueries(std::uint32_t seed, int longestAnswer = 12)
      : m_random(seed), m_longestAnswer(longestAnswer) {}

  int below(int end) { return std::uniform_int_distribution<int>(0, end - 1)(m_random); }

  std::string single() { return generate(prompt()); }

  std::string independent() {
    std::string json = below(2) == 0 ? R"({"plus":[)" : R"({"par":[)";
    const int count = 2 + below(4);
    const std::string same = generate(prompt());
    for (int i = 0; i < count; ++i) json += (i > 0 ? "," : "") + (below(3) == 0 ? same : generate(prompt()));
    return json + "]}";
  }

  /// A judge over several answers, so that its prompt holds sampled tokens.
  std::string nested() {
    return judge([this] { return generate(prompt()); });
  }

  /// A judge over judges and answers.
  std::string deep() {
    return judge([this] { return below(2) == 0 ? nested() : generate(prompt()); });
  }

  /// An answer in the middle of a prompt, with or without documents after it.
  std::string continued() {
    const std::string json = R"({"cross":[)" + system() + "," + (below(2) == 0 ? single() : nested());
    const std::string documents = below(2) == 0 ? R"(,{"plus":[)" + document() + "," + document() + "]}" : "";
    return generate(json + documents + (below(2) == 0 ? "" : R"(,{"user":"Go on."})") + "]}");
  }

 private:
  template <class Candidate>
  std::string judge(const Candidate& candidate) {
    std::string json = R"({"cross":[)" + system() + R"(,{"plus":[)";
    const int count = 1 + below(3);
    for (int i = 0; i < count; ++i) json += (i > 0 ? "," : "") + candidate();
    return generate(json + R"(]},{"user":"Which one?"}]})");
  }
  std::string generate(const std::string& input) {
    return R"({"g":{"model":"m","max_tokens":)" + std::to_string(1 + below(m_longestAnswer)) +
           R"(,"temperature":)" + (below(2) == 0 ? "0.0" : "0.9") + R"(,"input":)" + input + "}}";
  }
  std::string system() {
    return below(2) == 0 ? R"({"system":"You answer from the documents."})" : R"({"system":"You judge."})";
  }
  std::string document() {
    const int index = below(5);
    std::string text = "Document " + std::to_string(index) + ".";
    for (int i = 0; i <= index; ++i) text += " Mira lives in Lisbon and plays the cello.";
    return R"({"user":")" + text + R"("})";
  }
  std::string prompt() {
    std::string json = R"({"cross":[)" + system();
    const int documents = below(4);
    if (documents > 0) {
      json += R"(,{"plus":[)";
      for (int i = 0; i < documents; ++i) json += (i > 0 ? "," : "") + document();
      json += "]}";
    }
    return json + R"(,{"user":"Question )" + std::to_string(below(3)) + R"(?"}]})";
  }

  std::mt19937 m_random;
  int m_longestAnswer;
};

}  // namespace spanscope::test
