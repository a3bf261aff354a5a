// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/word_counts.h"

#include <new>

namespace spanscope::retrieve {
namespace {

constexpr int kAllColumns = -1;

/// Called by SQLite, through which no exception may pass.
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

}  // namespace spanscope::retrieve
