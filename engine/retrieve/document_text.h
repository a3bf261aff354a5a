// SPDX-License-Identifier: GPL-3.0-or-later
// From the bytes of a document to the texts in it. Documents come from anyone: whatever the bytes are, the
// result is texts in UTF-8 or an error.
#pragma once

#include "engine/base/error.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::retrieve {

enum class DocumentFormat { PlainText, Markdown, JsonLines, Csv, Pdf };

/// Most bytes of a document, and of all the text in one.
inline constexpr std::size_t kMaxDocumentBytes = std::size_t{64} << 20U;
/// Most passages of a document.
inline constexpr std::size_t kMaxPassages = 1'000'000;

/// The format that the extension of the name says (.md, .markdown, .jsonl, .ndjson, .csv, .pdf in any case);
/// a document that begins as PDF does is one under any name, and everything else is plain text.
DocumentFormat formatOf(std::string_view name, std::string_view bytes);

/// "plain text", "Markdown", …
const char* formatName(DocumentFormat format);

/// A part of a document that no fragment goes beyond.
struct Passage {
  std::string text;
  std::size_t number = 1;  ///< of the section, line, record or page in the document, from 1
};

/// A document as passages, none of them blank, in their order. A fragment never spans two passages:
///  - plain text is one passage;
///  - Markdown has one a section: a heading written with # and what follows it up to the next one;
///  - JSON lines have one a line: the string at "text", else at "content" of an object, else all strings of
///    the line but keys, joined by line ends;
///  - CSV (RFC 4180) has one a record: its fields that are not empty, joined by ", ";
///  - PDF has one a page.
/// What is not UTF-8 is replaced by U+FFFD. The error has `name` as its file.
std::variant<std::vector<Passage>, Error> readPassages(const std::string& name, DocumentFormat format,
                                                       std::string_view bytes);

/// Where a passage stands: "section 2", "line 7", "record 3", "page 12"; empty for plain text.
std::string passagePlace(DocumentFormat format, std::size_t number);

}  // namespace spanscope::retrieve
