// SPDX-License-Identifier: GPL-3.0-or-later
// Encoding of texts by tokenizers: the median rate of a processor's core and its quartiles, by tokenizer and
// text. The aim is 10 MB/s for prose, source code and writing without spaces. Texts of one endless word show
// that no text takes time that grows faster than its length. Beside a tokenizer of sentencepiece it times one
// call of the library with the whole text.
//
// bench_tokenizer [rounds] [checkpoint…]; without checkpoints, the bundled model's and those of the tests
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/text/tokenizer.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace spanscope;

namespace {

constexpr std::size_t kBytes = std::size_t{1} << 20U;

struct Sample {
  const char* name;
  std::string text;
};

/// The files below a folder with one of two endings, one after the other.
std::string joinedFiles(const char* folder, std::string_view ending, std::string_view otherEnding) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(SPANSCOPE_SOURCE_DIR) / folder)) {
    const std::string ends = entry.path().extension().string();
    if (ends == ending || ends == otherEnding) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::string text;
  for (const std::filesystem::path& path : paths) {
    if (text.size() >= kBytes) break;
    std::ifstream stream(path, std::ios::binary);
    text.append(std::istreambuf_iterator<char>(stream), {});
  }
  return toValidUtf8(std::string_view(text).substr(0, kBytes));
}

std::string repeated(std::string_view part) {
  std::string text;
  while (text.size() < kBytes) text += part;
  return text;
}

/// Words of one to three characters of Chinese and Japanese, frequent ones more often, in clauses and
/// sentences.
std::string withoutBlanks() {
  std::mt19937_64 random(1);
  std::vector<std::string> words;
  for (int i = 0; i < 4000; ++i) {
    std::string word;
    const bool kana = random() % 3 == 0;
    for (std::size_t length = 1 + random() % 3; length > 0; --length)
      appendUtf8(word, static_cast<char32_t>(kana ? 0x3042 + random() % 80 : 0x4E00 + random() % 3000));
    words.push_back(word);
  }
  std::string text;
  while (text.size() < kBytes) {
    const double place = std::pow(static_cast<double>(random() % 10'000) / 10'000, 3);
    text += words[static_cast<std::size_t>(place * static_cast<double>(words.size()))];
    if (random() % 12 == 0) text += random() % 3 == 0 ? "。" : "、";
  }
  return text;
}

std::string randomBytes() {
  std::mt19937_64 random(1);
  std::string text;
  while (text.size() < kBytes) text += static_cast<char>(static_cast<unsigned char>(random() % 256));
  return text;
}

std::string emoji() {
  std::mt19937_64 random(1);
  std::string text;
  while (text.size() < kBytes) appendUtf8(text, static_cast<char32_t>(0x1F300 + random() % 0x300));
  return text;
}

std::string randomLetters() {
  std::mt19937_64 random(1);
  std::string text;
  while (text.size() < kBytes) text += static_cast<char>('a' + random() % 26);
  return text;
}

/// Of this program, on all cores: what other programs do meanwhile does not count.
double processorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// `count` encodes a text and gives the number of its tokens.
void measure(const std::string& name, const std::function<std::size_t(const std::string&)>& count,
             const Sample& sample, int rounds) {
  std::vector<double> seconds;
  std::size_t tokens = 0;
  try {
    for (int i = 0; i < rounds; ++i) {
      const double begin = processorSeconds();
      tokens = count(sample.text);
      seconds.push_back(processorSeconds() - begin);
    }
  } catch (const Failure& failure) {
    std::printf("%-24.24s %-10s refused: %s\n", name.c_str(), sample.name, failure.error().message().c_str());
    return;
  }
  std::sort(seconds.begin(), seconds.end());
  const double megabytes = static_cast<double>(sample.text.size()) / 1e6;
  const auto rate = [&](double at) {
    return megabytes /
           seconds[static_cast<std::size_t>(std::lround(at * static_cast<double>(seconds.size() - 1)))];
  };
  std::printf("%-24.24s %-10s %8zu tokens  median %7.2f MB/s  (quartiles %.2f … %.2f)\n", name.c_str(),
              sample.name, tokens, rate(0.5), rate(0.75), rate(0.25));
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
  const std::vector<Sample> samples = {{"prose", joinedFiles("resources", ".md", ".md")},
                                       {"code", joinedFiles("engine", ".cpp", ".h")},
                                       {"no blanks", withoutBlanks()},
                                       {"one letter", repeated("a")},
                                       {"letters", randomLetters()},
                                       {"spaces", repeated(" ")},
                                       {"digits", repeated("1234567890")},
                                       {"bytes", randomBytes()},
                                       {"emoji", emoji()}};
  const std::filesystem::path source = SPANSCOPE_SOURCE_DIR;
  std::vector<std::filesystem::path> checkpoints(argv + std::min(argc, 2), argv + argc);
  if (checkpoints.empty()) {
    checkpoints.push_back(source / "resources" / "models" / "spanlet");
    const std::filesystem::path ofTests = source / "tests" / "engine" / "text" / "data" / "tokenizers";
    for (const auto& entry : std::filesystem::directory_iterator(ofTests))
      checkpoints.push_back(entry.path());
    std::sort(checkpoints.begin() + 1, checkpoints.end());
  }
  for (const std::filesystem::path& path : checkpoints) {
    try {
      const auto tokenizer = text::loadTokenizer(path);
      const std::string name = path.filename().string();
      sentencepiece::SentencePieceProcessor library;
      const bool hasLibrary = std::filesystem::exists(path / "tokenizer.model") &&
                              library.Load((path / "tokenizer.model").string()).ok();
      const auto byTokenizer = [&](const std::string& text) { return tokenizer->count(text); };
      const auto byLibrary = [&](const std::string& text) { return library.EncodeAsIds(text).size(); };
      for (const Sample& sample : samples) {
        measure(name, byTokenizer, sample, rounds);
        if (hasLibrary) measure(name + ", one call", byLibrary, sample, rounds);
      }
    } catch (const Failure& failure) {
      std::printf("%s: %s\n", path.c_str(), failure.error().message().c_str());
    }
  }
  return 0;
}
