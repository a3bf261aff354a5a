// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::retrieve {

// What the program that reads PDFs (pdf_program.cpp) writes to its standard output: records. Each is a kind
// (one byte), a size (four bytes, the lowest first) and that many bytes. A program that dies early writes no
// End.

enum class PdfRecord : std::uint8_t {
  Page = 'p',      ///< the text of the next page in UTF-8
  Damaged = 'd',   ///< empty; the next page, or all pages, cannot be read as the file says
  Found = 'f',     ///< why there are no (further) pages: Error::found
  Expected = 'x',  ///< Error::expected; follows Found
  End = 'e'        ///< empty; the last record
};

inline constexpr std::size_t kPdfRecordHead = 5;

/// Most pages in a PDF.
inline constexpr int kMaxPdfPages = 20'000;

/// What a PDF may need to be read.
struct PdfLimits {
  std::size_t memory = std::size_t{1} << 30U;  ///< bytes
  std::chrono::seconds processor{10};          ///< of processor time
};

/// 1 GiB; 10 s, and 1 s more for each 64 KiB, at most 300 s.
PdfLimits pdfLimits(std::size_t bytes);

struct PdfText {
  std::vector<std::string> pages;         ///< empty for a page without text
  std::vector<std::size_t> damagedPages;  ///< from 1, in order: pages without text that cannot be read
  bool isDamaged = false;                 ///< no pages were found where the file says that there are some
};

/// The text of each page, in reading order and in UTF-8. Ligatures (U+FB00 …
/// U+FB06) become their letters and soft hyphens go, so that words can be found. It is an error if the bytes
/// are no PDF, if the PDF needs a password, has more than kMaxPdfPages pages or more than kMaxDocumentBytes
/// of text, or needs more than the limits. `bytes` must be at most kMaxDocumentBytes.
///
/// Another program does the reading (pdf_program.cpp), so that no PDF can end or block this one. It is an
/// error if it cannot be started. A stop ends it at once, with an error.
std::variant<PdfText, Error> readPdf(std::string_view bytes, const PdfLimits& limits,
                                     const std::stop_token& stop = {});

/// The text of a page with letters for ligatures and without soft hyphens. A word that a soft hyphen divides
/// at the end of a line is joined.
std::string withPlainLetters(std::string_view text);

}  // namespace spanscope::retrieve
