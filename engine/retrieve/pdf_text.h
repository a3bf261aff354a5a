// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::retrieve {

/// Most pages in a PDF.
inline constexpr int kMaxPdfPages = 20'000;

/// The text of each page, in reading order; empty for a page without text. It is an error if the bytes are no
/// PDF, if the PDF needs a password, or if it has more than kMaxPdfPages pages or more than kMaxDocumentBytes
/// of text. `bytes` must be at most kMaxDocumentBytes.
std::variant<std::vector<std::string>, Error> readPdf(std::string_view bytes);

}  // namespace spanscope::retrieve
