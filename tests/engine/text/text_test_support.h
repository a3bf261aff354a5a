// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QTemporaryDir>
#include <QtGlobal>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::text::test {

inline std::filesystem::path bundledModel() {
  return std::filesystem::path(SPANSCOPE_SOURCE_DIR) / "resources" / "models" / "spanlet";
}

inline std::filesystem::path goldenTokenizers() {
  return std::filesystem::path(SPANSCOPE_GOLDEN_DIR) / "tokenizers";
}

inline void writeFile(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::string readFile(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// The seed of a random test: SPANSCOPE_TEST_SEED, else a fixed one. Printed, so that a failure can be
/// repeated.
inline std::uint64_t testSeed() {
  bool given = false;
  const std::uint64_t fromEnvironment = qEnvironmentVariable("SPANSCOPE_TEST_SEED").toULongLong(&given);
  const std::uint64_t seed = given ? fromEnvironment : 20240917;
  qInfo("SPANSCOPE_TEST_SEED=%llu", static_cast<unsigned long long>(seed));
  return seed;
}

/// Random valid UTF-8 from fragments that are hard for a tokenizer: markers and parts of markers, white
/// space, the character with which sentencepiece writes a space, several scripts, emoji, control characters.
inline std::string randomText(std::mt19937_64& random, std::size_t fragments) {
  static const std::vector<std::string> kFragments = {"<|user|>",
                                                      "<|system|>",
                                                      "<|assistant|>",
                                                      "<|end|>",
                                                      "<s>",
                                                      "</s>",
                                                      "<unk>",
                                                      "<pad>",
                                                      "<0x0A>",
                                                      "<|",
                                                      "|>",
                                                      "|",
                                                      "user",
                                                      " ",
                                                      "  ",
                                                      "\n",
                                                      "\t",
                                                      "\r\n",
                                                      "\xE2\x96\x81",
                                                      "\xE2\x96\x81\xE2\x96\x81",
                                                      "Mira lives in Lisbon.",
                                                      "a",
                                                      "Z",
                                                      "42",
                                                      "é",
                                                      "Ж",
                                                      "日本",
                                                      "ខ្មែរ",
                                                      "😀",
                                                      "👩‍👩‍👧",
                                                      "e\xCC\x81",
                                                      "\x01",
                                                      "\x7F",
                                                      "\xEF\xBB\xBF",
                                                      "\xEF\xBF\xBD",
                                                      std::string("\0", 1),
                                                      "{\"a\": [1]}",
                                                      "'",
                                                      "\"",
                                                      "\\"};
  std::string text;
  std::uniform_int_distribution<std::size_t> pick(0, kFragments.size() - 1);
  for (std::size_t i = 0; i < fragments; ++i) text += kFragments[pick(random)];
  return text;
}

}  // namespace spanscope::text::test
