// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/gguf_pre_tokenizer.h"

#include "engine/text/text_pattern.h"

#include <algorithm>
#include <string>

namespace spanscope::text {
namespace {

// Expressions. The names and their rules are those of llama.cpp (src/llama-vocab.cpp). llama.cpp adapts some
// expressions to its own regular-expression engine. This table then has the expression of the models'
// tokenizer.json, because the models were trained with these words.

constexpr std::string_view kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen35 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2WithoutContractions =
    R"([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kMiniCpm5 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kSeedCoder =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kBailing =
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n])"
    R"(|\s+(?!\S)|\s+)";
constexpr std::string_view kExaoneMoe =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr std::string_view kJais2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+)"
    R"(|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S))"
    R"(|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})";

// Words that end where capital letters begin.
constexpr std::string_view kTekken =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kGpt4o =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kYoutuCjk =
    R"([가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+)";
constexpr std::string_view kYoutu =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// Chinese characters are words of their own.
constexpr std::string_view kKimi =
    R"(\p{Han}+)"
    R"(|[^\r\n\p{L}\p{N}]?(?:(?!\p{Han})[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])*(?:(?!\p{Han})[\p{Ll}\p{Lm}\p{Lo}\p{M}])+)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?(?:(?!\p{Han})[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])+(?:(?!\p{Han})[\p{Ll}\p{Lm}\p{Lo}\p{M}])*)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::string_view kDeepSeekLetters =
    R"(\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ)"
    R"(-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ)"
    R"(-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)";
constexpr std::string_view kDeepSeekSymbols = R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)";
constexpr std::string_view kDeepSeekCjk = R"([一-龥ࠀ-一가-퟿]+)";
constexpr std::string_view kDeepSeek3Cjk = R"([一-龥぀-ゟ゠-ヿ]+)";
constexpr std::string_view kDeepSeek3 =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
    R"(| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kSpark =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
    R"(| ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+)";
constexpr std::string_view kAfmoeCjk =
    R"([一-鿿㐀-䶿豈-﫿぀-ゟ゠-ヿ･-ﾟ⼀-⿟เ-๿຀-໿ក-៿က-႟ꩠ-ꩿꧠ-꧿가-힯ᄀ-ᇿ]+)";

constexpr std::string_view kBloom = R"( ?[^(\s|.,!?…。，、।۔،)]+)";
constexpr std::string_view kNumber = R"(\p{N})";
constexpr std::string_view kNumbers = R"(\p{N}+)";
constexpr std::string_view kThreeNumbers = R"(\p{N}{1,3})";
constexpr std::string_view kThreeDigits = "[0-9][0-9][0-9]";
constexpr std::string_view kLineEnd = R"([\r\n])";
constexpr std::string_view kLines = R"([^\n]+|[\n]+)";

using Alphabet = GgufPreTokenizer::Alphabet;

const std::vector<GgufPreTokenizer>& table() {
  static const std::vector<GgufPreTokenizer> kTable = {
      {.names = {"default"}, .expressions = {R"([\p{P}\$\+<=>\^~\|]+)", kGpt2, kNumbers, kThreeDigits}},
      {.names = {"falcon"}, .expressions = {R"([\p{P}\$\+<=>\^~\|`]+)", kGpt2, kThreeDigits}},
      {.names = {"gpt-2", "phi-2", "jina-es", "jina-de", "jina-v1-en", "jina-v2-es", "jina-v2-de",
                 "jina-v2-code", "roberta-bpe", "gigachat", "a.x-4.0", "mellum", "modern-bert", "jais",
                 "exaone4", "trillion", "granite-docling"},
       .expressions = {kGpt2}},
      {.names = {"mpt", "olmo"}, .expressions = {kGpt2}, .normalized = true},
      {.names = {"starcoder", "refact", "smollm", "codeshell", "exaone", "minerva-7b", "mellum2"},
       .expressions = {kNumber, kGpt2}},
      {.names = {"command-r"}, .expressions = {kNumber, kGpt2}, .normalized = true},
      {.names = {"llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2",
                 "jina-v5-nano", "glm4", "glm5"},
       .expressions = {kLlama3},
       .wholeWordsFirst = true},
      {.names = {"dbrx", "smaug-bpe", "chatglm-bpe"}, .expressions = {kLlama3}},
      {.names = {"jais-2"}, .expressions = {kJais2}},
      {.names = {"qwen2", "deepseek-r1-qwen", "f2llmv2", "stablelm2"},
       .expressions = {kQwen2},
       .normalized = true},
      {.names = {"kormo", "megrez", "hunyuan", "solar-open", "grok-2"}, .expressions = {kQwen2}},
      {.names = {"qwen35"}, .expressions = {kQwen35}, .normalized = true},
      {.names = {"ufakzeka"}, .expressions = {kQwen2WithoutContractions}},
      {.names = {"laguna"}, .expressions = {kLines, kQwen2}},
      {.names = {"minicpm5"}, .expressions = {kThreeNumbers, kMiniCpm5}, .wholeWordsFirst = true},
      {.names = {"seed-coder"}, .expressions = {kSeedCoder}},
      {.names = {"bailingmoe", "bailingmoe2", "llada-moe"}, .expressions = {kBailing}},
      {.names = {"exaone-moe"}, .expressions = {kExaoneMoe}},
      {.names = {"deepseek-llm"},
       .expressions = {kLineEnd, kDeepSeekLetters, kDeepSeekSymbols, R"(\s+$)", kDeepSeekCjk, kNumbers}},
      {.names = {"deepseek-coder"},
       .expressions = {kLineEnd, R"(\s?\p{L}+)", R"(\s?\p{P}+)", kDeepSeekCjk, kNumber}},
      {.names = {"deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"},
       .expressions = {kThreeNumbers, kDeepSeek3Cjk, kDeepSeek3}},
      {.names = {"spark2_5"}, .expressions = {kThreeNumbers, kDeepSeek3Cjk, kSpark, kNumber}},
      {.names = {"afmoe"}, .expressions = {kNumbersFromTheRight, kAfmoeCjk, kDeepSeek3}},
      {.names = {"poro-chat", "bloom", "gpt3-finnish"}, .expressions = {kBloom}},
      {.names = {"viking"}, .expressions = {kBloom, kNumber}},
      {.names = {"tekken"}, .expressions = {kTekken}, .wholeWordsFirst = true},
      {.names = {"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"}, .expressions = {kGpt4o}},
      {.names = {"granite-embed-multi-97m"}, .expressions = {kGpt4o}, .wholeWordsFirst = true},
      {.names = {"tiny_aya", "cohere2moe"}, .expressions = {kDigitsBeforeBoundary, kGpt4o}},
      {.names = {"youtu"}, .expressions = {kYoutuCjk, kYoutu}, .wholeWordsFirst = true},
      {.names = {"kimi-k2"}, .expressions = {kKimi}},
      {.names = {"superbpe"}, .expressions = {kNumbers, kDigitGroupBegin}},
      {.names = {"chameleon"},
       .expressions = {"<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", R"(([\t\n]|    |  ))",
                       kNumber, R"([\p{P}!-/:-@\[-`{-~])", kGpt2}},
      {.names = {"gemma4", "granite-embed-multi-311m", "sarvam-moe"},
       .expressions = {kLines},
       .alphabet = Alphabet::SpaceMarks},
  };
  return kTable;
}

}  // namespace

const GgufPreTokenizer* findGgufPreTokenizer(std::string_view name) {
  for (const GgufPreTokenizer& rules : table()) {
    if (std::find(rules.names.begin(), rules.names.end(), name) != rules.names.end()) return &rules;
  }
  return nullptr;
}

std::vector<std::string_view> ggufPreTokenizerNames() {
  std::vector<std::string_view> names;
  for (const GgufPreTokenizer& rules : table())
    names.insert(names.end(), rules.names.begin(), rules.names.end());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::unique_ptr<const PreTokenizer>> stepsOf(const GgufPreTokenizer& rules) {
  std::vector<std::unique_ptr<const PreTokenizer>> steps;
  for (const std::string_view expression : rules.expressions) {
    // The table is checked by a test. The place is for the errors of that test.
    steps.push_back(
        splitPreTokenizer(expressionPattern(std::string(expression), "", std::string(rules.names.front())),
                          SplitBehavior::Isolated, false));
  }
  return steps;
}

}  // namespace spanscope::text
