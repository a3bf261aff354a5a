// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/bm25.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <set>

namespace spanscope::retrieve {

namespace {

constexpr double kSaturation = 1.2;    ///< k1
constexpr double kLengthShare = 0.75;  ///< b
/// The min weight of a word. A word that is in more than half of the chunks then still counts a little.
constexpr double kLeastWeight = 1e-6;

/// Returns the weight of each word of the question, by its number.
std::vector<double> weightsOf(const WordMatches& matches, double fragments) {
  std::vector<double> weights;
  for (std::size_t row = 0; row < matches.size(); ++row) {
    for (const WordCount& word : matches.counts(row)) {
      const auto at = static_cast<std::size_t>(word.word);
      if (at >= weights.size()) weights.resize(at + 1, 0.0);
      ++weights[at];
    }
  }
  std::transform(weights.begin(), weights.end(), weights.begin(), [fragments](double having) {
    const double weight = std::log((fragments - having + 0.5) / (having + 0.5));
    return weight > 0 ? weight : kLeastWeight;
  });
  return weights;
}

}  // namespace

std::vector<double> bm25Scores(const WordMatches& matches, const CollectionSize& collection) {
  const std::vector<double> weights = weightsOf(matches, static_cast<double>(collection.fragments));
  const double usualWords = static_cast<double>(collection.words) / static_cast<double>(collection.fragments);
  std::vector<double> scores;
  scores.reserve(matches.size());
  for (std::size_t row = 0; row < matches.size(); ++row) {
    const double length =
        1 - kLengthShare + kLengthShare * static_cast<double>(matches.words(row)) / usualWords;
    double score = 0;
    for (const WordCount& word : matches.counts(row)) {
      const double count = word.count;
      score += weights[static_cast<std::size_t>(word.word)] *
               ((count * (kSaturation + 1.0)) / (count + kSaturation * length));
    }
    scores.push_back(std::isfinite(score) ? score : 0);
  }
  return scores;
}

namespace {

constexpr int kAllColumns = -1;

/// SQLite calls this function. No exception may pass through SQLite.
void giveWordMatch(const Fts5ExtensionApi* api, Fts5Context* row, sqlite3_context* result, int /*count*/,
                   sqlite3_value** /*arguments*/) noexcept try {
  auto& matches = *static_cast<WordMatches*>(api->xUserData(row));
  int rowWords = 0;
  int code = api->xColumnSize(row, kAllColumns, &rowWords);
  const int words = api->xPhraseCount(row);
  for (int word = 0; code == SQLITE_OK && word < words; ++word) {
    Fts5PhraseIter at{};
    int column = -1;
    int offset = -1;
    WordCount count{.word = word};
    code = api->xPhraseFirst(row, word, &at, &column, &offset);
    for (; code == SQLITE_OK && column >= 0; api->xPhraseNext(row, &at, &column, &offset)) ++count.count;
    if (count.count > 0) matches.addCount(count);
  }
  if (code != SQLITE_OK) return sqlite3_result_error_code(result, code);
  sqlite3_result_int64(result, static_cast<sqlite3_int64>(matches.size()));
  matches.addRow(rowWords);
} catch (const std::bad_alloc&) {
  sqlite3_result_error_nomem(result);
}

void giveAllWords(const Fts5ExtensionApi* api, Fts5Context* row, sqlite3_context* result, int /*count*/,
                  sqlite3_value** /*arguments*/) noexcept {
  sqlite3_int64 words = 0;
  const int code = api->xColumnTotalSize(row, kAllColumns, &words);
  if (code != SQLITE_OK) return sqlite3_result_error_code(result, code);
  sqlite3_result_int64(result, words);
}

}  // namespace

void addWordFunctions(Database& database, WordMatches& matches) {
  fts5_api* api = nullptr;
  Statement statement(database, "SELECT fts5(?1)");
  statement.bindPointer(1, static_cast<void*>(&api), "fts5_api_ptr");
  statement.step();
  if (api == nullptr ||
      api->xCreateFunction(api, "word_match", &matches, giveWordMatch, nullptr) != SQLITE_OK ||
      api->xCreateFunction(api, "all_words", nullptr, giveAllWords, nullptr) != SQLITE_OK)
    database.fail();
}

namespace {

/// Bytes of words: letters and digits of ASCII, and all bytes beyond ASCII. FTS5's own tokenizer splits them
/// further.
bool isWordByte(char byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         static_cast<unsigned char>(byte) >= 0x80U;
}

}  // namespace

std::string matchAnyWord(std::string_view text, std::size_t count) {
  std::string expression;
  std::set<std::string, std::less<>> seen;
  const auto* at = text.begin();
  while (at != text.end() && seen.size() < count) {
    const auto* const begin = std::find_if(at, text.end(), isWordByte);
    at = std::find_if_not(begin, text.end(), isWordByte);
    if (begin == at) continue;
    std::string word(begin, at);
    std::transform(word.begin(), word.end(), word.begin(), [](char letter) {
      return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    });
    if (!seen.insert(word).second) continue;
    if (!expression.empty()) expression += " OR ";
    expression += '"' + word + '"';
  }
  return expression;
}

}  // namespace spanscope::retrieve
