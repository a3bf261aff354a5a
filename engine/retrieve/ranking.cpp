// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/ranking.h"

#include "engine/base/ascii.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <new>
#include <set>
#include <utility>

namespace spanscope::retrieve {

namespace {

/// The constant of the paper. According to the paper, the value of the constant matters little.
constexpr double kFusionConstant = 60;

constexpr std::array<std::pair<Ranking, const char*>, 3> kNames = {
    {{Ranking::Lexical, "lexical"}, {Ranking::Embedding, "embedding"}, {Ranking::Hybrid, "hybrid"}}};

}  // namespace

const char* rankingName(Ranking ranking) {
  const auto* const found =
      std::ranges::find_if(kNames, [&](const auto& known) { return known.first == ranking; });
  return found->second;
}

std::optional<Ranking> parseRanking(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(kNames, [&](const auto& known) { return known.second == name; });
  return found == kNames.end() ? std::nullopt : std::optional(found->first);
}

std::vector<RankedPassage> fuseRanks(const std::vector<Passage>& lexical,
                                     const std::vector<Passage>& embedding) {
  std::vector<RankedPassage> fused;
  std::map<std::pair<DocumentKey, std::int64_t>, std::size_t> known;
  const auto take = [&](const std::vector<Passage>& list, std::optional<Placing> RankedPassage::*place) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto [at, isNew] = known.try_emplace({list[i].document, list[i].number}, fused.size());
      if (isNew) {
        fused.push_back({.passage = list[i], .lexical = {}, .embedding = {}});
        fused.back().passage.score = 0;
      }
      RankedPassage& ranked = fused[at->second];
      ranked.*place = Placing{.rank = i + 1, .score = list[i].score};
      ranked.passage.score += 1 / (kFusionConstant + static_cast<double>(i + 1));
    }
  };
  take(lexical, &RankedPassage::lexical);
  take(embedding, &RankedPassage::embedding);
  std::ranges::stable_sort(fused, [](const RankedPassage& a, const RankedPassage& b) {
    return a.passage.score > b.passage.score;
  });
  return fused;
}

std::vector<RankedPassage> rankPassages(const PassageIndex& index, std::string_view question,
                                        std::size_t depth, Ranking ranking, const DocumentChoice& documents,
                                        Embedder* embedder, std::stop_token stop) {
  std::vector<Passage> lexical;
  std::vector<Passage> embedding;
  if (ranking != Ranking::Embedding) lexical = index.find(question, depth, documents);
  if (ranking != Ranking::Lexical && embedder != nullptr) {
    const std::vector<EmbeddingVector> vectors =
        embedder->embedQuestion(std::string(question), std::move(stop));
    if (vectors.empty()) return {};
    embedding = index.nearest(vectors.front(), depth, *embedder, documents);
  }
  if (ranking == Ranking::Hybrid) return fuseRanks(lexical, embedding);
  std::vector<RankedPassage> ranked;
  const bool isLexical = ranking == Ranking::Lexical;
  for (Passage& passage : isLexical ? lexical : embedding) {
    const Placing placing{.rank = ranked.size() + 1, .score = passage.score};
    RankedPassage& entry = ranked.emplace_back();
    entry.passage = std::move(passage);
    (isLexical ? entry.lexical : entry.embedding) = placing;
  }
  return ranked;
}

namespace {

constexpr double kSaturation = 1.2;    ///< k1
constexpr double kLengthShare = 0.75;  ///< b
/// The min weight of a word. A word that is in more than half of the passages then still counts a little.
constexpr double kLeastWeight = 1e-6;

/// Returns the weight of each word of the question, by its number.
std::vector<double> weightsOf(const WordMatches& matches, double passages) {
  std::vector<double> weights;
  for (std::size_t row = 0; row < matches.size(); ++row) {
    for (const WordCount& word : matches.counts(row)) {
      const auto at = static_cast<std::size_t>(word.word);
      if (at >= weights.size()) weights.resize(at + 1, 0.0);
      ++weights[at];
    }
  }
  std::ranges::transform(weights, weights.begin(), [passages](double having) {
    const double weight = std::log((passages - having + 0.5) / (having + 0.5));
    return weight > 0 ? weight : kLeastWeight;
  });
  return weights;
}

}  // namespace

std::vector<double> bm25Scores(const WordMatches& matches, const CollectionSize& collection) {
  const std::vector<double> weights = weightsOf(matches, static_cast<double>(collection.passages));
  const double usualWords = static_cast<double>(collection.words) / static_cast<double>(collection.passages);
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

/// Bytes of words: letters and digits of ASCII, and all bytes beyond ASCII. FTS5's own tokenizer splits such
/// words further.
bool isWordByte(char byte) {
  return isDigit(byte) || isLetter(byte) || static_cast<unsigned char>(byte) >= 0x80U;
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
    const std::string word = inSmallLetters(std::string_view(begin, at));
    if (!seen.insert(word).second) continue;
    if (!expression.empty()) expression += " OR ";
    expression += '"' + word + '"';
  }
  return expression;
}

}  // namespace spanscope::retrieve
