// SPDX-License-Identifier: GPL-3.0-or-later
// The part of a tokenizer.json tokenizer that all models of words share: added tokens, normalizers and
// pre-tokenizers. Open this file to write a new model of words.
#pragma once

#include "engine/base/utf8.h"
#include "engine/text/piece_table.h"
#include "engine/text/text_pipeline.h"

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::text {

/// The steps around a model of words, as a file describes them.
struct PipelineDescription {
  std::vector<AddedToken> addedTokens;                         ///< includes control pieces
  std::vector<std::unique_ptr<const Normalizer>> normalizers;  ///< in order
  std::vector<std::unique_ptr<const PreTokenizer>> preTokenizers;
  /// Whether words are bytes. The vocabulary then writes each byte as one printable character (GPT-2's
  /// alphabet).
  bool byteLevel = false;
  std::string spaceMark;  ///< the space in the vocabulary; empty for " "
};

/// Finds added tokens, normalizes the text between them, splits it into words, and gives the words to a
/// model.
class PipelineTokenizer : public PieceTable {
 protected:
  /// Takes normalizers and pre-tokenizers out of the description.
  PipelineTokenizer(PipelineDescription& description, const std::string& file)
      : PieceTable(file),
        m_normalizers(std::move(description.normalizers)),
        m_preTokenizers(std::move(description.preTokenizers)) {}

  /// Makes the sink that writes the ids of words to `ids`. All arguments outlive it. `textBytes` is the
  /// length of the whole text.
  virtual std::unique_ptr<WordSink> wordEncoder(std::size_t textBytes, const std::stop_token& stop,
                                                IdOutput& ids) const = 0;

  /// Searches a text for this token.
  void findToken(const AddedToken& token) {
    if (token.normalized) {
      m_normalizedTokens.add(token, normalize(token.content, {}));
    } else {
      m_rawTokens.add(token, token.content);
    }
  }

  std::string normalize(std::string_view text, const std::stop_token& stop) const {
    std::string result(text);
    for (const auto& normalizer : m_normalizers) result = normalizer->apply(result, stop);
    return result;
  }

 private:
  void encodeText(std::string_view text, const std::stop_token& stop, IdOutput& ids) const override {
    const std::string valid = toValidUtf8(text);
    const std::unique_ptr<WordSink> words = wordEncoder(valid.size(), stop, ids);
    m_rawTokens.split(valid, stop, [&](const TextPart& part) {
      if (part.id >= 0) {
        ids.ids().push_back(part.id);
        ids.pass();
      } else {
        encodePart(std::string_view(valid).substr(part.range.begin, part.range.end - part.range.begin),
                   part.range.begin == 0, stop, *words, ids);
      }
    });
  }

  void encodePart(std::string_view text, bool beginsText, const std::stop_token& stop, WordSink& words,
                  IdOutput& ids) const {
    const std::string normal = normalize(text, stop);
    m_normalizedTokens.split(normal, stop, [&](const TextPart& part) {
      if (part.id >= 0) {
        ids.ids().push_back(part.id);
        return ids.pass();
      }
      const Word word{std::string_view(normal).substr(part.range.begin, part.range.end - part.range.begin),
                      beginsText && part.range.begin == 0};
      preTokenize(m_preTokenizers, word, stop, words);
    });
  }

  std::vector<std::unique_ptr<const Normalizer>> m_normalizers;
  std::vector<std::unique_ptr<const PreTokenizer>> m_preTokenizers;
  AddedTokenFinder m_rawTokens;
  AddedTokenFinder m_normalizedTokens;
};

}  // namespace spanscope::text
