// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/text/gguf_vocabulary.h"
#include "engine/text/sentencepiece_tokenizer.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_json.h"

namespace spanscope::text {
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
