// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/gguf_vocabulary.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/text/bpe_tokenizer.h"
#include "engine/text/sentencepiece_tokenizer.h"

#include <array>
#include <limits>
#include <string_view>

namespace spanscope::text {
namespace {

constexpr const char* kModelKey = "tokenizer.ggml.model";
constexpr const char* kPreKey = "tokenizer.ggml.pre";
constexpr const char* kTokensKey = "tokenizer.ggml.tokens";
constexpr const char* kTypesKey = "tokenizer.ggml.token_type";
constexpr const char* kScoresKey = "tokenizer.ggml.scores";
constexpr const char* kMergesKey = "tokenizer.ggml.merges";
constexpr const char* kSpacePrefixKey = "tokenizer.ggml.add_space_prefix";
constexpr const char* kExtraSpacesKey = "tokenizer.ggml.remove_extra_whitespaces";

/// The meaning of the name in `tokenizer.ggml.pre`.
struct PreTokenization {
  std::string_view name;
  WordPattern words = WordPattern::Gpt2;
  bool singleDigits = false;     ///< every digit is a word of its own
  bool normalized = false;       ///< the text is put in the normal form C
  bool wholeWordsFirst = false;  ///< a word that is a piece is not split
};

// Names of llama.cpp (src/llama-vocab.cpp). The checkpoints' tokenizer.json defines what they mean.
constexpr std::array kKnown = {
    PreTokenization{"gpt-2", WordPattern::Gpt2},
    PreTokenization{"llama-bpe", WordPattern::Llama3, false, false, true},
    PreTokenization{"llama-v3", WordPattern::Llama3, false, false, true},
    PreTokenization{"llama3", WordPattern::Llama3, false, false, true},
    PreTokenization{"qwen2", WordPattern::Qwen2, false, true},
    PreTokenization{"deepseek-r1-qwen", WordPattern::Qwen2, false, true},
    PreTokenization{"starcoder", WordPattern::Gpt2, true},
    PreTokenization{"refact", WordPattern::Gpt2, true},
    PreTokenization{"smollm", WordPattern::Gpt2, true},
};

Failure failAt(const checkpoint::GgufMetadata& metadata, const std::string& key, std::string found,
               std::string expected) {
  return Failure({metadata.file(), key, std::move(found), std::move(expected)});
}

const std::vector<std::string>& requireTexts(const checkpoint::GgufMetadata& metadata, const char* key,
                                             std::size_t limit) {
  const std::vector<std::string>* texts = metadata.texts(key);
  if (texts == nullptr) throw failAt(metadata, key, "nothing", "a list of texts");
  if (texts->size() > limit) {
    throw failAt(metadata, key, std::to_string(texts->size()) + " texts", "at most " + std::to_string(limit));
  }
  for (std::size_t i = 0; i < texts->size(); ++i) {
    if (!isValidUtf8((*texts)[i])) {
      throw failAt(metadata, key, "a text (number " + std::to_string(i) + ") that is not UTF-8", "UTF-8");
    }
  }
  return *texts;
}

/// The types of all pieces; "normal" if the file gives none.
std::vector<SentencePiece::Type> readTypes(const checkpoint::GgufMetadata& metadata, std::size_t pieces) {
  std::vector<SentencePiece::Type> types(pieces, SentencePiece::Type::Normal);
  const std::vector<std::int64_t>* numbers = metadata.integers(kTypesKey);
  if (numbers == nullptr) return types;
  if (numbers->size() != pieces) {
    throw failAt(metadata, kTypesKey, counted(numbers->size(), "type"),
                 "one for each of the " + counted(pieces, "piece"));
  }
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::int64_t number = (*numbers)[i];
    if (number < 1 || number > 6) {
      throw failAt(metadata, kTypesKey,
                   "the type " + std::to_string(number) + " of piece " + std::to_string(i),
                   "a type from 1 to 6");
    }
    types[i] = static_cast<SentencePiece::Type>(number);
  }
  return types;
}

const PreTokenization& requirePreTokenization(const checkpoint::GgufMetadata& metadata) {
  const std::string* name = metadata.text(kPreKey);
  std::string names;
  for (const PreTokenization& known : kKnown) {
    if (name != nullptr && known.name == *name) return known;
    names += (names.empty() ? "" : ", ") + std::string(known.name);
  }
  throw failAt(metadata, kPreKey,
               name == nullptr ? "nothing" : "the pre-tokenizer \"" + toValidUtf8(*name) + "\"",
               "one of the known: " + names);
}

void addPipeline(const PreTokenization& pre, BpeDescription& description) {
  if (pre.normalized) description.normalizers.push_back(unicodeNormalizer(NormalForm::C));
  if (pre.singleDigits) {
    description.preTokenizers.push_back(
        splitPreTokenizer(digitsPattern(true), SplitBehavior::Isolated, false));
  }
  description.preTokenizers.push_back(
      splitPreTokenizer(wordPattern(pre.words), SplitBehavior::Isolated, false));
  description.byteLevel = true;
  description.wholeWordsFirst = pre.wholeWordsFirst;
}

void addPieces(const checkpoint::GgufMetadata& metadata, BpeDescription& description) {
  const std::vector<std::string>& tokens = requireTexts(metadata, kTokensKey, kMaxVocabulary);
  const std::vector<SentencePiece::Type> types = readTypes(metadata, tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    description.vocabulary.emplace_back(tokens[i], id);
    const SentencePiece::Type type = types[i];
    if (type == SentencePiece::Type::Normal || type == SentencePiece::Type::Byte) continue;
    if (tokens[i].empty() || tokens[i].size() > kMaxAddedTokenBytes) {
      throw failAt(metadata, kTokensKey,
                   std::to_string(tokens[i].size()) + " bytes of the marker with the id " + std::to_string(i),
                   "1 to " + std::to_string(kMaxAddedTokenBytes) + " bytes");
    }
    AddedToken token;
    token.id = id;
    token.content = tokens[i];
    token.special = type != SentencePiece::Type::UserDefined;
    description.addedTokens.push_back(std::move(token));
  }
}

void addMerges(const checkpoint::GgufMetadata& metadata, BpeDescription& description) {
  for (const std::string& merge : requireTexts(metadata, kMergesKey, kMaxMerges)) {
    const std::size_t space = merge.find(' ');
    if (space == std::string::npos || merge.find(' ', space + 1) != std::string::npos) {
      throw failAt(metadata, kMergesKey, "\"" + merge.substr(0, 60) + "\"",
                   "two pieces with one space between them");
    }
    description.merges.emplace_back(merge.substr(0, space), merge.substr(space + 1));
  }
}

std::unique_ptr<Tokenizer> makeByteLevel(const checkpoint::GgufMetadata& metadata) {
  BpeDescription description;
  addPipeline(requirePreTokenization(metadata), description);
  const bool* spacePrefix = metadata.boolean(kSpacePrefixKey);
  if (spacePrefix != nullptr && *spacePrefix) {
    throw failAt(metadata, kSpacePrefixKey, "true", "false: this kind of vocabulary takes the text as it is");
  }
  addPieces(metadata, description);
  addMerges(metadata, description);
  return makeBpeTokenizer(std::move(description), metadata.file(), kTokensKey);
}

std::unique_ptr<Tokenizer> makeSentencePiece(const checkpoint::GgufMetadata& metadata) {
  const bool* extraSpaces = metadata.boolean(kExtraSpacesKey);
  if (extraSpaces != nullptr && *extraSpaces) {
    throw failAt(metadata, kExtraSpacesKey, "removal of white space",
                 "a tokenizer that keeps white space as it is");
  }
  const std::vector<std::string>& tokens = requireTexts(metadata, kTokensKey, kMaxPieces);
  const std::vector<SentencePiece::Type> types = readTypes(metadata, tokens.size());
  const std::vector<double>* scores = metadata.numbers(kScoresKey);
  if (scores == nullptr || scores->size() != tokens.size()) {
    throw failAt(metadata, kScoresKey, scores == nullptr ? "nothing" : counted(scores->size(), "score"),
                 "one for each of the " + counted(tokens.size(), "piece"));
  }
  SentencePieceModel model;
  model.algorithm = SentencePieceModel::Algorithm::Bpe;
  const bool* spacePrefix = metadata.boolean(kSpacePrefixKey);
  model.addDummyPrefix = spacePrefix == nullptr || *spacePrefix;
  model.pieces.reserve(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    model.byteFallback = model.byteFallback || types[i] == SentencePiece::Type::Byte;
    model.pieces.push_back({tokens[i], static_cast<float>((*scores)[i]), types[i]});
  }
  checkSentencePieceModel(model, metadata.file());
  return makeSentencePieceTokenizer(std::move(model), metadata.file());
}

}  // namespace

std::unique_ptr<Tokenizer> makeGgufTokenizer(const checkpoint::GgufMetadata& metadata) {
  const std::string* model = metadata.text(kModelKey);
  if (model != nullptr && *model == "gpt2") return makeByteLevel(metadata);
  if (model != nullptr && *model == "llama") return makeSentencePiece(metadata);
  throw failAt(metadata, kModelKey,
               model == nullptr ? "nothing" : "the kind of vocabulary \"" + toValidUtf8(*model) + "\"",
               "gpt2 or llama");
}

}  // namespace spanscope::text
