// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/tokenizer.h"

#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/text/gguf_vocabulary.h"
#include "engine/text/sentencepiece_tokenizer.h"
#include "engine/text/tokenizer_json.h"

namespace spanscope::text {

std::vector<TokenId> Tokenizer::encode(std::string_view text, const EncodeLimits& limits) const {
  std::vector<TokenId> ids;
  encodeTo(text, limits.stop, [&](std::span<const TokenId> made) {
    ids.insert(ids.end(), made.begin(), made.end());
    return ids.size() <= limits.mostTokens;
  });
  return ids;
}

std::size_t Tokenizer::count(std::string_view text, const EncodeLimits& limits) const {
  std::size_t tokens = 0;
  encodeTo(text, limits.stop, [&](std::span<const TokenId> made) {
    tokens += made.size();
    return tokens <= limits.mostTokens;
  });
  return tokens;
}

std::string Tokenizer::decode(const std::vector<TokenId>& ids) const {
  std::string joined;
  for (const TokenId id : ids) joined += bytes(id);
  return toValidUtf8(joined);
}

std::string StreamDecoder::push(TokenId id) {
  m_pending += m_tokenizer->bytes(id);
  const std::size_t settled = settledUtf8Length(m_pending);
  std::string text = toValidUtf8(std::string_view(m_pending).substr(0, settled));
  m_pending.erase(0, settled);
  return text;
}

std::string StreamDecoder::finish() {
  std::string text = toValidUtf8(m_pending);
  m_pending.clear();
  return text;
}

namespace {

constexpr std::uintmax_t kMaxModelBytes = std::uintmax_t{256} << 20U;

std::unique_ptr<Tokenizer> loadJson(const std::filesystem::path& path) {
  const std::string bytes =
      checkpoint::readFileBytes(path, kMaxTokenizerJsonBytes, "the description of a tokenizer");
  return makeJsonTokenizer(bytes, path.string());
}

std::unique_ptr<Tokenizer> loadSentencePiece(const std::filesystem::path& path) {
  const std::string bytes = checkpoint::readFileBytes(path, kMaxModelBytes, "a sentencepiece model");
  return makeSentencePieceTokenizer(parseSentencePieceModel(bytes, path.string()), path.string());
}

}  // namespace

std::unique_ptr<Tokenizer> loadTokenizer(const checkpoint::Checkpoint& checkpoint) {
  checkpoint.require();
  if (const auto json = checkpoint.find("tokenizer.json")) return loadJson(*json);
  if (const auto pieces = checkpoint.find("tokenizer.model")) return loadSentencePiece(*pieces);
  if (const auto gguf = checkpoint.anyGguf()) return makeGgufTokenizer(checkpoint::GgufMetadata::read(*gguf));
  throw Failure({checkpoint.path().string(), "", "no tokenizer in it",
                 "a directory with tokenizer.json, tokenizer.model or a .gguf file"});
}

}  // namespace spanscope::text
