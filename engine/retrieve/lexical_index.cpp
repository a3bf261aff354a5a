// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/lexical_index.h"

#include "engine/base/error.h"
#include "engine/retrieve/document_text.h"
#include "engine/retrieve/question_words.h"
#include "engine/retrieve/sqlite.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <utility>

namespace spanscope::retrieve {
namespace {

/// "Span" in ASCII, by which a file is known as an index.
constexpr std::int64_t kApplicationId = 0x5370616e;
/// Raised with every change of the tables or of what is hashed; other versions are refused.
constexpr std::int64_t kVersion = 1;
/// How long documents are gathered in one transaction: each waits for the disk.
constexpr std::chrono::milliseconds kTransactionTime{200};

/// `words` refers to the texts in `fragments`, so that they are stored once.
constexpr const char* kTables =
    "CREATE TABLE documents(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE);"
    "CREATE TABLE fragments(id INTEGER PRIMARY KEY, document INTEGER NOT NULL REFERENCES documents(id),"
    " number INTEGER NOT NULL, text TEXT NOT NULL);"
    "CREATE VIRTUAL TABLE words USING fts5(text, content='fragments', content_rowid='id',"
    " tokenize='porter unicode61 remove_diacritics 2');";

std::string hexOf(const XXH128_hash_t& hash) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  std::string text;
  for (const unsigned char byte : canonical.digest) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

std::string hashOf(std::string_view bytes) {
  return hexOf(XXH3_128bits(bytes.data(), bytes.size()));
}

/// What the chunks of a text depend on beside it.
std::string settingsText(const text::Tokenizer& tokenizer, const ChunkOptions& options) {
  std::string vocabulary;
  for (std::int32_t id = 0; id < tokenizer.vocabularySize(); ++id) {
    const std::string bytes = tokenizer.bytes(id);
    vocabulary += std::to_string(bytes.size()) + ":" + bytes;
  }
  return std::to_string(options.tokens) + "," + std::to_string(options.overlap) + "," + hashOf(vocabulary);
}

DocumentKey keyOf(const SourceDocument& document, const std::string& settings) {
  return hashOf(settings + "," + formatName(formatOf(document.name, document.bytes)) + "," +
                hashOf(document.bytes));
}

std::vector<std::string> fragmentsOf(const SourceDocument& document, const text::Tokenizer& tokenizer,
                                     const ChunkOptions& options) {
  auto read = readPassages(document.name, formatOf(document.name, document.bytes), document.bytes);
  if (auto* error = std::get_if<Error>(&read)) throw Failure(std::move(*error));
  std::vector<std::string> fragments;
  for (const std::string& passage : std::get<std::vector<std::string>>(read)) {
    for (const Chunk& chunk : chunkPassage(passage, tokenizer, options)) {
      constexpr const char* kBlank = " \t\r\n\f\v";
      const std::size_t begin = chunk.text.find_first_not_of(kBlank);
      if (begin == std::string::npos) continue;
      fragments.push_back(chunk.text.substr(begin, chunk.text.find_last_not_of(kBlank) + 1 - begin));
    }
  }
  return fragments;
}

std::int64_t numberFrom(Database& database, const char* sql) {
  Statement statement(database, sql);
  return statement.step() ? statement.integer(0) : 0;
}

/// Makes the tables of a new file; of another file, sees that it is an index.
void prepare(Database& database, const std::string& file) {
  Transaction transaction(database);
  if (numberFrom(database, "SELECT count(*) FROM sqlite_schema") == 0) {
    database.execute(kTables);
    database.execute(("PRAGMA application_id = " + std::to_string(kApplicationId) +
                      "; PRAGMA user_version = " + std::to_string(kVersion))
                         .c_str());
    transaction.commit();
    return;
  }
  if (numberFrom(database, "PRAGMA application_id") != kApplicationId) {
    throw Failure({file, {}, "a database of something else", "an index of documents, or a new file"});
  }
  const std::int64_t version = numberFrom(database, "PRAGMA user_version");
  if (version != kVersion) {
    throw Failure({file,
                   {},
                   "an index of version " + std::to_string(version),
                   "version " + std::to_string(kVersion) + ": delete it, it is made anew"});
  }
}

}  // namespace

struct LexicalIndex::Parts {
  explicit Parts(const std::string& file) : database(file.empty() ? ":memory:" : file) {
    prepare(database, file);
    hasDocument.emplace(database, "SELECT id FROM documents WHERE key = ?1");
    addDocument.emplace(database, "INSERT INTO documents(key) VALUES(?1)");
    addFragment.emplace(database, "INSERT INTO fragments(document, number, text) VALUES(?1, ?2, ?3)");
    addWords.emplace(database, "INSERT INTO words(rowid, text) VALUES(?1, ?2)");
    // FTS5's bm25 is negative, so that the best comes first; equal ones stay in the order of the documents.
    // Texts are fetched only for the best: a common word is in every fragment.
    findWords.emplace(database,
                      "SELECT documents.key, fragments.number, fragments.text, best.score FROM "
                      "(SELECT words.rowid AS id, bm25(words) AS score FROM words WHERE words MATCH ?1 "
                      "ORDER BY score, id LIMIT ?2) AS best "
                      "JOIN fragments ON fragments.id = best.id "
                      "JOIN documents ON documents.id = fragments.document ORDER BY best.score, best.id");
    findWordsOfDocument.emplace(
        database,
        "SELECT documents.key, fragments.number, fragments.text, bm25(words) AS score "
        "FROM words JOIN fragments ON fragments.id = words.rowid "
        "JOIN documents ON documents.id = fragments.document "
        "WHERE words MATCH ?1 AND documents.key = ?3 ORDER BY score, fragments.id LIMIT ?2");
  }

  bool has(const DocumentKey& key) {
    hasDocument->bind(1, key);
    const bool found = hasDocument->step();
    hasDocument->reset();
    return found;
  }

  void add(const DocumentKey& key, const std::vector<std::string>& fragments) {
    addDocument->bind(1, key);
    addDocument->run();
    const std::int64_t document = database.lastRow();
    for (std::size_t i = 0; i < fragments.size(); ++i) {
      addFragment->bind(1, document);
      addFragment->bind(2, static_cast<std::int64_t>(i));
      addFragment->bind(3, fragments[i]);
      addFragment->run();
      addWords->bind(1, database.lastRow());
      addWords->bind(2, fragments[i]);
      addWords->run();
    }
  }

  Database database;
  std::optional<Statement> hasDocument, addDocument, addFragment, addWords, findWords, findWordsOfDocument;
};

LexicalIndex::LexicalIndex(const std::string& file) : m_parts(std::make_unique<Parts>(file)) {}
LexicalIndex::~LexicalIndex() = default;
LexicalIndex::LexicalIndex(LexicalIndex&&) noexcept = default;
LexicalIndex& LexicalIndex::operator=(LexicalIndex&&) noexcept = default;

IndexedDocuments LexicalIndex::add(const std::vector<SourceDocument>& documents,
                                   const text::Tokenizer& tokenizer, const ChunkOptions& options,
                                   const ProgressCallback& progress) {
  if (auto error = checkChunkOptions(options)) throw Failure(std::move(*error));
  const std::string settings = settingsText(tokenizer, options);
  IndexedDocuments result;
  std::optional<Transaction> transaction;
  std::chrono::steady_clock::time_point opened;
  for (const SourceDocument& document : documents) {
    DocumentKey key = keyOf(document, settings);
    if (!m_parts->has(key)) {
      const std::vector<std::string> fragments = fragmentsOf(document, tokenizer, options);
      if (!transaction) {
        transaction.emplace(m_parts->database);
        opened = std::chrono::steady_clock::now();
      }
      // Another program may have added it before the transaction began.
      if (!m_parts->has(key)) {
        m_parts->add(key, fragments);
        ++result.added;
      }
    }
    result.keys.push_back(std::move(key));
    if (transaction && std::chrono::steady_clock::now() - opened > kTransactionTime) {
      transaction->commit();
      transaction.reset();
    }
    const IndexProgress now = {.done = result.keys.size(), .total = documents.size(), .added = result.added};
    if (progress && !progress(now)) break;
  }
  if (transaction) transaction->commit();
  return result;
}

std::vector<Fragment> LexicalIndex::find(std::string_view question, std::size_t count,
                                         const std::optional<DocumentKey>& document) const {
  const std::string expression = matchAnyWord(question, kMaxQuestionWords);
  if (expression.empty()) return {};
  Statement& statement = document ? *m_parts->findWordsOfDocument : *m_parts->findWords;
  statement.reset();
  statement.bind(1, expression);
  if (document) statement.bind(3, *document);
  statement.bind(
      2, static_cast<std::int64_t>(std::min<std::size_t>(count, std::numeric_limits<std::int32_t>::max())));
  std::vector<Fragment> fragments;
  while (statement.step()) {
    fragments.push_back({.document = statement.text(0),
                         .number = statement.integer(1),
                         .text = statement.text(2),
                         .score = -statement.number(3)});
  }
  statement.reset();
  return fragments;
}

std::size_t LexicalIndex::documentCount() const {
  return static_cast<std::size_t>(numberFrom(m_parts->database, "SELECT count(*) FROM documents"));
}

}  // namespace spanscope::retrieve
