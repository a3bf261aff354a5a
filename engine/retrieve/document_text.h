// SPDX-License-Identifier: GPL-3.0-or-later
// Extracts the texts from the bytes of a document. Documents can come from unknown sources. The result is
// texts in UTF-8 or an error, for any bytes. Also reads CSV files into records. Open this file to add a
// format, or when a CSV file is split wrongly.
#pragma once

#include "engine/base/error.h"

#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::retrieve {

enum class DocumentFormat { PlainText, Markdown, JsonLines, Csv, Pdf };

/// Max number of bytes of a document, and of all text in it.
inline constexpr std::size_t kMaxDocumentBytes = std::size_t{64} << 20U;
/// Max number of units in a document.
inline constexpr std::size_t kMaxDocumentUnits = 1'000'000;

/// Returns the format by the extension of the name (.md, .markdown, .jsonl, .ndjson, .csv, .tsv, .pdf, in any
/// case). A document that begins like a PDF is a PDF under any name. Everything else is plain text.
DocumentFormat formatOf(std::string_view name, std::string_view bytes);

/// Returns "plain text", "Markdown", …
const char* formatName(DocumentFormat format);

/// A unit of a document: a section, a line, a record or a page. No passage extends beyond its unit.
struct DocumentUnit {
  std::string text;
  std::size_t number = 1;  ///< in the document, from 1
};

struct DocumentText {
  std::vector<DocumentUnit> units;  ///< in order; each has visible text
  /// Numbers of the pages of a PDF without text, in order. A scanned page is a picture.
  std::vector<std::size_t> pagesWithoutText;
  /// Pages of a PDF that may have text, but whose text cannot be read.
  std::vector<std::size_t> damagedPages;
};

/// Returns the units of a document. A passage never spans two units. UTF-16 and UTF-32 are recognized as in
/// utf8OfWide(). Other bytes that are not UTF-8 become U+FFFD. A PDF without any text is an error. The error
/// has `name` as its file.
/// - Plain text is one unit.
/// - Markdown has one unit per section: a heading with # and everything up to the next heading.
/// - JSON lines have one unit per line. The unit is the string at "text" of an object, or else the string at
///   "content". Otherwise the unit is all strings of the line except keys, in order, joined by line ends. NaN
///   and infinities, which Python writes, count as null.
/// - CSV has one unit per record (csv_records.h): the non-empty fields of the record, joined by ", ".
/// - PDF has one unit per page. Reading a PDF can take minutes. When reading is stopped, it ends with an
///   error.
std::variant<DocumentText, Error> readUnits(const std::string& name, DocumentFormat format,
                                            std::string_view bytes, const std::stop_token& stop = {});

/// Returns the pages with these numbers, in ascending order: "page 3", "pages 3, 5–8".
std::string pagesText(const std::vector<std::size_t>& pages);

/// Returns the place of a unit: "section 2", "line 7", "record 3", "page 12". Empty for plain text.
std::string unitPlace(DocumentFormat format, std::size_t number);

using CsvRecord = std::vector<std::string>;

/// Reads records of fields (RFC 4180). Line ends (CR LF, or only LF) separate records. Rules:
/// - A comma, a semicolon or a tab separates fields. The separator is the character with the largest min
///   count in the first records, or else the comma.
/// - A field may be in double quotes, with "" for a quote. In a field without quotes, a quote is an ordinary
///   character.
/// - Records may have different numbers of fields. An empty line is no record.
///
/// Errors have the line as their place. These are errors:
/// - text after a quoted field;
/// - a quoted field without an end;
/// - more than `maxRecords` records.
std::variant<std::vector<CsvRecord>, Error> readCsv(std::string_view text, std::size_t maxRecords);

}  // namespace spanscope::retrieve
