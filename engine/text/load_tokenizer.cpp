// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/checkpoint/file_bytes.h"
#include "engine/checkpoint/gguf/gguf_paths.h"
#include "engine/text/gguf_vocabulary.h"
#include "engine/text/model_path.h"
#include "engine/text/sentencepiece_tokenizer.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_json.h"

#include <optional>
#include <system_error>

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

bool isThere(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

}  // namespace

std::unique_ptr<Tokenizer> loadTokenizer(const std::filesystem::path& directory) {
  requireModelPath(directory);
  if (isThere(directory / "tokenizer.json")) return loadJson(directory / "tokenizer.json");
  if (isThere(directory / "tokenizer.model")) return loadSentencePiece(directory / "tokenizer.model");
  const std::optional<std::filesystem::path> gguf = checkpoint::findGguf(directory);
  if (gguf) return makeGgufTokenizer(checkpoint::GgufMetadata::read(*gguf));
  throw Failure({directory.string(), "", "no tokenizer in it",
                 "a directory with tokenizer.json, tokenizer.model or a .gguf file"});
}

}  // namespace spanscope::text
