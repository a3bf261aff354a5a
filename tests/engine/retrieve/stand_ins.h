// SPDX-License-Identifier: GPL-3.0-or-later
// An embedder and a summariser without a model.
#pragma once

#include "engine/retrieve/chunker.h"
#include "engine/retrieve/passage.h"
#include "engine/retrieve/ranking.h"

#include <cstddef>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace spanscope::retrieve::test {

/// Embeds a text as the counts of its words, one dimension for each possible word: like BM25 without its
/// weights.
class WordEmbedder final : public Embedder {
 public:
  explicit WordEmbedder(std::string name = "words", std::size_t size = 256)
      : m_name(std::move(name)), m_size(size) {}

  std::string name() const override { return m_name; }
  std::string fingerprint() const override { return m_name; }

  std::vector<EmbeddingVector> embed(std::span<const std::string> texts, std::stop_token stop) override {
    if (stop.stop_requested()) return {};
    std::vector<EmbeddingVector> vectors;
    for (const std::string& text : texts) {
      EmbeddingVector& vector = vectors.emplace_back(m_size, 0.0F);
      std::istringstream words(text);
      for (std::string word; words >> word;) {
        while (!word.empty() && std::string_view(".,!?").find(word.back()) != std::string_view::npos)
          word.pop_back();
        // Its own hash, so that vectors are the same with every library.
        std::size_t hash = 1469598103934665603U;
        for (const char letter : word) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211U;
        vector[hash % m_size] += 1;
      }
      ++embedded;
    }
    return vectors;
  }

  std::size_t embedded = 0;  ///< texts embedded so far

 private:
  std::string m_name;
  std::size_t m_size;
};

/// Makes a summary from the first two words of each text.
class FirstWords final : public Summarizer {
 public:
  explicit FirstWords(std::size_t group = 3) : m_group(group) {}

  std::string fingerprint() const override { return "first words"; }
  std::size_t groupSize() const override { return m_group; }

  std::vector<std::string> summarize(std::span<const std::vector<std::string>> groups,
                                     std::stop_token stop) override {
    if (stop.stop_requested()) return {};
    std::vector<std::string> summaries;
    for (const std::vector<std::string>& texts : groups) {
      std::string& summary = summaries.emplace_back("Summary:");
      for (const std::string& text : texts) {
        std::istringstream words(text);
        std::string word;
        for (int i = 0; i < 2 && words >> word; ++i) summary += ' ' + word;
      }
      ++made;
    }
    return summaries;
  }

  std::size_t made = 0;  ///< summaries made so far

 private:
  std::size_t m_group;
};

}  // namespace spanscope::retrieve::test
