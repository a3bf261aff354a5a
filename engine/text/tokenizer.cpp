// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/tokenizer.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/checkpoint/json_reading.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/text/bpe_tokenizer.h"
#include "engine/text/gguf_pre_tokenizer.h"
#include "engine/text/sentencepiece_tokenizer.h"
#include "engine/text/word_tokenizers.h"

#include <algorithm>
#include <array>
#include <optional>

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

constexpr const char* kModelKey = "tokenizer.ggml.model";
constexpr const char* kPreKey = "tokenizer.ggml.pre";
constexpr const char* kTokensKey = "tokenizer.ggml.tokens";
constexpr const char* kTypesKey = "tokenizer.ggml.token_type";
constexpr const char* kScoresKey = "tokenizer.ggml.scores";
constexpr const char* kUnknownKey = "tokenizer.ggml.unknown_token_id";
constexpr const char* kMergesKey = "tokenizer.ggml.merges";
constexpr const char* kSpacePrefixKey = "tokenizer.ggml.add_space_prefix";
constexpr const char* kExtraSpacesKey = "tokenizer.ggml.remove_extra_whitespaces";

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

/// Older converters also mark padding pieces as unknown. The file then names the piece for unknown text.
void keepOneUnknown(const checkpoint::GgufMetadata& metadata, std::vector<SentencePiece::Type>& types) {
  const std::int64_t* unknown = metadata.integer(kUnknownKey);
  const auto marked = std::count(types.begin(), types.end(), SentencePiece::Type::Unknown);
  if (unknown == nullptr || marked < 2 || *unknown < 0 || static_cast<std::size_t>(*unknown) >= types.size())
    return;
  std::replace(types.begin(), types.end(), SentencePiece::Type::Unknown, SentencePiece::Type::Unused);
  types[static_cast<std::size_t>(*unknown)] = SentencePiece::Type::Unknown;
}

/// Gemma 4's kind of vocabulary has one pre-tokenizer, which the file need not name.
constexpr std::string_view kGemma4 = "gemma4";

/// Returns null if the file's pre-tokenizer or kind of vocabulary is unknown.
const GgufPreTokenizer* preTokenizerOf(const checkpoint::GgufMetadata& metadata) {
  const std::string* model = metadata.text(kModelKey);
  if (model != nullptr && *model == kGemma4) return findGgufPreTokenizer(kGemma4);
  const std::string* name = metadata.text(kPreKey);
  return name == nullptr ? nullptr : findGgufPreTokenizer(*name);
}

const GgufPreTokenizer& requirePreTokenizer(const checkpoint::GgufMetadata& metadata) {
  if (const GgufPreTokenizer* rules = preTokenizerOf(metadata)) return *rules;
  const std::string* name = metadata.text(kPreKey);
  throw failAt(metadata, kPreKey,
               name == nullptr ? "nothing" : "the pre-tokenizer \"" + toValidUtf8(*name) + "\"",
               "a known pre-tokenizer such as llama-bpe, qwen2 or default, or the model's " +
                   /*id:tokenizer-json-beside*/ std::string("tokenizer.json beside the file"));
}

void addPipeline(const GgufPreTokenizer& rules, BpeDescription& description) {
  if (rules.normalized) description.normalizers.push_back(unicodeNormalizer(NormalForm::C));
  description.byteLevel = rules.alphabet == GgufPreTokenizer::Alphabet::ByteLetters;
  if (!description.byteLevel) {
    description.normalizers.push_back(replaceNormalizer(literalPattern(" "), std::string(kSpaceMark)));
    description.spaceMark = kSpaceMark;
    description.byteFallback = true;
  }
  description.preTokenizers = stepsOf(rules);
  description.wholeWordsFirst = rules.wholeWordsFirst;
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
      throw failAt(
          metadata, kTokensKey,
          std::to_string(tokens[i].size()) + " bytes of the added token with the id " + std::to_string(i),
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

std::unique_ptr<Tokenizer> makeBytePair(const checkpoint::GgufMetadata& metadata) {
  BpeDescription description;
  addPipeline(requirePreTokenizer(metadata), description);
  const bool* spacePrefix = metadata.boolean(kSpacePrefixKey);
  if (spacePrefix != nullptr && *spacePrefix) {
    throw failAt(metadata, kSpacePrefixKey, "true",
                 "false, because this kind of vocabulary does not change the text");
  }
  addPieces(metadata, description);
  addMerges(metadata, description);
  return makeBpeTokenizer(std::move(description), metadata.file(), kTokensKey);
}

std::unique_ptr<Tokenizer> makeSentencePiece(const checkpoint::GgufMetadata& metadata) {
  const bool* extraSpaces = metadata.boolean(kExtraSpacesKey);
  if (extraSpaces != nullptr && *extraSpaces) {
    throw failAt(metadata, kExtraSpacesKey, "removal of white space", "a tokenizer that keeps white space");
  }
  const std::vector<std::string>& tokens = requireTexts(metadata, kTokensKey, kMaxPieces);
  std::vector<SentencePiece::Type> types = readTypes(metadata, tokens.size());
  keepOneUnknown(metadata, types);
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
  if (model != nullptr && (*model == "gpt2" || *model == kGemma4)) return makeBytePair(metadata);
  if (model != nullptr && *model == "llama") return makeSentencePiece(metadata);
  throw failAt(metadata, kModelKey,
               model == nullptr ? "nothing" : "the kind of vocabulary \"" + toValidUtf8(*model) + "\"",
               "gpt2, gemma4 or llama, or the model's tokenizer.json beside the file");
}

namespace {

/// Whether the file contains everything that defines its tokenizer.
bool describesTokenizer(const checkpoint::GgufMetadata& metadata) {
  const std::string* model = metadata.text(kModelKey);
  if (model == nullptr) return false;
  if (*model == "llama") return true;
  return (*model == "gpt2" || *model == kGemma4) && preTokenizerOf(metadata) != nullptr;
}

/// Throws Failure unless the tokenizer has the pieces of the GGUF file. A folder may contain the tokenizer of
/// another model.
void requireSamePieces(const checkpoint::GgufMetadata& metadata, const Tokenizer& tokenizer) {
  const std::vector<std::string>& tokens = requireTexts(metadata, kTokensKey, kMaxVocabulary);
  const std::vector<SentencePiece::Type> types = readTypes(metadata, tokens.size());
  const std::string* model = metadata.text(kModelKey);
  const bool isByteLevel = model != nullptr && *model == "gpt2";
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    // Other kinds of vocabularies spell their pieces differently in the two files.
    if (!isByteLevel || types[i] != SentencePiece::Type::Normal) continue;
    const auto id = static_cast<TokenId>(i);
    if (tokenizer.bytes(id) == bytesOfLetters(tokens[i]).value_or(tokens[i])) continue;
    throw Failure({tokenizer.source(), "/model/vocab",
                   "\"" + tokenizer.display(id) + "\" with the id " + std::to_string(i),
                   "the tokenizer of " + metadata.file() + ", where the piece is \"" + tokens[i] + "\""});
  }
}

/// Makes the tokenizer of a GGUF file. If the file has an unknown pre-tokenizer, a tokenizer.json beside the
/// file defines the tokenizer.
std::unique_ptr<Tokenizer> loadGguf(const std::filesystem::path& path) {
  const checkpoint::GgufMetadata metadata = checkpoint::GgufMetadata::read(path);
  const std::filesystem::path json = path.parent_path() / "tokenizer.json";
  std::error_code error;
  if (describesTokenizer(metadata) || !std::filesystem::exists(json, error))
    return makeGgufTokenizer(metadata);
  std::unique_ptr<Tokenizer> tokenizer = loadJson(json);
  requireSamePieces(metadata, *tokenizer);
  return tokenizer;
}

}  // namespace

std::unique_ptr<Tokenizer> loadTokenizer(const checkpoint::Checkpoint& checkpoint) {
  checkpoint.require();
  if (const auto json = checkpoint.find("tokenizer.json")) return loadJson(*json);
  if (const auto pieces = checkpoint.find("tokenizer.model")) return loadSentencePiece(*pieces);
  if (const auto gguf = checkpoint.anyGguf()) return loadGguf(*gguf);
  throw Failure({checkpoint.path().string(), "", /*id:no-tokenizer*/ "no tokenizer",
                 "a directory with tokenizer.json, tokenizer.model or a .gguf file"});
}

namespace {

constexpr std::size_t kMaxSteps = 64;
constexpr int kMaxNestedSequences = 8;

Failure unsupported(const checkpoint::JsonPlace& place, const std::string& what,
                    const std::string& supported) {
  return place.fail(what + " \"" + toValidUtf8(place.field("type").textOrEmpty()) + "\"", supported);
}

/// The steps of a "Sequence", or the single step, passed in order. Null has no steps.
template <class Read>
void forEachStep(const checkpoint::JsonPlace& place, const char* listName, const Read& read, int depth = 0) {
  if (place.isNull()) return;
  if (place.field("type").requireText() != "Sequence") {
    read(place);
    return;
  }
  if (depth == kMaxNestedSequences) {
    throw place.fail("a sequence within " + std::to_string(depth) + " others", "fewer sequences");
  }
  const checkpoint::JsonPlace list = place.field(listName);
  const std::size_t count = list.requireList(kMaxSteps);
  for (std::size_t i = 0; i < count; ++i) forEachStep(list.element(i), listName, read, depth + 1);
}

std::optional<std::string> bytesOfBase64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char digit : text) {
    const std::size_t value = kDigits.find(digit);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(static_cast<unsigned char>(bits >> static_cast<unsigned>(count)));
  }
  return bytes;
}

/// {"String": …} or {"Regex": …}.
std::unique_ptr<const TextPattern> readPattern(const checkpoint::JsonPlace& place) {
  const checkpoint::JsonPlace literal = place.field("String");
  if (!literal.isNull()) {
    if (literal.requireText().empty()) throw literal.fail("an empty text", "at least one character");
    return literalPattern(literal.requireText());
  }
  const checkpoint::JsonPlace expression = place.field("Regex");
  if (expression.isNull()) throw place.unexpected("\"String\" or \"Regex\"");
  return expressionPattern(expression.requireText(), expression.file(), expression.pointer());
}

void readBertNormalizer(const checkpoint::JsonPlace& place, PipelineDescription& description) {
  BertRules rules;
  rules.cleans = place.field("clean_text").boolOr(true);
  rules.spacesIdeographs = place.field("handle_chinese_chars").boolOr(true);
  rules.lowercases = place.field("lowercase").boolOr(true);
  rules.stripsAccents = place.field("strip_accents").boolOr(rules.lowercases);
  description.normalizers.push_back(bertNormalizer(rules));
}

/// A table in base64.
void readCharacterMap(const checkpoint::JsonPlace& place, PipelineDescription& description) {
  if (place.textOrEmpty().empty()) return;
  const std::optional<std::string> table = bytesOfBase64(place.requireText());
  auto normalizer = table ? characterMapNormalizer(*table) : nullptr;
  if (normalizer == nullptr) throw place.fail("no table of characters", "a table of sentencepiece in base64");
  description.normalizers.push_back(std::move(normalizer));
}

void readNormalizer(const checkpoint::JsonPlace& place, PipelineDescription& description) {
  constexpr std::array<std::pair<std::string_view, NormalForm>, 4> kForms = {
      {{"NFC", NormalForm::C}, {"NFD", NormalForm::D}, {"NFKC", NormalForm::Kc}, {"NFKD", NormalForm::Kd}}};
  const std::string& type = place.field("type").requireText();
  for (const auto& [name, form] : kForms) {
    if (type != name) continue;
    description.normalizers.push_back(unicodeNormalizer(form));
    return;
  }
  if (type == "Prepend") {
    description.normalizers.push_back(prependNormalizer(place.field("prepend").requireText()));
  } else if (type == "Replace") {
    description.normalizers.push_back(
        replaceNormalizer(readPattern(place.field("pattern")), place.field("content").requireText()));
  } else if (type == "Lowercase") {
    description.normalizers.push_back(lowercaseNormalizer());
  } else if (type == "Strip") {
    description.normalizers.push_back(
        stripNormalizer(place.field("strip_left").boolOr(true), place.field("strip_right").boolOr(true)));
  } else if (type == "StripAccents") {
    description.normalizers.push_back(marksNormalizer());
  } else if (type == "BertNormalizer") {
    readBertNormalizer(place, description);
  } else if (type == "Precompiled") {
    readCharacterMap(place.field("precompiled_charsmap"), description);
  } else {
    throw unsupported(
        place, "the normalizer",
        "NFC, NFD, NFKC, NFKD, Prepend, Replace, Lowercase, Strip, StripAccents, BertNormalizer, "
        "Precompiled or Sequence");
  }
}

SplitBehavior readBehavior(const checkpoint::JsonPlace& place) {
  constexpr std::array<std::pair<std::string_view, SplitBehavior>, 5> kBehaviors = {
      {{"Removed", SplitBehavior::Removed},
       {"Isolated", SplitBehavior::Isolated},
       {"MergedWithPrevious", SplitBehavior::MergedWithPrevious},
       {"MergedWithNext", SplitBehavior::MergedWithNext},
       {"Contiguous", SplitBehavior::Contiguous}}};
  for (const auto& [name, behavior] : kBehaviors) {
    if (place.requireText() == name) return behavior;
  }
  throw place.unexpected("Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
}

void readMetaspace(const checkpoint::JsonPlace& place, PipelineDescription& description) {
  const std::string mark = place.field("replacement").requireText();
  if (mark.empty()) throw place.field("replacement").unexpected("one character");
  const checkpoint::JsonPlace scheme = place.field("prepend_scheme");
  PrependScheme prepend = PrependScheme::Always;
  if (scheme.isNull()) {
    prepend = place.field("add_prefix_space").boolOr(true) ? PrependScheme::Always : PrependScheme::Never;
  } else if (scheme.requireText() == "first") {
    prepend = PrependScheme::First;
  } else if (scheme.requireText() == "never") {
    prepend = PrependScheme::Never;
  } else if (scheme.requireText() != "always") {
    throw scheme.unexpected("always, first or never");
  }
  description.preTokenizers.push_back(
      metaspacePreTokenizer(mark, prepend, place.field("split").boolOr(true)));
  description.spaceMark = mark;
}

void readByteLevel(const checkpoint::JsonPlace& place, PipelineDescription& description) {
  if (place.field("add_prefix_space").boolOr(true)) {
    description.preTokenizers.push_back(prefixSpacePreTokenizer());
  }
  if (place.field("use_regex").boolOr(true)) {
    description.preTokenizers.push_back(
        splitPreTokenizer(wordPattern(WordPattern::Gpt2), SplitBehavior::Isolated, false));
  }
  description.byteLevel = true;
}

constexpr const char* kWhiteSpace = R"(\s+)";
constexpr const char* kWordsOrSymbols = R"([\w]+|[^\w\s]+)";
constexpr const char* kPunctuation = R"([\p{P}!-/:-@\[-`{-~])";

void addSplit(const char* expression, SplitBehavior behavior, bool invert, PipelineDescription& description) {
  description.preTokenizers.push_back(
      splitPreTokenizer(expressionPattern(expression, "", expression), behavior, invert));
}

void readPreTokenizer(const checkpoint::JsonPlace& place, PipelineDescription& description) {
  const std::string& type = place.field("type").requireText();
  if (description.byteLevel) {
    throw unsupported(place, "after ByteLevel, the pre-tokenizer", "ByteLevel as the last pre-tokenizer");
  }
  if (type == "ByteLevel") {
    readByteLevel(place, description);
  } else if (type == "Split") {
    description.preTokenizers.push_back(splitPreTokenizer(readPattern(place.field("pattern")),
                                                          readBehavior(place.field("behavior")),
                                                          place.field("invert").boolOr(false)));
  } else if (type == "Digits") {
    const bool individual = place.field("individual_digits").boolOr(false);
    description.preTokenizers.push_back(splitPreTokenizer(
        digitsPattern(individual), individual ? SplitBehavior::Isolated : SplitBehavior::Contiguous, false));
  } else if (type == "Metaspace") {
    readMetaspace(place, description);
  } else if (type == "WhitespaceSplit") {
    addSplit(kWhiteSpace, SplitBehavior::Removed, false, description);
  } else if (type == "Whitespace") {
    addSplit(kWordsOrSymbols, SplitBehavior::Removed, true, description);
  } else if (type == "Punctuation") {
    const checkpoint::JsonPlace behavior = place.field("behavior");
    addSplit(kPunctuation, behavior.isNull() ? SplitBehavior::Isolated : readBehavior(behavior), false,
             description);
  } else if (type == "BertPreTokenizer") {
    addSplit(kWhiteSpace, SplitBehavior::Removed, false, description);
    addSplit(kPunctuation, SplitBehavior::Isolated, false, description);
  } else {
    throw unsupported(place, "the pre-tokenizer",
                      "ByteLevel, Split, Digits, Metaspace, Whitespace, WhitespaceSplit, Punctuation, "
                      "BertPreTokenizer or Sequence");
  }
}

/// A decoder defines how a space is written. The other parts show that bytes are joined.
void readDecoder(const checkpoint::JsonPlace& place, PipelineDescription& description) {
  const std::string& type = place.field("type").requireText();
  if (type == "Metaspace") {
    description.spaceMark = place.field("replacement").requireText();
  } else if (type == "Replace") {
    const checkpoint::JsonPlace literal = place.field("pattern").field("String");
    if (place.field("content").requireText() != " " || literal.textOrEmpty().empty()) {
      throw place.fail("a decoder that replaces something other than the space mark",
                       "the space mark and \" \"");
    }
    description.spaceMark = literal.requireText();
  } else if (type == "ByteLevel") {
    if (!description.byteLevel) {
      throw place.fail("the decoder \"ByteLevel\"", "the pre-tokenizer ByteLevel with this decoder");
    }
  } else if (type != "ByteFallback" && type != "Fuse" && type != "Strip" && type != "WordPiece") {
    throw unsupported(place, "the decoder",
                      "ByteLevel, Metaspace, Replace, ByteFallback, Fuse, Strip, WordPiece or Sequence");
  }
}

void readAddedTokens(const checkpoint::JsonPlace& list, PipelineDescription& description) {
  if (list.isNull()) return;
  const std::size_t count = list.requireList(kMaxAddedTokens);
  for (std::size_t i = 0; i < count; ++i) {
    const checkpoint::JsonPlace entry = list.element(i);
    AddedToken token;
    token.id = entry.field("id").requireId();
    token.content = entry.field("content").requireText();
    if (token.content.empty() || token.content.size() > kMaxAddedTokenBytes) {
      throw entry.field("content").fail(std::to_string(token.content.size()) + " bytes",
                                        "1 to " + std::to_string(kMaxAddedTokenBytes) + " bytes");
    }
    token.special = entry.field("special").boolOr(false);
    token.normalized = entry.field("normalized").boolOr(!token.special);
    token.singleWord = entry.field("single_word").boolOr(false);
    token.leftStrip = entry.field("lstrip").boolOr(false);
    token.rightStrip = entry.field("rstrip").boolOr(false);
    description.addedTokens.push_back(std::move(token));
  }
}

template <class Description>
void readVocabulary(const checkpoint::JsonPlace& place, Description& description) {
  place.requireObject();
  if (place.value().empty()) throw place.fail("no pieces", "a vocabulary");
  if (place.value().size() > kMaxVocabulary) {
    throw place.fail(std::to_string(place.value().size()) + " pieces",
                     "at most " + std::to_string(kMaxVocabulary));
  }
  description.vocabulary.reserve(place.value().size());
  for (const auto& [spelling, id] : place.value().items()) {
    description.vocabulary.emplace_back(spelling, place.member(spelling, id).requireId());
  }
}

/// "a b", or in newer files ["a", "b"].
std::pair<std::string, std::string> readMerge(const checkpoint::JsonPlace& place) {
  if (place.value().is_array()) {
    if (place.value().size() != 2) throw place.unexpected("a pair of texts");
    return {place.element(0).requireText(), place.element(1).requireText()};
  }
  const std::string& both = place.requireText();
  const std::size_t space = both.find(' ');
  if (space == std::string::npos || both.find(' ', space + 1) != std::string::npos) {
    throw place.unexpected("two pieces with one space between them");
  }
  return {both.substr(0, space), both.substr(space + 1)};
}

/// Settings that change the tokens of a text. Each setting must have the value that changes nothing.
void requireUnset(const checkpoint::JsonPlace& model) {
  for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const checkpoint::JsonPlace setting = model.field(name);
    if (!setting.textOrEmpty().empty()) throw setting.unexpected("no value: such pieces are not supported");
  }
  const checkpoint::JsonPlace dropout = model.field("dropout");
  if (!dropout.isNull() && dropout.value() != 0) {
    throw dropout.unexpected("no dropout, because dropout gives one text many tokenizations");
  }
}

void readModel(const checkpoint::JsonPlace& model, BpeDescription& description) {
  model.requireObject();
  requireUnset(model);
  description.byteFallback = model.field("byte_fallback").boolOr(false);
  description.fuseUnknown = model.field("fuse_unk").boolOr(false);
  description.wholeWordsFirst = model.field("ignore_merges").boolOr(false);
  description.unknownPiece = model.field("unk_token").textOrEmpty();
  readVocabulary(model.field("vocab"), description);
  const checkpoint::JsonPlace merges = model.field("merges");
  const std::size_t count = merges.requireList(kMaxMerges);
  description.merges.reserve(count);
  for (std::size_t i = 0; i < count; ++i) description.merges.push_back(readMerge(merges.element(i)));
}

void readPipeline(const checkpoint::JsonPlace& root, PipelineDescription& description) {
  readAddedTokens(root.field("added_tokens"), description);
  forEachStep(root.field("normalizer"), "normalizers",
              [&](const checkpoint::JsonPlace& step) { readNormalizer(step, description); });
  forEachStep(root.field("pre_tokenizer"), "pretokenizers",
              [&](const checkpoint::JsonPlace& step) { readPreTokenizer(step, description); });
  forEachStep(root.field("decoder"), "decoders",
              [&](const checkpoint::JsonPlace& step) { readDecoder(step, description); });
  if (description.byteLevel) description.spaceMark.clear();
}

/// Words as bytes belong to byte-pair vocabularies.
void refuseByteLevel(const checkpoint::JsonPlace& root, const PipelineDescription& description) {
  if (description.byteLevel)
    throw root.field("pre_tokenizer").fail("the pre-tokenizer \"ByteLevel\"", "ByteLevel with the model BPE");
}

UnigramDescription readUnigram(const checkpoint::JsonPlace& root) {
  UnigramDescription description;
  const checkpoint::JsonPlace model = root.field("model");
  const checkpoint::JsonPlace pieces = model.field("vocab");
  const std::size_t count = pieces.requireList(kMaxVocabulary);
  description.pieces.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const checkpoint::JsonPlace entry = pieces.element(i);
    if (entry.requireList(2) != 2) throw entry.unexpected("a pair of a piece and a number");
    description.pieces.emplace_back(entry.element(0).requireText(),
                                    entry.element(1).requireNumber(-1e9, 1e9));
  }
  const checkpoint::JsonPlace unknown = model.field("unk_id");
  if (!unknown.isNull()) description.unknown = unknown.requireId();
  description.byteFallback = model.field("byte_fallback").boolOr(false);
  readPipeline(root, description);
  refuseByteLevel(root, description);
  return description;
}

WordPieceDescription readWordPiece(const checkpoint::JsonPlace& root) {
  WordPieceDescription description;
  const checkpoint::JsonPlace model = root.field("model");
  readVocabulary(model.field("vocab"), description);
  constexpr std::int64_t kMostCharacters = 1 << 20;
  description.unknownPiece = model.text("unk_token").value_or(description.unknownPiece);
  description.continuationPrefix =
      model.text("continuing_subword_prefix").value_or(description.continuationPrefix);
  description.longestWord = static_cast<std::size_t>(model.integer(
      "max_input_chars_per_word", 1, kMostCharacters, static_cast<std::int64_t>(description.longestWord)));
  readPipeline(root, description);
  refuseByteLevel(root, description);
  return description;
}

std::unique_ptr<Tokenizer> makeTokenizer(const checkpoint::JsonPlace& root, const std::string& file) {
  constexpr const char* kVocabulary = "/model";
  const checkpoint::JsonPlace model = root.field("model");
  model.requireObject();
  const checkpoint::JsonPlace type = model.field("type");
  const bool isUntyped = type.isNull() && !model.field("merges").isNull();
  if (isUntyped || type.requireText() == "BPE") {
    BpeDescription description;
    readModel(model, description);
    readPipeline(root, description);
    return makeBpeTokenizer(std::move(description), file, kVocabulary);
  }
  if (type.requireText() == "Unigram") return makeUnigramTokenizer(readUnigram(root), file, kVocabulary);
  if (type.requireText() == "WordPiece")
    return makeWordPieceTokenizer(readWordPiece(root), file, kVocabulary);
  throw unsupported(model, "the model", "BPE, Unigram or WordPiece");
}

}  // namespace

std::unique_ptr<Tokenizer> makeJsonTokenizer(std::string_view bytes, const std::string& file) {
  return checkpoint::readJsonText(
      bytes, file, "the description of a tokenizer",
      [&](const checkpoint::JsonPlace& root) { return makeTokenizer(root, file); });
}

namespace {

/// The control piece after the text in a template of the post-processor, or "".
std::string finalPieceOf(const checkpoint::JsonPlace& processor) {
  std::string piece;
  forEachStep(processor, "processors", [&piece](const checkpoint::JsonPlace& step) {
    if (step.field("type").requireText() != "TemplateProcessing") return;
    const checkpoint::JsonPlace single = step.field("single");
    const std::size_t count = single.requireList(kMaxSteps);
    if (count == 0) return;
    const checkpoint::JsonPlace last = single.element(count - 1).field("SpecialToken");
    piece = last.isNull() ? std::string() : last.field("id").requireText();
  });
  return piece;
}

}  // namespace

TokenId finalTokenOf(const checkpoint::Checkpoint& checkpoint, const Tokenizer& tokenizer) {
  if (const auto json = checkpoint.find("tokenizer.json")) {
    const std::string piece = checkpoint::readJsonFile(
        *json, kMaxTokenizerJsonBytes, "the description of a tokenizer",
        [](const checkpoint::JsonPlace& root) { return finalPieceOf(root.field("post_processor")); });
    return piece.empty() ? -1 : tokenizer.controlId(piece);
  }
  const auto gguf = checkpoint.anyGguf();
  if (!gguf) return -1;
  const checkpoint::GgufMetadata metadata = checkpoint::GgufMetadata::read(*gguf);
  const bool* isAdded = metadata.boolean("tokenizer.ggml.add_eos_token");
  const std::int64_t* end = metadata.integer("tokenizer.ggml.eos_token_id");
  const bool isKnown = end != nullptr && *end >= 0 && *end < tokenizer.vocabularySize();
  return isAdded != nullptr && *isAdded && isKnown ? static_cast<TokenId>(*end) : -1;
}

}  // namespace spanscope::text
