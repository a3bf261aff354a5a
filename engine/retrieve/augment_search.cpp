// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/augment_search.h"

#include "engine/base/utf8.h"
#include "engine/retrieve/document_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace spanscope::retrieve {

namespace {

Ranking rankingFor(const std::string& model, const RetrievalOptions& options, const RetrievalTools& tools) {
  if (options.ranking) return *options.ranking;
  const bool isNamed = tools.isEmbedder && tools.isEmbedder(model);
  return isNamed ? Ranking::Embedding : Ranking::Lexical;
}

/// The documents that could be read, and their names for the user. Equal documents have the name of the first
/// one.
struct Indexed {
  std::vector<DocumentKey> keys;
  std::map<DocumentKey, std::string> names;
};

/// Nothing after a stop.
std::optional<Indexed> indexDocuments(AugmentDocuments& documents, const RetrievalOptions& options,
                                      const RetrievalTools& tools, SearchRemarks& remarks) {
  IndexOptions indexOptions{.chunk = options.chunk, .summarizer = nullptr};
  if (options.summaries && tools.summarizer) indexOptions.summarizer = &tools.summarizer();
  IndexedDocuments added = tools.index->add(
      documents.count(), [&](std::size_t i) { return documents.read(i); }, *tools.tokenizer, indexOptions,
      tools.watch);
  if (added.keys.size() < documents.count()) return std::nullopt;
  Indexed indexed;
  for (std::size_t i = 0; i < added.keys.size(); ++i) {
    if (added.keys[i].empty()) continue;
    indexed.names.emplace(added.keys[i], documents.name(i));
    indexed.keys.push_back(std::move(added.keys[i]));
  }
  if (indexed.keys.empty() && !added.skipped.empty()) throw Failure(std::move(added.skipped.front()));
  remarks.skipped = std::move(added.skipped);
  remarks.unread = std::move(added.unread);
  return indexed;
}

/// Pinned chunks come first, in the order of the pins. Then the best chunks that were not dropped follow, up
/// to the wanted number. Then the others follow, by rank.
std::vector<FoundFragment> choose(std::vector<RankedFragment> ranked, const FragmentChoice& choice,
                                  std::size_t wanted, const FragmentIndex& index, const Indexed& indexed,
                                  SearchRemarks& remarks) {
  std::vector<FoundFragment> found;
  std::vector<FoundFragment> others;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    FoundFragment entry;
    entry.ranked = std::move(ranked[i]);
    entry.rank = i + 1;
    entry.isDropped = choice.dropped.contains(entry.ranked.fragment.hash);
    others.push_back(std::move(entry));
  }
  for (const std::string& hash : choice.pinned) {
    const bool isThere = std::any_of(found.begin(), found.end(), [&](const FoundFragment& entry) {
      return entry.ranked.fragment.hash == hash;
    });
    if (isThere) continue;
    const auto at = std::find_if(others.begin(), others.end(), [&](const FoundFragment& entry) {
      return entry.ranked.fragment.hash == hash;
    });
    FoundFragment entry;
    if (at != others.end()) {
      entry = std::move(*at);
      others.erase(at);
    } else if (auto fragment = index.withHash(hash, indexed.keys)) {
      entry.ranked.fragment = std::move(*fragment);
    } else {
      remarks.lostPins.push_back(hash);
      continue;
    }
    entry.isPinned = true;
    entry.isDropped = false;
    entry.isInPrompt = true;
    found.push_back(std::move(entry));
  }
  const auto take = [&](bool inPrompt) {
    for (FoundFragment& entry : others) {
      const bool isWanted = !entry.isDropped && found.size() < wanted;
      if (entry.rank == 0 || isWanted != inPrompt) continue;
      entry.isInPrompt = inPrompt;
      found.push_back(std::exchange(entry, {}));
    }
  };
  take(true);
  take(false);
  return found;
}

}  // namespace

std::optional<Retrieved> searchAugment(const std::string& model, std::string question,
                                       AugmentDocuments& documents, const FragmentChoice& choice,
                                       const RetrievalOptions& options, const RetrievalTools& tools,
                                       SearchRemarks& remarks) {
  Retrieved result;
  result.question = std::move(question);
  result.ranking = rankingFor(model, options, tools);
  const std::optional<Indexed> indexed = indexDocuments(documents, options, tools, remarks);
  if (!indexed) return std::nullopt;
  result.documents = indexed->keys.size();
  Embedder* embedder = nullptr;
  if (result.ranking != Ranking::Lexical) {
    if (!tools.embedder) {
      throw Failure({{},
                     "ranking",
                     std::string("\"") + rankingName(result.ranking) + "\" without a model that embeds",
                     "\"lexical\""});
    }
    embedder = &tools.embedder();
    if (!tools.index->embed(indexed->keys, *embedder, tools.watch)) return std::nullopt;
  }
  const auto wanted = static_cast<std::size_t>(options.fragments);
  // Each ranking is only as long as the number of wanted chunks. Longer rankings would favour chunks that are
  // mediocre in both.
  const std::size_t depth =
      wanted + choice.dropped.size() + (result.ranking == Ranking::Hybrid ? 0 : kRunnersUp);
  std::vector<RankedFragment> ranked = rankFragments(*tools.index, result.question, depth, result.ranking,
                                                     indexed->keys, embedder, tools.watch.stop);
  if (tools.watch.stop.stop_requested()) return std::nullopt;
  result.fragments = choose(std::move(ranked), choice, wanted, *tools.index, *indexed, remarks);
  for (FoundFragment& entry : result.fragments) {
    const auto name = indexed->names.find(entry.ranked.fragment.document);
    if (name != indexed->names.end()) entry.source = name->second;
  }
  return result;
}

namespace {

bool isEmptyText(const query::SourceDocument& document) {
  const auto* text = std::get_if<std::string>(&document.content);
  return text != nullptr && text->empty();
}

std::string bytesOf(const query::SourceDocument& document) {
  if (const auto* text = std::get_if<std::string>(&document.content)) return *text;
  const auto& bytes = std::get<std::vector<std::uint8_t>>(document.content);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::variant<AugmentDocuments, query::NotGiven> AugmentDocuments::of(const query::SourceDocument& document,
                                                                     query::Surroundings* files) {
  AugmentDocuments documents;
  if (!isEmptyText(document) || document.name.empty() || files == nullptr) {
    documents.m_held = &document;
    return documents;
  }
  auto listed = files->listFiles(document.name);
  if (auto* refused = std::get_if<query::NotGiven>(&listed)) return std::move(*refused);
  auto& list = std::get<query::FileList>(listed);
  documents.m_files = files;
  documents.m_paths = std::move(list.paths);
  documents.m_leftOut = std::move(list.leftOut);
  return documents;
}

const std::string& AugmentDocuments::name(std::size_t index) const {
  return m_held != nullptr ? m_held->name : m_paths[index];
}

std::variant<SourceDocument, Error> AugmentDocuments::read(std::size_t index) {
  if (m_held != nullptr) {
    SourceDocument held{.name = m_held->name, .bytes = bytesOf(*m_held)};
    noteAltered(held);
    return held;
  }
  const std::string& path = m_paths[index];
  auto given = m_files->readFile(path);
  if (auto* refused = std::get_if<query::NotGiven>(&given))
    return Error{{}, {}, std::move(refused->found), std::move(refused->expected)};
  auto& bytes = std::get<std::string>(given);
  m_bytes += bytes.size();
  if (m_bytes > kMaxAugmentBytes) {
    return Error{path,
                 {},
                 "a file beyond the first " + std::to_string(kMaxAugmentBytes) + " bytes of an augment",
                 "fewer or smaller files"};
  }
  if (formatOf(path, bytes) != DocumentFormat::Pdf) {
    if (auto narrow = utf8OfWide(bytes)) {
      noteHalf(path, *narrow);
      bytes = std::move(narrow->text);
    }
    const std::size_t zero = bytes.find('\0');
    if (zero != std::string::npos) {
      const char* const kind = kindOfBytes(bytes);
      return Error{path, kind == nullptr ? "byte " + std::to_string(zero) : std::string(),
                   kind == nullptr ? "a zero byte, which no text has" : kind,
                   "text, Markdown, JSON lines, CSV or PDF"};
    }
  }
  SourceDocument document{.name = path, .bytes = std::move(bytes)};
  noteAltered(document);
  return document;
}

void AugmentDocuments::noteHalf(const std::string& name, const NarrowText& text) {
  if (!text.firstReplaced) return;
  m_altered.push_back({name, "byte " + std::to_string(*text.firstReplaced),
                       "half of a character in UTF-16 (read as U+FFFD)", "whole characters"});
}

void AugmentDocuments::noteAltered(const SourceDocument& document) {
  if (formatOf(document.name, document.bytes) == DocumentFormat::Pdf) return;
  if (const auto narrow = utf8OfWide(document.bytes)) {
    noteHalf(document.name, *narrow);
    return;
  }
  const std::size_t at = findInvalidUtf8(document.bytes);
  if (at == std::string::npos) return;
  m_altered.push_back(
      {document.name, "byte " + std::to_string(at), "bytes that are no UTF-8 (read as U+FFFD)", "UTF-8"});
}

}  // namespace spanscope::retrieve
