// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the text of PDF files in a separate program. Open this file to change limits for PDFs.
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

// The output of the program that reads PDFs (pdf_program.cpp): records. Each record is a kind (one byte), a
// size (four bytes, the lowest first) and that many bytes. A program that dies early writes no End.

enum class PdfRecord : std::uint8_t {
  Page = 'p',      ///< the text of the next page in UTF-8
  Damaged = 'd',   ///< empty; the next page, or all pages, cannot be read as described in the file
  Found = 'f',     ///< the reason why there are no (further) pages: Error::found
  Expected = 'x',  ///< Error::expected; follows Found
  End = 'e'        ///< empty; the last record
};

inline constexpr std::size_t kPdfRecordHead = 5;

/// Max number of pages in a PDF.
inline constexpr int kMaxPdfPages = 20'000;

/// Limits for reading a PDF.
struct PdfLimits {
  std::size_t memory = std::size_t{1} << 30U;  ///< bytes
  std::chrono::seconds processor{10};          ///< of processor time
};

/// Returns 1 GiB and 10 s, with 1 s more for each 64 KiB, at most 300 s.
PdfLimits pdfLimits(std::size_t bytes);

struct PdfText {
  std::vector<std::string> pages;         ///< empty for a page without text
  std::vector<std::size_t> damagedPages;  ///< from 1, in order: pages without text that cannot be read
  bool isDamaged = false;                 ///< the file declares pages, but no pages were found
};

/// Returns the text of each page, in reading order and in UTF-8. Ligatures (U+FB00 … U+FB06) become their
/// letters, and soft hyphens are removed. Searches can then find the words. `bytes` must be at most
/// kMaxDocumentBytes.
///
/// Another program reads the PDF (pdf_program.cpp). No PDF can therefore end or block this program. When
/// reading is stopped, it ends immediately, with an error. Further errors are:
/// - The bytes are no PDF, or the PDF needs a password.
/// - The PDF has more than kMaxPdfPages pages, or more than kMaxDocumentBytes of text.
/// - The PDF exceeds the limits.
/// - The program cannot be started.
std::variant<PdfText, Error> readPdf(std::string_view bytes, const PdfLimits& limits,
                                     const std::stop_token& stop = {});

/// Returns the text of a page with letters for ligatures and without soft hyphens. A word that a soft hyphen
/// divides at the end of a line is joined.
std::string withPlainLetters(std::string_view text);

}  // namespace spanscope::retrieve
