// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::retrieve {

/// Most pages of a PDF.
inline constexpr int kMaxPdfPages = 20'000;

/// The text of each page, in reading order; empty for a page without any. An error is what is no PDF, one
/// that wants a password, one of more than kMaxPdfPages pages or kMaxDocumentBytes of text. `bytes` are at
/// most kMaxDocumentBytes.
std::variant<std::vector<std::string>, Error> readPdf(std::string_view bytes);

}  // namespace spanscope::retrieve
