// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/document_text.h"

#include "engine/base/ascii.h"
#include "engine/base/counted.h"
#include "engine/base/utf8.h"
#include "engine/query/diagnostic.h"
#include "engine/query/shown_text.h"
#include "engine/retrieve/pdf_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

namespace spanscope::retrieve {

namespace {

using Json = nlohmann::ordered_json;
using DocumentUnits = std::vector<DocumentUnit>;
using Result = std::variant<DocumentText, Error>;

constexpr std::string_view kBlank = " \t\r\n\f\v";
constexpr std::string_view kPdfBegin = "%PDF-";

bool isBlank(std::string_view text) {
  return text.find_first_not_of(kBlank) == std::string_view::npos;
}

/// Removes the first line from `rest`, and returns it without its end.
std::string_view takeLine(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

Error tooManyUnits() {
  return {{}, {}, "more than " + std::to_string(kMaxDocumentUnits) + " sections or lines", "fewer"};
}

/// Whether the line is indented by at most three blanks, as Markdown requires for headings and fences.
std::string_view withoutIndent(std::string_view line) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  return indent <= 3 ? line.substr(indent) : std::string_view();
}

bool isHeading(std::string_view line) {
  const std::string_view text = withoutIndent(line);
  const std::size_t level = std::min(text.find_first_not_of('#'), text.size());
  return level >= 1 && level <= 6 && (level == text.size() || text[level] == ' ' || text[level] == '\t');
}

/// Returns the run of ` or ~ that opens or closes a fenced block; empty if there is none.
std::string_view fenceOf(std::string_view line) {
  const std::string_view text = withoutIndent(line);
  if (text.empty() || (text[0] != '`' && text[0] != '~')) return {};
  const std::string_view fence = text.substr(0, text.find_first_not_of(text[0]));
  return fence.size() >= 3 ? fence : std::string_view();
}

Result markdownSections(std::string_view text) {
  DocumentText document;
  DocumentUnits& units = document.units;
  std::string_view rest = text;
  std::string_view openFence;
  std::size_t begin = 0;
  const auto close = [&](std::size_t end) {
    const std::string_view section = text.substr(begin, end - begin);
    if (!isBlank(section)) units.push_back({std::string(section), units.size() + 1});
    begin = end;
  };
  while (!rest.empty()) {
    const std::size_t lineBegin = text.size() - rest.size();
    const std::string_view line = takeLine(rest);
    const std::string_view fence = fenceOf(line);
    if (openFence.empty()) {
      openFence = fence;
      if (isHeading(line)) close(lineBegin);
    } else if (fence.size() >= openFence.size() && fence[0] == openFence[0]) {
      openFence = {};
    }
    if (units.size() > kMaxDocumentUnits) return tooManyUnits();
  }
  close(text.size());
  return document;
}

/// Appends all strings of a value except keys, in order. Uses a list instead of recursion, because lines may
/// be nested without limit.
std::string stringsOf(const Json& value) {
  std::string text;
  std::vector<const Json*> open = {&value};
  while (!open.empty()) {
    const Json& next = *open.back();
    open.pop_back();
    if (next.is_string()) {
      const auto& string = next.get_ref<const std::string&>();
      if (isBlank(string)) continue;
      if (!text.empty()) text += '\n';
      text += string;
    } else if (next.is_structured()) {
      const auto first = static_cast<std::ptrdiff_t>(open.size());
      for (const Json& child : next) open.push_back(&child);
      std::reverse(open.begin() + first, open.end());
    }
  }
  return text;
}

std::string textOfLine(const Json& value) {
  for (const char* key : {"text", "content"}) {
    if (!value.is_object()) break;
    const auto found = value.find(key);
    if (found != value.end() && found->is_string()) return found->get<std::string>();
  }
  return stringsOf(value);
}

/// Whether a word in place of a value is a number that JSON does not have: NaN, an infinity, or a number that
/// is too large.
bool isNoNumber(std::string_view word) {
  if (!word.empty() && (word.front() == '-' || word.front() == '+')) word.remove_prefix(1);
  const std::string lower = inSmallLetters(word);
  if (lower == "nan" || lower == "inf" || lower == "infinity") return true;
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc::result_out_of_range && end == word.data() + word.size();
}

/// Returns the line as JSON, if the line has a usual fault of programs. Each NaN, infinity and number that is
/// too large becomes null. Each unpaired surrogate becomes U+FFFD.
std::string asJson(std::string_view line) {
  constexpr std::size_t kEscape = 6;
  std::string text;
  bool isInString = false;
  while (!line.empty()) {
    std::size_t length = 1;
    if (isInString) {
      if (line.front() == '"') isInString = false;
      if (line.front() == '\\') length = std::min<std::size_t>(2, line.size());
      const std::optional<char32_t> unit = escapedUnit(line);
      if (unit && *unit >= 0xD800 && *unit <= 0xDFFF) {
        const std::optional<char32_t> next = escapedUnit(line.substr(kEscape));
        const bool isPair = *unit <= 0xDBFF && next && *next >= 0xDC00 && *next <= 0xDFFF;
        length = isPair ? 2 * kEscape : kEscape;
        if (!isPair) {
          text += "\\ufffd";
          line.remove_prefix(length);
          continue;
        }
      }
    } else {
      isInString = line.front() == '"';
      const std::size_t end = std::min(line.find_first_of("\"[]{},: \t\r\n"), line.size());
      if (end > 0) {
        text += isNoNumber(line.substr(0, end)) ? std::string_view("null") : line.substr(0, end);
        line.remove_prefix(end);
        continue;
      }
    }
    text += line.substr(0, length);
    line.remove_prefix(length);
  }
  return text;
}

Error noJsonLine(std::string_view line, std::size_t number, std::string_view text) {
  Error error{{},
              "line " + std::to_string(number),
              query::inQuotes(line),
              /*id:json-value-ends*/ "a JSON value that ends on its line"};
  if (Json::accept(asJson(text))) {
    error.found = /*id:json-value-over*/ "a JSON value on several lines";
    error.expected = /*id:json-value-each*/ "a JSON value on each line (or the extension .json)";
  }
  return error;
}

Result jsonLines(std::string_view text) {
  DocumentText document;
  const std::optional<std::string> lines = query::withLineFeeds(text);
  if (lines) text = *lines;
  std::string_view rest = text;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    std::string_view line = takeLine(rest);
    if (isBlank(line)) continue;
    // The line may be an element of a list that was split at line ends, with its comma.
    const std::size_t last = line.find_last_not_of(kBlank);
    if (line[last] == ',' && last > 0) line = line.substr(0, last);
    Json value = Json::parse(line, nullptr, false);
    if (value.is_discarded()) value = Json::parse(asJson(line), nullptr, false);
    if (value.is_discarded()) return noJsonLine(line, number, text);
    if (document.units.size() == kMaxDocumentUnits) return tooManyUnits();
    document.units.push_back({textOfLine(value), number});
  }
  return document;
}

Result csvUnits(std::string_view text) {
  const std::optional<std::string> lines = query::withLineFeeds(text);
  if (lines) text = *lines;
  auto read = readCsv(text, kMaxDocumentUnits);
  if (auto* error = std::get_if<Error>(&read)) return std::move(*error);
  DocumentText document;
  for (const CsvRecord& record : std::get<std::vector<CsvRecord>>(read)) {
    std::string unit;
    for (const std::string& field : record) {
      if (isBlank(field)) continue;
      if (!unit.empty()) unit += ", ";
      unit += field;
    }
    document.units.push_back({std::move(unit), document.units.size() + 1});
  }
  return document;
}

/// Whether a PDF contains a picture. PDF files never compress the heads of pictures.
bool holdsPicture(std::string_view pdf) {
  constexpr std::string_view kKind = "/Subtype";
  for (std::size_t at = pdf.find(kKind); at != std::string_view::npos; at = pdf.find(kKind, at)) {
    at += kKind.size();
    const std::size_t value = std::min(pdf.find_first_not_of(kBlank, at), pdf.size());
    if (pdf.substr(value).starts_with("/Image")) return true;
  }
  return false;
}

Result pdfUnits(std::string_view bytes, const std::stop_token& stop) {
  auto read = readPdf(bytes, pdfLimits(bytes.size()), stop);
  if (auto* error = std::get_if<Error>(&read)) return std::move(*error);
  DocumentText document;
  auto& text = std::get<PdfText>(read);
  std::size_t number = 0;
  for (std::string& page : text.pages) {
    ++number;
    const bool isDamaged = std::ranges::binary_search(text.damagedPages, number);
    if (isBlank(page)) (isDamaged ? document.damagedPages : document.pagesWithoutText).push_back(number);
    document.units.push_back({std::move(page), number});
  }
  if (document.damagedPages.size() + document.pagesWithoutText.size() < number) return document;
  const std::string pages = counted(number, "page");
  if (number == 0 || !document.damagedPages.empty()) {
    const bool isDamaged = number > 0 || text.isDamaged;
    return Error{{},
                 {},
                 isDamaged ? "a damaged PDF without readable pages" : "a PDF without pages",
                 isDamaged ? "a complete PDF. Download or export the file again" : "a PDF with text"};
  }
  if (holdsPicture(bytes)) {
    return Error{{},
                 {},
                 pages + " without text (scanned pages are pictures)",
                 "a PDF with text: run text recognition (OCR) first"};
  }
  return Error{{}, {}, pages + " without text and without pictures", "a PDF with text"};
}

Result unitsOfFormat(DocumentFormat format, std::string_view text, const std::stop_token& stop) {
  switch (format) {
    case DocumentFormat::Markdown:
      return markdownSections(text);
    case DocumentFormat::JsonLines:
      return jsonLines(text);
    case DocumentFormat::Csv:
      return csvUnits(text);
    case DocumentFormat::Pdf:
      return pdfUnits(text, stop);
    case DocumentFormat::PlainText:
      break;
  }
  DocumentText document;
  document.units.push_back({std::string(text), 1});
  return document;
}

}  // namespace

DocumentFormat formatOf(std::string_view name, std::string_view bytes) {
  struct Extension {
    std::string_view end;
    DocumentFormat format;
  };
  static constexpr std::array kExtensions = {
      Extension{".md", DocumentFormat::Markdown},     Extension{".markdown", DocumentFormat::Markdown},
      Extension{".jsonl", DocumentFormat::JsonLines}, Extension{".ndjson", DocumentFormat::JsonLines},
      Extension{".csv", DocumentFormat::Csv},         Extension{".tsv", DocumentFormat::Csv},
      Extension{".pdf", DocumentFormat::Pdf}};
  if (bytes.starts_with(kPdfBegin)) return DocumentFormat::Pdf;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return DocumentFormat::PlainText;
  const std::string end = inSmallLetters(name.substr(dot));
  const auto* const found = std::ranges::find(kExtensions, end, &Extension::end);
  return found == kExtensions.end() ? DocumentFormat::PlainText : found->format;
}

const char* formatName(DocumentFormat format) {
  switch (format) {
    case DocumentFormat::Markdown:
      return "Markdown";
    case DocumentFormat::JsonLines:
      return "JSON lines";
    case DocumentFormat::Csv:
      return "CSV";
    case DocumentFormat::Pdf:
      return "PDF";
    case DocumentFormat::PlainText:
      break;
  }
  return "plain text";
}

std::string unitPlace(DocumentFormat format, std::size_t number) {
  switch (format) {
    case DocumentFormat::Markdown:
      return "section " + std::to_string(number);
    case DocumentFormat::JsonLines:
      return "line " + std::to_string(number);
    case DocumentFormat::Csv:
      return "record " + std::to_string(number);
    case DocumentFormat::Pdf:
      return "page " + std::to_string(number);
    case DocumentFormat::PlainText:
      break;
  }
  return {};
}

std::variant<DocumentText, Error> readUnits(const std::string& name, DocumentFormat format,
                                            std::string_view bytes, const std::stop_token& stop) {
  if (bytes.size() > kMaxDocumentBytes) {
    return Error{
        name, {}, std::to_string(bytes.size()) + " bytes", "at most " + std::to_string(kMaxDocumentBytes)};
  }
  std::string valid;
  if (format != DocumentFormat::Pdf) {
    if (auto narrow = utf8OfWide(bytes)) {
      valid = std::move(narrow->text);
      bytes = valid;
    } else if (!isValidUtf8(bytes)) {
      valid = toValidUtf8(bytes);
      bytes = valid;
    }
    bytes = withoutByteOrderMark(bytes);
  }
  Result result = unitsOfFormat(format, bytes, stop);
  if (auto* error = std::get_if<Error>(&result)) {
    if (error->file.empty()) error->file = name;
    return result;
  }
  DocumentUnits& units = std::get<DocumentText>(result).units;
  std::erase_if(units, [](const DocumentUnit& unit) { return isBlank(unit.text); });
  // Texts of poppler and escapes of JSON may contain invalid characters, e.g. a lone surrogate.
  for (DocumentUnit& unit : units) {
    if (!isValidUtf8(unit.text)) unit.text = toValidUtf8(unit.text);
  }
  return result;
}

std::string pagesText(const std::vector<std::size_t>& pages) {
  std::string text = pages.size() == 1 ? "page " : "pages ";
  for (std::size_t first = 0; first < pages.size();) {
    std::size_t last = first;
    while (last + 1 < pages.size() && pages[last + 1] == pages[last] + 1) ++last;
    if (first > 0) text += ", ";
    text += std::to_string(pages[first]);
    if (last > first) text += (last == first + 1 ? ", " : "–") + std::to_string(pages[last]);
    first = last + 1;
  }
  return text;
}

namespace {

/// Returns the min number of separators outside of quotes per record, over the first records. A character
/// that is missing in one record has the count 0.
std::size_t leastSeparators(std::string_view text, char separator) {
  constexpr int kLookedAt = 5;
  std::optional<std::size_t> least;
  std::size_t inRecord = 0;
  bool isQuoted = false;  // the current letter
  bool isBlankSoFar = true;
  int records = 0;
  const auto end = [&] {
    if (!isBlankSoFar) {
      least = std::min(least.value_or(inRecord), inRecord);
      ++records;
    }
    inRecord = 0;
    isBlankSoFar = true;
  };
  bool isFieldBegin = true;
  bool hasQuotes = false;  // around the field
  for (const char letter : text) {
    if (std::exchange(isFieldBegin, false)) hasQuotes = letter == '"';
    if (letter == '"' && hasQuotes) isQuoted = !isQuoted;
    if (isQuoted) {
      isBlankSoFar = false;
    } else if (letter == '\n') {
      end();
      if (records == kLookedAt) break;
      isFieldBegin = true;
    } else if (letter == separator) {
      ++inRecord;
      isFieldBegin = true;
      isBlankSoFar = false;
    } else if (letter != '\r') {
      isBlankSoFar = false;
    }
  }
  if (records < kLookedAt) end();
  return least.value_or(0);
}

char separatorOf(std::string_view text) {
  char best = ',';
  std::size_t most = 0;
  for (const char separator : {',', ';', '\t'}) {
    const std::size_t count = leastSeparators(text, separator);
    if (count <= most) continue;
    best = separator;
    most = count;
  }
  return best;
}

class CsvReader {
 public:
  CsvReader(std::string_view text, std::size_t maxRecords)
      : m_text(text), m_maxRecords(maxRecords), m_separator(separatorOf(text)) {}

  std::variant<std::vector<CsvRecord>, Error> read() {
    while (m_at < m_text.size()) {
      if (skipLineEnd()) continue;
      if (m_records.size() == m_maxRecords) {
        return problem("a further record", "at most " + std::to_string(m_maxRecords));
      }
      if (auto error = readRecord()) return std::move(*error);
    }
    return std::move(m_records);
  }

 private:
  Error problem(std::string found, std::string expected) const {
    return {{}, "line " + std::to_string(m_line), std::move(found), std::move(expected)};
  }

  std::size_t lineEndLength() const {
    if (m_text[m_at] == '\n') return 1;
    return m_text.substr(m_at, 2) == "\r\n" ? 2 : 0;
  }

  bool skipLineEnd() {
    const std::size_t length = lineEndLength();
    m_at += length;
    if (length > 0) ++m_line;
    return length > 0;
  }

  std::optional<Error> readRecord() {
    CsvRecord record;
    for (;;) {
      std::string field;
      const bool isQuoted = m_at < m_text.size() && m_text[m_at] == '"';
      if (!isQuoted) {
        readPlain(field);
      } else if (auto error = readQuoted(field)) {
        return error;
      }
      record.push_back(std::move(field));
      if (m_at == m_text.size() || skipLineEnd()) break;
      if (m_text[m_at] != m_separator) {
        return problem(/*id:text-after-quoted*/ "text after a quoted field",
                       std::string(m_separator == ','   ? "a comma"
                                   : m_separator == ';' ? "a semicolon"
                                                        : "a tab") +
                           " or the end of the line");
      }
      ++m_at;
    }
    m_records.push_back(std::move(record));
    return std::nullopt;
  }

  void readPlain(std::string& field) {
    const std::size_t begin = m_at;
    while (m_at < m_text.size() && m_text[m_at] != m_separator && lineEndLength() == 0) ++m_at;
    field = m_text.substr(begin, m_at - begin);
  }

  std::optional<Error> readQuoted(std::string& field) {
    const Error unended =
        problem(/*id:quoted-field-without*/ "a quoted field without an end", "a closing quote");
    for (++m_at; m_at < m_text.size(); ++m_at) {
      if (m_text[m_at] == '"') {
        ++m_at;
        if (m_at == m_text.size() || m_text[m_at] != '"') return std::nullopt;
      }
      if (m_text[m_at] == '\n') ++m_line;
      field += m_text[m_at];
    }
    return unended;
  }

  std::string_view m_text;
  std::size_t m_maxRecords;
  char m_separator;
  std::size_t m_at = 0;
  std::size_t m_line = 1;
  std::vector<CsvRecord> m_records;
};

}  // namespace

std::variant<std::vector<CsvRecord>, Error> readCsv(std::string_view text, std::size_t maxRecords) {
  return CsvReader(text, maxRecords).read();
}

}  // namespace spanscope::retrieve
