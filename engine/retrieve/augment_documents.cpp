// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/augment_documents.h"

#include "engine/base/utf8.h"
#include "engine/retrieve/document_text.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace spanscope::retrieve {
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
