// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/end_tokens.h"

#include "engine/base/error.h"
#include "engine/checkpoint/gguf/gguf_file.h"
#include "engine/checkpoint/json_reading.h"
#include "engine/query/shown_text.h"
#include "engine/text/piece_renderer.h"

#include <optional>
#include <string>

namespace spanscope::text {
namespace {

constexpr std::size_t kMostEndTokens = 1024;

std::string idsOf(std::int32_t vocabularySize) {
  return "an id of the model's vocabulary, 0 to " + std::to_string(vocabularySize - 1);
}

/// Returns the id of a piece that may not be declared a control piece.
std::optional<TokenId> idOf(const Tokenizer& tokenizer, const std::string& piece) {
  const TokenId control = tokenizer.controlId(piece);
  if (control >= 0) return control;
  for (TokenId id = 0; id < tokenizer.vocabularySize(); ++id) {
    if (tokenizer.display(id) == piece) return id;
  }
  return std::nullopt;
}

/// Older tokenizers get pieces from their configuration: {"32000": {"content": "<|im_end|>"}}.
std::optional<TokenId> addedId(const checkpoint::JsonPlace& config, const std::string& piece) {
  const checkpoint::JsonPlace added = config.field("added_tokens_decoder");
  if (added.isNull()) return std::nullopt;
  added.requireObject();
  for (const auto& [number, entry] : added.value().items()) {
    const checkpoint::JsonPlace token = added.member(number, entry);
    if (token.field("content").value() != piece) continue;
    const nlohmann::json id = nlohmann::json::parse(number, nullptr, false);
    return checkpoint::JsonPlace(id, token.pointer(), token.file()).requireId();
  }
  return std::nullopt;
}

/// Adds one piece, as a text or an object, or a list of pieces. Adds nothing for null and for an empty text.
void addPieces(const checkpoint::JsonPlace& place, const checkpoint::JsonPlace& config,
               const Tokenizer& tokenizer, std::int32_t vocabularySize, const std::string& source,
               std::vector<EndToken>& tokens) {
  if (place.isNull()) return;
  if (place.value().is_array()) {
    const std::size_t count = place.requireList(kMostEndTokens);
    for (std::size_t i = 0; i < count; ++i) {
      if (place.element(i).value().is_array()) throw place.element(i).unexpected("a text or an object");
      addPieces(place.element(i), config, tokenizer, vocabularySize, source, tokens);
    }
    return;
  }
  const checkpoint::JsonPlace text = place.value().is_object() ? place.field("content") : place;
  if (!text.value().is_string())
    throw text.unexpected("a text, an object with \"content\", or a list of texts and objects");
  const std::string& piece = text.requireText();
  if (piece.empty()) return;
  std::optional<TokenId> id = idOf(tokenizer, piece);
  if (!id) id = addedId(config, piece);
  if (!id)
    throw text.fail("the piece " + query::inQuotes(piece) + ", which the tokenizer does not have",
                    "a piece of the tokenizer");
  if (*id >= vocabularySize) {
    throw text.fail("the piece " + query::inQuotes(piece) + " with the id " + std::to_string(*id),
                    idsOf(vocabularySize));
  }
  addEndToken(tokens, *id, source);
}

void addGgufIds(const checkpoint::GgufMetadata& metadata, std::int32_t vocabularySize,
                std::vector<EndToken>& tokens) {
  for (const char* key :
       {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    const std::int64_t* id = metadata.integer(key);
    if (id == nullptr) continue;
    if (*id < 0 || *id >= vocabularySize) {
      throw Failure({metadata.file(), key, "the id " + std::to_string(*id), idsOf(vocabularySize)});
    }
    addEndToken(tokens, static_cast<TokenId>(*id),
                std::filesystem::path(metadata.file()).filename().string());
  }
}

}  // namespace

void addTokenizerEndTokens(const checkpoint::Checkpoint& checkpoint, const Tokenizer& tokenizer,
                           std::int32_t vocabularySize, std::vector<EndToken>& tokens) {
  for (const char* name : {"tokenizer_config.json", "special_tokens_map.json"}) {
    const std::optional<std::filesystem::path> path = checkpoint.find(name);
    if (!path) continue;
    checkpoint::readJsonFile(*path, checkpoint::kMaxTokenizerConfigBytes, "the configuration of a tokenizer",
                             [&](const checkpoint::JsonPlace& root) {
                               addPieces(root.field("eos_token"), root, tokenizer, vocabularySize, name,
                                         tokens);
                             });
  }
  const std::filesystem::path source = tokenizer.source();
  if (checkpoint::isGguf(source)) addGgufIds(checkpoint::GgufMetadata::read(source), vocabularySize, tokens);
}

void addClosingPiece(const ChatTemplate& chat, const Tokenizer& tokenizer, std::int32_t vocabularySize,
                     std::vector<EndToken>& tokens) {
  if (chat.answerSuffix.empty()) return;
  const TemplatePiece& first = chat.answerSuffix.front();
  std::string piece = first.control ? first.text : std::string();
  if (first.isRaw) {
    const std::optional<ControlPieces::Found> found = ControlPieces(tokenizer).find(first.text);
    if (found && trimmed(std::string_view(first.text).substr(0, found->begin), Trim::Both).empty())
      piece = first.text.substr(found->begin, found->length);
  }
  if (piece.empty()) return;
  const TokenId id = tokenizer.controlId(piece);
  if (id < 0) return;
  if (id >= vocabularySize) {
    throw Failure({tokenizer.source(), "chat template",
                   "the closing piece \"" + piece + "\" with the id " + std::to_string(id),
                   idsOf(vocabularySize)});
  }
  addEndToken(tokens, id, "the chat template");
}

}  // namespace spanscope::text
