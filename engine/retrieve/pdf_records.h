// SPDX-License-Identifier: GPL-3.0-or-later
// What the program that reads PDFs (pdf_program.cpp) writes to its standard output: records. Each is a kind
// (one byte), a size (four bytes, the lowest first) and that many bytes. A program that dies early writes no
// End.
#pragma once

#include <cstddef>
#include <cstdint>

namespace spanscope::retrieve {

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

}  // namespace spanscope::retrieve
